"""How much the constants matter that were chosen and not measured: each group of them twice as large and half as large.

Run: python bench/constants.py instrument COPY       (a copy of the source tree whose constants are scaled when it runs)
     cargo build --release --manifest-path COPY/Cargo.toml -p linsep --example bench
     python bench/constants.py measure COPY/target/release/examples/bench [--threads 1] > bench/constants.md

A constant is of a group by the stage it stands in. In the copy each use of one is a call that multiplies it by a factor, which
the environment names (LINSEP_SCALE=group:factor), so that one build serves all groups and the count of instructions compares
like with like. What the factor does to a value keeps it what it is: sizes stay whole and positive, shares of one stay shares
(x becomes x² or √x above a quarter), growth stays growth (1 + factor·(x − 1) below 4). Constants in types, patterns and other
constants stay as they are and are listed by `instrument`.

The tasks are those of before_after.py; instructions in user space are counted by `perf stat`, of the whole process.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUPS = ["solve/smooth", "solve/sparse", "solve/margin", "solve/kernel", "separate", "certify", "design", "rest"]
KINDS = {"f64", "usize", "u32", "u64", "i32", "i64"}
DEFINITION = re.compile(r"\s*(?:pub(?:\([^)]*\))? )?const (\w+): (\w+) = ")
SCALED = """//! What bench/constants.py multiplies the constants by.

use std::sync::LazyLock;

static FACTORS: LazyLock<[f64; {count}]> = LazyLock::new(|| {{
    let mut factors = [1.0; {count}];
    if let Ok(text) = std::env::var("LINSEP_SCALE")
        && let Some((group, factor)) = text.split_once(':')
    {{
        factors[group.parse::<usize>().unwrap()] = factor.parse().unwrap();
    }}
    factors
}});

pub(crate) fn f64(group: usize, x: f64) -> f64 {{
    let factor = FACTORS[group];
    match x {{
        x if x >= 0.25 && x < 1.0 => x.powf(factor),
        x if x >= 1.0 && x < 4.0 => 1.0 + factor * (x - 1.0),
        x => factor * x,
    }}
}}
{whole}"""
WHOLE = """
pub(crate) fn {kind}(group: usize, x: {kind}) -> {kind} {{
    ((x as f64 * FACTORS[group]) as {kind}).max(1)
}}
"""


def group_of(parts):
    """The group of a file of the library."""
    if parts[0] in ("design", "linalg", "kernel"):
        return GROUPS.index("design")
    name = "/".join(parts[:2]) if parts[0] == "solve" else parts[0]
    return GROUPS.index(name if name in GROUPS else "rest")


def chosen(lines):
    """Name and kind of the constants of a file whose comment says that they were chosen."""
    found = {}
    for at, line in enumerate(lines):
        definition = DEFINITION.match(line)
        if not definition or definition[2] not in KINDS:
            continue
        first = at
        while first > 0 and lines[first - 1].lstrip().startswith("///"):
            first -= 1
        comment = " ".join(part.strip().removeprefix("///").strip() for part in lines[first:at])
        if re.search(r"[Cc]hosen, not", comment):
            found[definition[1]] = definition[2]
    return found


def scaled(line, name, kind, group):
    """A line whose uses of a constant are scaled, and whether it had one that cannot be."""
    code, slashes, comment = line.partition("//")
    use = rf"(?<![\w:{{])(?<!\w\.){name}(?!\w)"
    if not re.search(use, code):
        return line, False
    fixed = rf"(const |static |use |; {name}\]|<{name}>|{name} =>|\.\.=?{name}\b.*=>)"
    if re.search(fixed, code):
        return line, True
    return re.sub(use, f"crate::scaled::{kind}({group}, {name})", code) + slashes + comment, False


def instrument(copy):
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "target", "*.npy"))
    source = Path(copy) / "crates/linsep/src"
    counts, left = [0] * len(GROUPS), []
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).parts
        lines = path.read_text().split("\n")
        names, group = chosen(lines), group_of(parts)
        end = next((at for at, line in enumerate(lines) if line.startswith("#[cfg(test)]")), len(lines))
        for name, kind in names.items():
            uses = 0
            for at in range(end):
                changed, fixed = scaled(lines[at], name, kind, group)
                uses += changed != lines[at]
                lines[at] = changed
            counts[group] += uses > 0
            if not uses:
                left.append(f"{'/'.join(parts)}: {name}")
        if names:
            path.write_text("\n".join(lines))
    whole = "".join(WHOLE.format(kind=kind) for kind in sorted(KINDS - {"f64"}))
    (source / "scaled.rs").write_text(SCALED.format(count=len(GROUPS), whole=whole))
    library = source / "lib.rs"
    scaled_too = r"#[allow(missing_docs, dead_code)]\nmod scaled;\n\1"
    library.write_text(re.sub(r"(?m)^((?:pub )?mod )", scaled_too, library.read_text(), count=1))
    for group, count in zip(GROUPS, counts):
        print(f"{group}: {count} constants")
    print("left as they are:", *left, sep="\n  ")


def instructions(binary, task, x, y, flags, scale, threads):
    """Instructions in user space of one run."""
    environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
    environment.pop("LINSEP_SCALE", None)
    if scale:
        environment["LINSEP_SCALE"] = scale
    with tempfile.NamedTemporaryFile("r") as counts:
        command = ["perf", "stat", "-x", ",", "-e", "instructions:u", "-o", counts.name, binary, task, x, y, *flags]
        run = subprocess.run(command, input="run\n", capture_output=True, text=True, env=environment, timeout=1800)
        if run.returncode != 0:
            return None
        return next(float(line.split(",")[0]) for line in counts.read().splitlines() if "instructions" in line)


def measure(binary, threads, only):
    from before_after import TASKS
    print("# Constants that were chosen, scaled\n")
    print("Instructions in user space, relative to those of the constants as they are; see constants.py.\n")
    heads = [f"{group} ×{factor}" for group in GROUPS for factor in ("2", "½")]
    print("| task | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
    for name, task, load, flags in TASKS:
        if only not in name:
            continue
        try:
            x, y = load(1.0)
        except Exception as error:  # Data sets that are not there are left out, and said.
            print(f"{name}: {error}", file=sys.stderr)
            continue
        base = instructions(binary, task, x, y, flags, None, threads)
        cells = []
        for group in range(len(GROUPS)):
            for factor in (2, 0.5):
                found = instructions(binary, task, x, y, flags, f"{group}:{factor}", threads)
                cells.append("failed" if found is None else f"{found / base:.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["instrument", "measure"])
    parser.add_argument("path")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.step == "instrument":
        instrument(options.path)
    else:
        measure(options.path, options.threads, options.only)


if __name__ == "__main__":
    main()
