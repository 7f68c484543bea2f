"""How much the constants matter that were chosen: each twice as large and half as large, on tasks that reach it.

Run: python bench/constants.py instrument COPY       (a copy of the source tree whose constants are scaled when it runs)
     cargo build --release --manifest-path COPY/Cargo.toml -p linsep -p linsep-cli --example bench --bin linsep
     python bench/constants.py measure COPY COPY/target/release -o bench/constants.json     (continues where it was ended)
     python bench/constants.py table bench/constants.json > bench/constants.md

A constant takes part if its comment says "Chosen" or names bench/constants.md. In the copy each use of one is a call that
multiplies it by a factor, which the environment names (LINSEP_SCALE=3:2), so that one build serves all of them and the
comparison is of like with like; LINSEP_TOUCHED names a file for the numbers of the constants that a run reaches. What the factor
does to a value keeps it what it is: sizes stay whole and positive, shares of one stay shares (x becomes x² or √x above a
quarter), growth stays growth (1 + factor·(x − 1) below 4). Constants in types, patterns and other constants stay as they are and
are listed by `instrument`.

The tasks are those of before_after.py, by the server, and COMMANDS, by the command. All are run once, to see what they reach and
how long they take; a constant is then measured on the quickest ENOUGH of those that reach it and take long enough to be timed.
What is compared is the processor time of a fit on one thread, the least of some rounds, the variants in turn, so that other
programs on the machine change little.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = {"f64", "usize", "u32", "u64", "i32", "i64"}
DEFINITION = re.compile(r"\s*(?:pub(?:\([^)]*\))? )?const (\w+): (\w+) = ")
SCALED = """//! What bench/constants.py multiplies the constants by.

use std::sync::LazyLock;
use std::sync::atomic::{{AtomicBool, Ordering}};

static TOUCHED: [AtomicBool; {count}] = [const {{ AtomicBool::new(false) }}; {count}];

/// Writes down what was reached, once.
fn touch(index: usize) {{
    if !TOUCHED[index].load(Ordering::Relaxed)
        && !TOUCHED[index].swap(true, Ordering::Relaxed)
        && let Ok(path) = std::env::var("LINSEP_TOUCHED")
    {{
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, format!("{{index}}\\n").as_bytes()).unwrap();
    }}
}}

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
    touch(index);
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
    touch(index);
    ((x as f64 * FACTORS[index]) as {kind}).max(1)
}}
"""
# What is not told from noise: the same build against itself differs by less.
NOISE = 0.05
# Tasks on which a constant is measured.
ENOUGH = 3
# Seconds of processor time below which a task is not timed, unless a constant has no other, and above which none is.
LEAST, MOST = 0.02, 5.0
# Seconds that the rounds of a variant take, where a task is quick; and how many rounds at most.
TOGETHER_LAST, MOST_ROUNDS = 0.3, 15
# Constants whose variants run side by side.
TOGETHER = 6
DATA = ROOT / "examples"
SHARED = "../../shared/data"
# What the tasks of before_after.py do not reach, on tables of every kind; nothing is written.
COMMANDS = [
    *(f"fit {SHARED}/{table} {flags}" for table, flags in (
        ("small/kernlab_spam.csv", "-t type"),
        ("small/kernlab_spam.csv", "-t type --penalty none"),
        ("small/kernlab_spam.csv", "-t type --penalty lasso:0.001"),
        ("small/kernlab_spam.csv", "-t type --penalty elastic-net:0.5:0.001"),
        ("small/kernlab_spam.csv", "-t type -m svm --kernel rbf"),
        ("small/kernlab_spam.csv", "-t type -m svm --loss squared-hinge"),
        ("small/kernlab_spam.csv", "-t type -m perceptron --max-iter 50"),
        ("small/kernlab_spam.csv", "-t type --solver gradient-descent --tol 1e-3"),
        ("small/kernlab_spam.csv", "-t type -m least-squares --solver gradient-descent --tol 1e-3"),
        ("small/kernlab_spam.csv", "-t type -m sigmoid-ls"),
        ("small/kernlab_spam.csv", "-t type --penalty ridge:0.001 --penalty-factors capitalTotal=0"),
        ("small/modeldata_pd_speech.csv", "-t class"),
        ("small/modeldata_pd_speech.csv", "-t class --penalty lasso:0.01"),
        ("small/modeldata_pd_speech.csv", "-t class -m lda --shrinkage auto"),
        ("small/modeldata_pd_speech.csv", "-t class -m least-squares"),
        ("small/keel_wdbc.csv", "-t class --penalty none"),
        ("small/keel_wdbc.csv", "-t class --basis quadratic --penalty lasso:0.01"),
        ("small/mlbench_Sonar.csv", "-t Class -m hard-margin"),
        ("small/mlbench_Sonar.csv", "-t Class -m svm --kernel polynomial --degree 3"),
        ("small/ElemStatLearn_vowel.train.csv", "-t y"),
        ("dense/satellite.csv.zst", "-t classes"),
        ("dense/satellite.csv.zst", "-t classes --penalty lasso:0.001"),
        ("dense/satellite.csv.zst", "-t classes -m svm"),
        ("dense/satellite.csv.zst", "-t classes -m qda"),
        ("dense/satellite.csv.zst", "-t classes -m naive-bayes --family gamma"),
        ("dense/adult_train.csv.zst", "-t income"),
        ("dense/givemecredit.csv.zst", "-t SeriousDlqin2yrs --missing mean"),
        ("sparse/farm_ads.svm.zst", "-t label"),
        ("sparse/farm_ads.svm.zst", "-t label --penalty lasso:0.001"),
        ("sparse/rcv1_small.train.svm.zst", "-t label -m svm --loss squared-hinge"),
        ("sparse/rcv1_small.train.svm.zst", "-t label -m hard-margin"),
        ("sparse/reuters.train.svm.zst", "-t label -m naive-bayes --family multinomial"),
    )),
    *(f"separable {SHARED}/{table} {flags}" for table, flags in (
        ("small/keel_wdbc.csv", "-t class"), ("small/banknote.csv", "-t class"), ("small/mlbench_Sonar.csv", "-t Class"),
        ("small/mlbench_Ionosphere.csv", "-t Class"), ("small/modeldata_pd_speech.csv", "-t class"),
        ("small/kernlab_spam.csv", "-t type"), ("small/ElemStatLearn_vowel.train.csv", "-t y"),
        ("sparse/farm_ads.svm.zst", "-t label"), ("sparse/rcv1_small.train.svm.zst", "-t label"),
    )),
    *(f"path {SHARED}/small/{rest}" for rest in (
        "kernlab_spam.csv -t type --penalty lasso", "kernlab_spam.csv -t type --penalty ridge",
        "modeldata_pd_speech.csv -t class --penalty lasso")),
    *(f"infer {SHARED}/small/{table}" for table in (
        "kernlab_spam.csv -t type", "MASS_birthwt.csv -t low --drop bwt --interval profile", "brglm2_endometrial.csv -t HG --firth")),
    f"resample {SHARED}/small/MASS_Pima.tr.csv -t type --bootstrap 200",
]


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
        if re.search(r"\b[Cc]hosen\b|bench/constants\.md", comment):
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
            constants.append(f"{'/'.join(parts)} {name}")
        if names:
            path.write_text("\n".join(lines))
    whole = "".join(WHOLE.format(kind=kind) for kind in sorted(KINDS - {"f64"}))
    (source / "scaled.rs").write_text(SCALED.format(count=len(constants), whole=whole))
    library = source / "lib.rs"
    scaled_too = r"#[allow(missing_docs, dead_code)]\nmod scaled;\n\1"
    library.write_text(re.sub(r"(?m)^((?:pub )?mod )", scaled_too, library.read_text(), count=1))
    (Path(copy) / "constants.json").write_text(json.dumps({"constants": constants, "left": left}, indent=1))
    print(len(constants), "constants; left as they are:", *left, sep="\n  ")


class Server:
    """A process of the example `bench` whose constants are scaled."""

    def __init__(self, binaries, case, environment):
        task, x, y, flags = case
        self.process = subprocess.Popen(
            [binaries / "examples/bench", task, x, y, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment,
        )
        self.alive = self.process.stdout.readline().strip() == "ready"

    def spent(self):
        """Seconds of processor time of all threads."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def run(self):
        """Seconds of processor time of one fit."""
        before = self.spent()
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            raise OSError("the server ended")
        return self.spent() - before

    def end(self):
        self.process.kill()
        self.process.wait()


class Command:
    """The command whose constants are scaled: a process for each run."""

    def __init__(self, binaries, case, environment):
        self.words, self.environment, self.alive = [binaries / "linsep", *case.split()], environment, True

    def run(self):
        """Seconds of processor time of one process."""
        process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment, cwd=DATA)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, 3):
            raise OSError(f"exit code {process.returncode}")
        return usage.ru_utime + usage.ru_stime

    def end(self):
        pass


def started(kind, binaries, case, scale=None, touched=None):
    environment = dict(os.environ, RAYON_NUM_THREADS="1")
    environment.pop("LINSEP_SCALE", None)
    if scale:
        environment["LINSEP_SCALE"] = scale
    if touched:
        environment["LINSEP_TOUCHED"] = str(touched)
    return kind(binaries, case, environment)


def reached(kind, binaries, case):
    """The constants that a task reaches, and the seconds of processor time that it takes."""
    with tempfile.TemporaryDirectory() as folder:
        touched = Path(folder) / "touched"
        variant = started(kind, binaries, case, touched=touched)
        seconds = variant.run()
        variant.end()
        return seconds, sorted({int(line) for line in touched.read_text().split()}) if touched.exists() else []


def shared_out(reach):
    """For each task the constants that are measured on it: every constant on the quickest tasks that reach it."""
    measured = {name: [] for name in reach}
    for at in {at for _, touched in reach.values() for at in touched}:
        that_reach = sorted((seconds < LEAST, seconds, name) for name, (seconds, touched) in reach.items()
                             if at in touched and seconds < MOST)
        for _, _, name in that_reach[:ENOUGH]:
            measured[name].append(at)
    return {name: sorted(some) for name, some in measured.items()}


def ratios(kind, binaries, case, scales, rounds):
    """Processor time for each scale relative to none; `None` where a run failed."""
    variants = [started(kind, binaries, case, scale) for scale in [None, *scales]]
    best = [float("inf") if variant.alive else None for variant in variants]
    for _ in range(rounds):
        for at, variant in enumerate(variants):
            try:
                best[at] = None if best[at] is None else min(best[at], variant.run())
            except OSError:
                best[at] = None
    for variant in variants:
        variant.end()
    return [None if one is None else round(one / best[0], 3) for one in best[1:]]


def tasks():
    """Name, kind and case of every task whose data are there."""
    from before_after import TASKS
    for name, task, load, flags in TASKS:
        try:
            yield name, Server, (task, *load(1.0), flags)
        except Exception as error:  # Data sets that are not there are left out, and said.
            print(f"{name}: {error}", file=sys.stderr)
    for case in COMMANDS:
        yield case, Command, case


def measure(copy, binaries, rounds, only, out):
    known = json.loads((Path(copy) / "constants.json").read_text())
    names = known["constants"]
    fresh = {"left": known["left"], "constants": names, "reach": {}, "tasks": {}}
    record = json.loads(out.read_text()) if out.exists() else fresh

    def keep():
        out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    some_tasks = {name: (kind, case) for name, kind, case in tasks() if only in name}
    for name, (kind, case) in some_tasks.items():
        if name not in record["reach"]:
            record["reach"][name] = reached(kind, binaries, case)
            keep()
            print(f"{name}: {record['reach'][name][0]:.2f} s, {len(record['reach'][name][1])} constants", file=sys.stderr, flush=True)
    for name, touched in shared_out(record["reach"]).items():
        if name not in some_tasks:
            continue
        kind, case = some_tasks[name]
        enough = min(max(rounds, round(TOGETHER_LAST / (record["reach"][name][0] + 1e-3))), MOST_ROUNDS)
        found = record["tasks"].setdefault(name, {})
        touched = [at for at in touched if names[at] not in found]
        for some in (touched[at : at + TOGETHER] for at in range(0, len(touched), TOGETHER)):
            scales = [f"{at}:{factor}" for at in some for factor in (2, 0.5)]
            pairs = ratios(kind, binaries, case, scales, enough)
            # What looks like a difference is measured once more, alone, before it is believed.
            for at, pair in zip(some, zip(pairs[::2], pairs[1::2])):
                if any(r is None or abs(r - 1) > NOISE for r in pair):
                    again = ratios(kind, binaries, case, [f"{at}:2", f"{at}:0.5"], 2 * enough)
                    pair = [None if a is None or b is None else min(a, b, key=lambda r: abs(r - 1)) for a, b in zip(pair, again)]
                found[names[at]] = list(pair)
            keep()
        print(f"{name}: {len(touched)} constants measured", file=sys.stderr, flush=True)


def said(ratio):
    return "failed" if ratio is None else f"{ratio:.2f}"


def table(record):
    """The record as a page: for each constant the tasks on which it matters, or how many it was seen not to matter on."""
    names = record["constants"]
    reaching = [sum(at in touched for _, touched in record["reach"].values()) for at in range(len(names))]
    print("# Constants that were chosen, each twice and half as large\n")
    print("Processor time of a fit on one thread relative to that of the constants as they are; how it is measured: `constants.py`.")
    print(f"Of {len(record['reach'])} tasks each constant is measured on the {ENOUGH} quickest that reach it. Ratios within {NOISE:.0%} of")
    print("one are noise, and the constant is not listed for that task.\n")
    print("| constant | tasks: reach it | measured | matters on | ×2 | ×½ |\n|---|---|---|---|---|---|")
    for name, count in zip(names, reaching):
        at = {task: found[name] for task, found in record["tasks"].items() if name in found}
        matter = {task: pair for task, pair in at.items() if any(r is None or abs(r - 1) > NOISE for r in pair)}
        for task, (twice, half) in matter.items():
            print(f"| `{name}` | {count} | {len(at)} | {task.replace(f'{SHARED}/', '')} | {said(twice)} | {said(half)} |")
        if not matter:
            print(f"| `{name}` | {count} | {len(at)} | {'none' if count else 'not reached'} | | |")
    print("\nNot scaled, because they stand in types, patterns or other constants:\n")
    print("\n".join(f"- `{name}`" for name in record["left"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["instrument", "measure", "table"])
    parser.add_argument("copy", help="the copy of the tree; for `table` the record")
    parser.add_argument("binaries", nargs="?", type=Path, help="the folder of the binaries of the copy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "bench/constants.json")
    options = parser.parse_args()
    if options.step == "instrument":
        instrument(options.copy)
    elif options.step == "table":
        table(json.loads(Path(options.copy).read_text()))
    else:
        measure(options.copy, options.binaries.resolve(), options.rounds, options.only, options.out)


if __name__ == "__main__":
    main()
