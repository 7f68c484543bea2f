"""The Python package: against scikit-learn, and its cost over the Rust library. Protocol: bench/README.md.

Run: python bench/python.py [--only one-row,import,overhead,proba,proba-two] [--runs 5] [--scale 1] [--force] [--no-build]
     with the package installed (`pip install .`), or PYTHONPATH=python and the extension built beside it.

Interleaved like run.py, by its own code: every contestant is a process that is warm and works once per line `run`; only
imports take a fresh process each time.
- one-row: `predict` of one row of 50 features by logistic regressions of two classes; a run is as many calls as last 0.1 s.
- import: `import linsep` and its `LogisticRegression`, which is looked up late, against `import sklearn.linear_model`; both
  after numpy, whose time does not count.
- overhead: `LogisticRegression().fit` of 200,000 × 100 against the library itself (examples/bench) on the same arrays with the
  same λ and tolerance; the objectives must be equal.
- proba, proba-two: `predict_proba` of 1,000,000 × 50, five classes (two); both sides are given the same coefficients.
"""
import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import data
from contestants import Failed, Fresh, Server
from machine import MAX_OTHER_CPU, OtherCpu, machine, refuse_if_loaded, wait_until_quiet
from run import HERE, OURS, SERVER, build, cell, enter, interleave, summary

TOLERANCE = 1e-8
THEIRS, LIBRARY = "scikit-learn", "the library"
TASKS = {
    "one-row": ("one-row predict, 50 features", data.gaussian_classes, THEIRS),
    "import": ("import, beyond numpy's", None, THEIRS),
    "overhead": ("ridge logistic fit, 200,000 × 100, C=1, to 1e-8: over the library", data.logistic_dense, LIBRARY),
    "proba": ("predict_proba, 1,000,000 × 50, five classes", data.gaussian_classes, THEIRS),
    "proba-two": ("predict_proba, the same rows, two classes", data.gaussian_classes, THEIRS),
}


# ---------------------------------------------------------------- the other side of a contest

def serve(task, who, x, y):
    """A contestant: python bench/python.py serve TASK WHO X.npy y.npy."""
    x, y = np.load(x), np.load(y)
    work = {"one-row": one_row, "overhead": overhead}.get(task, proba)(task, who, x, y)
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() != "run":
            break
        print(json.dumps(work()), flush=True)


def fitted(who, x, y):
    """Logistic regressions with the same coefficients on both sides: scikit-learn's are replaced by ours."""
    import linsep
    model = linsep.LogisticRegression().fit(x, y)
    if who == OURS:
        return model
    from sklearn.linear_model import LogisticRegression
    peer = LogisticRegression(max_iter=5).fit(x, y)
    peer.coef_, peer.intercept_ = model.coef_, model.intercept_
    return peer


def one_row(task, who, x, y):
    model, row = fitted(who, x[:5000], y[:5000] > 1), np.ascontiguousarray(x[:1])
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < 0.1:
        model.predict(row)
        calls += 1

    def work():
        start = time.perf_counter()
        for _ in range(calls):
            found = model.predict(row)
        return {"seconds": (time.perf_counter() - start) / calls, "calls": calls, "check": float(found[0])}
    return work


def overhead(task, who, x, y):
    import linsep

    def work():
        start = time.perf_counter()
        # The relative gap of the command is the square of this.
        model = linsep.LogisticRegression(tol=TOLERANCE**0.5).fit(x, y)
        return {"seconds": time.perf_counter() - start, "objective": model.objective_}
    return work


def proba(task, who, x, y):
    model = fitted(who, x[:20_000], y[:20_000] > 1 if task == "proba-two" else y[:20_000])

    def work():
        start = time.perf_counter()
        found = model.predict_proba(x)
        return {"seconds": time.perf_counter() - start, "check": float((found ** 2).sum() / len(x))}
    return work


IMPORTS = {OURS: "import linsep; linsep.LogisticRegression", THEIRS: "import sklearn.linear_model"}
TIMED_IMPORT = """
import json, numpy, time
start = time.perf_counter()
{}
print(json.dumps({{"seconds": time.perf_counter() - start}}))
"""


# ---------------------------------------------------------------- running

def contestant(task, who, paths, options):
    if task == "import":
        return Fresh(who, [sys.executable, "-c", TIMED_IMPORT.format(IMPORTS[who])], reports=True)
    x, y = paths
    if who == LIBRARY:
        lam = 1.0 / len(np.load(y, mmap_mode="r"))
        argv = [SERVER, "logistic", x, y, "--lambda", repr(lam), "--tol", repr(TOLERANCE)]
    else:
        argv = [sys.executable, Path(__file__), "serve", task, who, x, y]
    return Server(who, argv, options.timeout)


def run_task(task, options):
    title, load, other = TASKS[task]
    paths = load(options.scale) if load else None
    result = {"task": task, "title": title, "scale": options.scale, "other_cpu_before": wait_until_quiet(options.force)}
    contestants, failed = enter([other, OURS], lambda who: contestant(task, who, paths, options), options)
    try:
        watch = OtherCpu([p for c in contestants for p in c.pids()])
        outcomes, more = interleave(contestants, options.runs)
        result["other_cpu_during"] = watch.share()
    finally:
        for c in contestants:
            c.close()
    if failed | more:
        raise Failed(f"{task}: {failed | more}")
    who = {c.name: summary(c, outcomes[c.name]) for c in contestants}
    for entry in who.values():
        for heavy in ("coef", "intercept"):
            entry.pop(heavy, None)
    return result | {"contestants": who} | judged(who[OURS], who[other], other)


def judged(ours, other, name):
    """The ratio, or for the library the share by which the package takes longer; none if the results differ."""
    for key, allowed in (("check", 1e-9), ("objective", 1e-12)):
        if key in ours and key in other and abs(ours[key] - other[key]) > allowed * abs(other[key]):
            return {"notes": [f"NO RATIO, {key} differs: {ours[key]!r} against {other[key]!r}"]}
    ratio = other["min"] / ours["min"]
    return {"ratio": ratio, "notes": []} | ({"overhead": 1 / ratio - 1} if name == LIBRARY else {})


def overview(results):
    lines = ["| task | linsep: min (max/min) | other | its min (max/min) | ratio | remarks |", "|---|---|---|---|---|---|"]
    for r in results:
        other = next(name for name in r["contestants"] if name != OURS)
        remarks = list(r["notes"])
        if r["other_cpu_during"] > MAX_OTHER_CPU:
            remarks.append(f"other programs used {r['other_cpu_during']:.0%} of the CPU meanwhile")
        ratio = f"{r['overhead']:+.1%}" if "overhead" in r else f"{r['ratio']:.1f}" if "ratio" in r else "–"
        lines.append(f"| {r['title']} | {cell(r['contestants'][OURS])} | {other} | {cell(r['contestants'][other])} | {ratio} "
                     f"| {'; '.join(remarks)} |")
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(TASKS), help="tasks, separated by commas")
    parser.add_argument("--runs", type=int, default=5, help="timed rounds (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (default 1; smaller is for smoke tests)")
    parser.add_argument("--json", type=Path, default=HERE / "python-results.json", help="where the results go")
    parser.add_argument("--force", action="store_true", help="run on a busy machine as well")
    parser.add_argument("--no-build", action="store_true", help="use the binary that is there")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run (default 600)")
    options = parser.parse_args()
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(TASKS):
        parser.error(f"no task {', '.join(sorted(unknown))}; there are {', '.join(TASKS)}")
    return options


def main():
    if sys.argv[1:2] == ["serve"]:
        return serve(*sys.argv[2:])
    options = arguments()
    state = refuse_if_loaded(options.force)
    if "overhead" in options.only and not options.no_build:
        build()
    kept = json.loads(options.json.read_text())["tasks"] if options.json.exists() else []
    results = []
    for task in (t for t in TASKS if t in options.only):
        print(f"{task} ...", file=sys.stderr, flush=True)
        results.append(run_task(task, options) | {"runs": options.runs, "forced": options.force, **machine(), **state})
        done = {r["task"]: r for r in kept + results}
        options.json.write_text(json.dumps({"tasks": [done[t] for t in TASKS if t in done]}, indent=1) + "\n")
    print(overview(results))
    if options.runs < 5 or options.scale != 1 or options.force:
        print("\nNOT A MEASUREMENT: fewer than 5 runs, part of the data, or --force.")


if __name__ == "__main__":
    main()
