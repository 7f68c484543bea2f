"""How much the constants matter that were chosen: twice as large and half as large, by group and, where that matters, one by one.

Run: python bench/constants.py instrument COPY       (a copy of the source tree whose constants are scaled when it runs)
     cargo build --release --manifest-path COPY/Cargo.toml -p linsep --example bench
     python bench/constants.py measure COPY COPY/target/release/examples/bench > bench/constants.md

A constant takes part if its comment says "Chosen", and is of a group by the stage it stands in. In the copy each use of one is a
call that multiplies it by a factor, which the environment names (LINSEP_SCALE=3,4,5:2), so that one build serves all of them and
the comparison is of like with like. What the factor does to a value keeps it what it is: sizes stay whole and positive, shares
of one stay shares (x becomes x² or √x above a quarter), growth stays growth (1 + factor·(x − 1) below 4). Constants in types,
patterns and other constants stay as they are and are listed by `instrument`.

The tasks are those of before_after.py. What is compared is the processor time of a fit on one thread, the least of some rounds,
the variants in turn, so that other programs on the machine change little.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
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
        && let Some((which, factor)) = text.split_once(':')
    {{
        which.split(',').for_each(|index| factors[index.parse::<usize>().unwrap()] = factor.parse().unwrap());
    }}
    factors
}});

pub(crate) fn f64(index: usize, x: f64) -> f64 {{
    let factor = FACTORS[index];
    match x {{
        x if x >= 0.25 && x < 1.0 => x.powf(factor),
        x if x >= 1.0 && x < 4.0 => 1.0 + factor * (x - 1.0),
        x => factor * x,
    }}
}}
{whole}"""
WHOLE = """
pub(crate) fn {kind}(index: usize, x: {kind}) -> {kind} {{
    ((x as f64 * FACTORS[index]) as {kind}).max(1)
}}
"""
# What is not told from noise: the same build against itself differs by less.
NOISE = 0.05


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
        if re.search(r"\b[Cc]hosen\b", comment):
            found[definition[1]] = definition[2]
    return found


def scaled(line, name, kind, index):
    """A line whose uses of a constant are scaled."""
    code, slashes, comment = line.partition("//")
    use = rf"(?<![\w:{{])(?<!\w\.){name}(?!\w)"
    fixed = rf"(const |static |use |; {name}\]|<{name}>|{name} =>|\.\.=?{name}\b.*=>)"
    if not re.search(use, code) or re.search(fixed, code):
        return line
    return re.sub(use, f"crate::scaled::{kind}({index}, {name})", code) + slashes + comment


def instrument(copy):
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "target", "*.npy"))
    source = Path(copy) / "crates/linsep/src"
    constants, left = [], []
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).parts
        lines = path.read_text().split("\n")
        names = chosen(lines)
        end = next((at for at, line in enumerate(lines) if line.startswith("#[cfg(test)]")), len(lines))
        for name, kind in names.items():
            changed = [scaled(line, name, kind, len(constants)) for line in lines[:end]]
            if changed == lines[:end]:
                left.append(f"{'/'.join(parts)} {name}")
                continue
            lines[:end] = changed
            constants.append({"name": f"{'/'.join(parts)} {name}", "group": GROUPS[group_of(parts)]})
        if names:
            path.write_text("\n".join(lines))
    whole = "".join(WHOLE.format(kind=kind) for kind in sorted(KINDS - {"f64"}))
    (source / "scaled.rs").write_text(SCALED.format(count=len(constants), whole=whole))
    library = source / "lib.rs"
    scaled_too = r"#[allow(missing_docs, dead_code)]\nmod scaled;\n\1"
    library.write_text(re.sub(r"(?m)^((?:pub )?mod )", scaled_too, library.read_text(), count=1))
    (Path(copy) / "constants.json").write_text(json.dumps({"constants": constants, "left": left}, indent=1))
    print(len(constants), "constants; left as they are:", *left, sep="\n  ")


class Variant:
    """A process whose constants are scaled."""

    def __init__(self, binary, task, x, y, flags, scale):
        environment = dict(os.environ, RAYON_NUM_THREADS="1")
        environment.pop("LINSEP_SCALE", None)
        if scale:
            environment["LINSEP_SCALE"] = scale
        self.process = subprocess.Popen(
            [binary, task, x, y, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=environment,
        )
        self.alive, self.best = self.process.stdout.readline().strip() == "ready", float("inf")

    def spent(self):
        """Seconds of processor time of all threads."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def run(self):
        if not self.alive:
            return
        try:
            before = self.spent()
            self.process.stdin.write("run\n")
            self.process.stdin.flush()
            self.alive = bool(self.process.stdout.readline())
            self.best = min(self.best, self.spent() - before) if self.alive else float("inf")
        except OSError:
            self.alive = False

    def end(self):
        self.process.kill()
        self.process.wait()


def ratios(binary, case, scales, rounds):
    """Processor time for each scale relative to none; `None` where a run failed."""
    variants = [Variant(binary, *case, scale) for scale in [None, *scales]]
    for _ in range(rounds):
        for variant in variants:
            variant.run()
    for variant in variants:
        variant.end()
    return [variant.best / variants[0].best if variant.alive else None for variant in variants[1:]]


def said(ratio):
    return "failed" if ratio is None else f"{ratio:.2f}"


def measure(copy, binary, rounds, only):
    from before_after import TASKS
    known = json.loads((Path(copy) / "constants.json").read_text())
    constants, factors = known["constants"], (2, 0.5)
    groups = {group: [at for at, c in enumerate(constants) if c["group"] == group] for group in GROUPS}
    print("# Constants that were chosen, scaled\n")
    print("Processor time of a fit on one thread relative to that of the constants as they are; see constants.py.")
    print(f"All {len(constants)} at once by group, twice and half as large. Ratios within {NOISE:.0%} of one are noise.\n")
    heads = [f"{group} ({len(groups[group])}) ×{factor}" for group in GROUPS for factor in ("2", "½")]
    print("| task | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
    single = []
    for name, task, load, flags in TASKS:
        if only not in name:
            continue
        try:
            x, y = load(1.0)
        except Exception as error:  # Data sets that are not there are left out, and said.
            print(f"{name}: {error}", file=sys.stderr)
            continue
        case = (task, x, y, flags)
        asked = [(group, factor) for group in GROUPS for factor in factors]
        scales = [",".join(map(str, groups[group])) + f":{factor}" for group, factor in asked]
        found = ratios(binary, case, scales, rounds)
        print(f"| {name} | " + " | ".join(map(said, found)) + " |", flush=True)
        matter = {group for (group, _), r in zip(asked, found) if r is None or abs(r - 1) > 2 * NOISE}
        single += [(name, case, groups[group]) for group in GROUPS if group in matter]
    print("\n## One by one, where a group matters\n\nConstants that change the time by more than noise, alone.\n")
    print("| task | constant | ×2 | ×½ |\n|---|---|---|---|")
    for name, case, members in single:
        for some in (members[at : at + 8] for at in range(0, len(members), 8)):
            found = ratios(binary, case, [f"{at}:{factor}" for at in some for factor in factors], rounds)
            for at, pair in zip(some, zip(found[::2], found[1::2])):
                if any(r is None or abs(r - 1) > NOISE for r in pair):
                    print(f"| {name} | `{constants[at]['name']}` | " + " | ".join(map(said, pair)) + " |", flush=True)
    print("\n## Not scaled\n\nIn types, patterns or other constants:\n")
    print("\n".join(f"- `{name}`" for name in known["left"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["instrument", "measure"])
    parser.add_argument("copy")
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.step == "instrument":
        instrument(options.copy)
    else:
        measure(options.copy, options.binary, options.rounds, options.only)


if __name__ == "__main__":
    main()
