"""How linsep's time grows with the rows: a tenth, three tenths and all of them, at λ and tolerance as they are.

Run: python bench/growth.py [--runs 3]

Rows are drawn as data.py does; sparse tasks count stored entries instead, because new rows bring new columns. Passes are
printed beside the times: a problem that needs more of them is not the work per entry growing.
"""
import argparse
import os
import subprocess
import json
from pathlib import Path

import numpy as np

import data

HERE = Path(__file__).resolve().parent
SERVER = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "release" / "examples" / "bench"
SCALES = (0.1, 0.3, 1.0)
TASKS = [("lda-fit", data.gaussian_classes, []), ("logistic", data.logistic_dense, ["--lambda", "1e-4", "--tol", "1e-6"]),
         ("logistic", data.covtype_binary, ["--lambda", "1e-4", "--tol", "1e-6"]),
         ("softmax", data.mnist, ["--lambda", "1e-4", "--tol", "1e-4"]),
         ("logistic-wide", data.news_unit, ["--lambda", "1e-4", "--tol", "1e-6"]),
         ("sqhinge", data.news_unit, ["--lambda", "1e-4", "--tol", "1e-4"]),
         ("hinge", data.a9a, ["--lambda", "1e-4", "--tol", "1e-6"]), ("lasso", data.a9a, ["--lambda", "1e-3", "--tol", "1e-6"]),
         ("lasso", data.news_unit, ["--lambda", "1e-4", "--tol", "1e-4"])]


def entries(x):
    """Stored entries: rows times columns of a dense matrix, the length of the index of a sparse one."""
    return int(np.prod(np.load(x, mmap_mode="r").shape))


def fastest(task, x, y, flags, runs):
    done = subprocess.run([SERVER, task, x, y, *flags], input="run\n" * (runs + 1), text=True, capture_output=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")][1:]
    return min(line["seconds"] for line in lines), lines[0].get("passes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    print("| task | entries | time | passes |\n|---|---|---|---|")
    for task, load, flags in TASKS:
        try:
            found = [(entries(x), *fastest(task, x, y, flags, runs)) for x, y in map(load, SCALES)]
        except data.Absent as reason:
            print(f"| {task} | SKIPPED: {reason} | | |")
            continue
        size, seconds, _ = found[0]
        show = lambda values: " : ".join(f"{v:.3g}" for v in values)  # noqa: E731
        print(f"| {task}, {load.__name__} | {show(n / size for n, *_ in found)} | {show(t / seconds for _, t, _ in found)} "
              f"| {' : '.join(str(p) for *_, p in found)} |", flush=True)


if __name__ == "__main__":
    main()
