"""How long pictures take: python bench/pictures.py [--command target/release/linsep]

Three figures: the regions of a table of 10⁶ rows; the regions of an RBF machine with about 5,000 support vectors against
scikit-learn's DecisionBoundaryDisplay on a grid of 200×200; every command of the gallery. Each is run a few times and the
fastest counts; a busy machine makes the first and the third look worse than they are.
"""
from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def fastest(work, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def linsep(command: str, folder: str, line: str) -> None:
    done = subprocess.run([command, *shlex.split(line)], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"linsep {line}\n{done.stderr}")


def many_rows(command: str, folder: str, rows: int, repeats: int) -> dict:
    """Reading the table is part of it: nobody draws without."""
    linsep(command, folder, f"simulate gaussian --rows {rows} --seed 1 -o many.csv")
    linsep(command, folder, "fit many.csv --target class --model lda -o many.json")
    return {"rows": rows, "seconds": fastest(lambda: linsep(command, folder, "plot regions many.json many.csv -o many.svg"), repeats)}


def machine(command: str, folder: str, rows: int, repeats: int) -> dict:
    """Classes that overlap, so that most rows are support vectors; the same rows and settings for both."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, 2)) + 0.35 * (2 * y - 1)[:, None]
    table = "\n".join(["x0,x1,y", *(f"{a!r},{b!r},{c}" for (a, b), c in zip(X.tolist(), y.tolist()))])
    (Path(folder) / "machine.csv").write_text(table + "\n")
    linsep(command, folder, "fit machine.csv --target y --model svm --kernel rbf --gamma 0.5 --C 1 --standardize no -o machine.json")
    found = {"rows": rows}
    found["linsep"] = fastest(lambda: linsep(command, folder, "plot regions machine.json machine.csv -o machine.svg"), repeats)
    try:
        import matplotlib

        matplotlib.use("Agg")
        from sklearn.inspection import DecisionBoundaryDisplay
        from sklearn.svm import SVC
    except ImportError as missing:
        found["scikit-learn"] = f"not measured: {missing}"
        return found
    peer = SVC(kernel="rbf", gamma=0.5, C=1.0).fit(X, y)
    found["peer_support_vectors"] = int(peer.n_support_.sum())

    def draw():
        shown = DecisionBoundaryDisplay.from_estimator(peer, X, grid_resolution=200, response_method="predict")
        shown.figure_.savefig(Path(folder) / "peer.svg")
        matplotlib.pyplot.close(shown.figure_)

    import matplotlib.pyplot

    found["scikit-learn"] = fastest(draw, repeats)
    found["ratio"] = found["scikit-learn"] / found["linsep"]
    return found


def gallery(command: str, folder: str) -> dict:
    for example in (ROOT / "examples").iterdir():
        shutil.copy(example, folder)
    lines = re.findall(r"^\$ linsep (.*)$", (ROOT / "docs/gallery.md").read_text(encoding="utf-8"), re.M)
    took = {}
    for line in lines:
        start = time.perf_counter()
        linsep(command, folder, line)
        took[line] = time.perf_counter() - start
    slowest = sorted(took, key=took.get, reverse=True)[:5]
    drawn = sum(seconds for line, seconds in took.items() if line.startswith("plot "))
    return {"seconds": sum(took.values()), "pictures": drawn, "slowest": {line: round(took[line], 3) for line in slowest}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=str(ROOT / "target/release/linsep"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--machine-rows", type=int, default=7_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["rows", "machine", "gallery"])
    asked = parser.parse_args()
    command = str(Path(asked.command).resolve())
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        if asked.only in (None, "rows"):
            found["regions of many rows"] = many_rows(command, folder, asked.rows, asked.repeats)
        if asked.only in (None, "machine"):
            found["regions of an RBF machine"] = machine(command, folder, asked.machine_rows, asked.repeats)
        if asked.only in (None, "gallery"):
            found["gallery"] = gallery(command, folder)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
