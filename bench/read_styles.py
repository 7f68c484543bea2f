"""CSV as other programs write it: a fit from a file against pandas.read_csv alone, in turn.

Run: python bench/read_styles.py LINSEP [--before OLDER] [--rounds 7]

Three files: covtype as it is; drawn numbers with decimal points; the same with decimal commas between semicolons
(`--decimal ,`). Of covtype all columns are fitted (LDA), of the drawn ones the first, so that reading is most of the work. The times
of linsep are those of the whole process, fit and model file included; pandas' those of reading alone, without its imports. Wall
seconds are for a quiet machine, processor seconds (of all threads) for a busy one. With --before the ratio of an older build to
this one on the plain files: new options must cost nothing where they are off.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

COVTYPE = pathlib.Path(__file__).resolve().parents[2] / "shared/data/dense/covtype.csv.zst"
READ = """
import json, sys, time
import pandas as pd
path, options = sys.argv[1], json.loads(sys.argv[2])
start, spent = time.perf_counter(), time.process_time()
pd.read_csv(path, **options)
print(json.dumps([time.perf_counter() - start, time.process_time() - spent]))
"""


def drawn(folder, rows=200_000, columns=20):
    """Two classes of normal numbers with three decimals, with points and with commas."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    x = rng.normal(size=(rows, columns)) * 40 + y[:, None]
    names = [f"x{j}" for j in range(columns)] + ["y"]
    lines = [",".join(f"{v:.3f}" for v in row) + f",{label}" for row, label in zip(x, y)]
    points = folder / "points.csv"
    points.write_text(",".join(names) + "\n" + "\n".join(lines) + "\n")
    commas = folder / "commas.csv"
    commas.write_text(points.read_text().replace(",", ";").replace(".", ","))
    return points, commas


def spent(command):
    """Wall and processor seconds of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def pandas(path, options):
    command = [sys.executable, "-c", READ, path, json.dumps(options)]
    return tuple(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("linsep")
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        points, commas = drawn(folder)
        tasks = [
            ("decimal points", points, "y", ["--features", "x0"], {}),
            ("decimal commas", commas, "y", ["--features", "x0", "--decimal", ","], {"sep": ";", "decimal": ","}),
        ]
        if COVTYPE.exists():
            covtype = folder / "covtype.csv"
            with covtype.open("wb") as out:
                subprocess.run(["zstd", "-dc", COVTYPE], check=True, stdout=out)
            tasks.insert(0, ("covtype", covtype, "cover_type", [], {}))
        for title, path, target, flags, options in tasks:
            fit = ["fit", str(path), "--target", target, "--model", "lda", "-q", "-o", str(folder / "m.json"), *flags]
            times = {"linsep": [], "pandas": [], "before": []}
            for _ in range(asked.rounds):
                times["linsep"].append(spent([asked.linsep, *fit]))
                times["pandas"].append(pandas(str(path), options))
                if asked.before and "--decimal" not in flags:
                    times["before"].append(spent([asked.before, *fit]))
            for at, what in enumerate(("wall", "processor")):
                best = {who: min(one[at] for one in all_) for who, all_ in times.items() if all_}
                ratio = {f"{who} / linsep": round(t / best["linsep"], 3) for who, t in best.items() if who != "linsep"}
                seconds = {who: round(t, 3) for who, t in best.items()}
                print(json.dumps({"task": title, "of": what, "seconds": seconds, **ratio}), flush=True)


if __name__ == "__main__":
    main()
