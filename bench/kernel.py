"""Kernel machines: linsep against scikit-learn's SVC (LIBSVM) and, where it is installed, scikit-learn-intelex.

Run: python bench/kernel.py [--only ijcnn1,usps] [--runs 3] [--scale 1]
     INTELEX_PYTHON=…/bin/python names an interpreter that has scikit-learn-intelex and scikit-learn.

Interleaved like run.py: every contestant is a process of its own that loads once and does the work once per line `run`.
Peers stop at LIBSVM's ε = 1e-3 with a cache of 200 MB; linsep takes the loosest tolerance of 1e-3, 3e-4, 1e-4 … whose
dual objective is within 1e-6 of LIBSVM's, which is tighter than 1e-4. Duals are recomputed here, by peers and for linsep
alike, from what each returns (linsep: its certificate). Predictions are of the test rows where there are some, otherwise
of the training rows.

Tasks that end in `-ovo` have several classes: a machine for every pair, duals summed over the pairs, agreement to 1e-4.
There linsep is the Python package, so the interpreter must have it, and both sides have the same 200 MB.
"""
import argparse
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from data import SHARED, STORE

HERE = Path(__file__).resolve().parent
SERVER = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "release" / "examples" / "bench"
TOLERANCES = [1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6]
CACHE = 200e6


def unpacked(name):
    return io.BytesIO(subprocess.run(["zstd", "-dc", str(SHARED / name)], check=True, capture_output=True).stdout)


def ijcnn1(part):
    from sklearn.datasets import load_svmlight_file
    x, y = load_svmlight_file(unpacked(f"sparse/ijcnn1.{part}.svm.zst"), n_features=22)
    return x.toarray(), y > 0


def usps(part):
    import pandas as pd
    frame = pd.read_csv(unpacked(f"dense/usps_zip_{part}.csv.zst"))
    return frame.iloc[:, 1:].to_numpy(float), frame.iloc[:, 0].to_numpy() == 0


def letter(part):
    import pandas as pd
    frame = pd.read_csv(unpacked("dense/letterrecognition.csv.zst"))
    rows = slice(0, 15_000) if part == "train" else slice(15_000, None)
    return frame.iloc[rows, 1:].to_numpy(float), frame.iloc[rows, 0].to_numpy() < "N"


def letter_ovo(part):
    import pandas as pd
    frame = pd.read_csv(unpacked("dense/letterrecognition.csv.zst"))
    rows = slice(0, 15_000) if part == "train" else slice(15_000, None)
    return frame.iloc[rows, 1:].to_numpy(float), np.unique(frame.iloc[:, 0], return_inverse=True)[1][rows]


def usps_ovo(part):
    import pandas as pd
    frame = pd.read_csv(unpacked(f"dense/usps_zip_{part}.csv.zst"))
    return frame.iloc[:, 1:].to_numpy(float), frame.iloc[:, 0].to_numpy()


def synthetic(part):
    rng = np.random.default_rng(7 if part == "train" else 8)
    w = np.random.default_rng(6).standard_normal(50)
    x = rng.standard_normal((10_000, 50))
    score = x @ w / np.sqrt(50) + 0.5 * (x[:, 0] * x[:, 1] + x[:, 2] ** 2 - 1) + 0.5 * rng.standard_normal(10_000)
    return x, score > 0


TASKS = {
    "ijcnn1": (ijcnn1, 2.0, 32.0, "49,990 × 22, γ=2, C=32"),
    "usps": (usps, 1 / 128, 10.0, "7,291 × 256, 0 against the rest, γ=1/128, C=10"),
    "letter": (letter, 0.02, 8.0, "15,000 × 16, A–M against N–Z, γ=0.02, C=8"),
    "letter-ovo": (letter_ovo, 0.02, 8.0, "15,000 × 16, 26 classes by pairs, γ=0.02, C=8"),
    "usps-ovo": (usps_ovo, 1 / 128, 10.0, "7,291 × 256, 10 classes by pairs, γ=1/128, C=10"),
    "synthetic": (synthetic, 0.02, 1.0, "10,000 × 50, γ=0.02, C=1"),
}


def stored(name, scale):
    STORE.mkdir(exist_ok=True)
    paths = {}
    for part in ("train", "test"):
        x_path, y_path = (STORE / f"rbf-{name}-{part}-{scale:g}-{a}.npy" for a in ("X", "y"))
        if not x_path.exists():
            x, y = TASKS[name][0](part)
            keep = slice(0, max(200, int(len(y) * scale)))
            np.save(x_path, np.ascontiguousarray(x[keep]))
            np.save(y_path, np.ascontiguousarray(y[keep], dtype=np.int64))
        paths[part] = (x_path, y_path)
    return paths


def dual(coefficients, support, gamma, c, rows):
    """[Σα − ½ αᵀQα]/(C n) in double precision."""
    from sklearn.metrics.pairwise import rbf_kernel
    squared = sum(coefficients[s:s + 1000] @ rbf_kernel(support[s:s + 1000], support, gamma=gamma) @ coefficients
                  for s in range(0, len(coefficients), 1000))
    return float((np.abs(coefficients).sum() - squared / 2) / (c * rows))


def pair_duals(model, gamma, c, rows):
    """The duals of all pairs together, from LIBSVM's layout: of class i the machine against j is row j − 1 or j."""
    coefficients, support = np.asarray(model.dual_coef_), np.asarray(model.support_vectors_)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    total = 0.0
    for i in range(len(model.n_support_)):
        for j in range(i + 1, len(model.n_support_)):
            of_i, of_j = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            both = np.concatenate([coefficients[j - 1, of_i], coefficients[i, of_j]])
            total += dual(both, np.concatenate([support[of_i], support[of_j]]), gamma, c, rows)
    return total


def serve(kind, peer, x_path, y_path, test, gamma, c):
    """The other side of a contest: python kernel.py serve KIND PEER X y TEST GAMMA C."""
    if peer == "intelex":
        from sklearnex.svm import SVC
    elif peer.startswith("linsep"):
        from linsep import SVC
    else:
        from sklearn.svm import SVC
    x, y, rows = np.load(x_path), np.load(y_path), np.load(test)
    tolerance = {"tol": float(peer.split("@")[1])} if "@" in peer else {}
    make = lambda: SVC(gamma=gamma, C=c, cache_size=2000 if peer == "SVC-2GB" else 200, **tolerance)
    several = len(np.unique(y)) > 2
    model = make().fit(x, y)
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() != "run":
            break
        start = time.perf_counter()
        if kind == "fit":
            model = make().fit(x, y)
        else:
            model.predict(rows)
        seconds = time.perf_counter() - start
        if several:
            value = pair_duals(model, gamma, c, len(y))
        else:
            value = dual(np.asarray(model.dual_coef_)[0], np.asarray(model.support_vectors_), gamma, c, len(y))
        print(json.dumps({"seconds": seconds, "dual": value}), flush=True)


class Contestant:
    def __init__(self, name, command):
        self.name, self.times, self.dual = name, [], None
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        assert self.process.stdout.readline().strip() == "ready", name

    def run(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        self.times.append(answer["seconds"])
        self.dual = answer.get("dual")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def contest(name, kind, args):
    paths = stored(name, args.scale)
    _, gamma, c, words = TASKS[name]
    (x, y), (test, _) = paths["train"], paths["test"]
    own = lambda tol: Contestant("linsep", [SERVER, f"rbf-{kind}", x, y, "--gamma", gamma, "--C", c, "--tol", tol,
                                            "--cache", CACHE, "--test", test])
    peer = lambda p, python: Contestant(p, [python, __file__, "serve", kind, p, x, y, test, gamma, c])
    if name.endswith("-ovo"):
        own = lambda tol: peer(f"linsep@{tol}", sys.executable)
    peers = [peer("SVC", sys.executable)]
    if kind == "fit":
        peers.append(peer("SVC-2GB", sys.executable))
    if os.environ.get("INTELEX_PYTHON"):
        peers.append(peer("intelex", os.environ["INTELEX_PYTHON"]))
    peers[0].run()
    goal = peers[0].dual * (1 - (1e-4 if name.endswith("-ovo") else 1e-6))
    for tol in TOLERANCES:
        ours = own(tol)
        ours.run()
        if ours.dual >= goal:
            break
        ours.end()
    everyone = [ours, *peers]
    for contestant in everyone:
        contestant.times.clear()
    for _ in range(args.runs):
        for contestant in everyone:
            contestant.run()
    ours.name = "linsep"
    best = {p.name: min(p.times) for p in everyone}
    fastest = min((t, n) for n, t in best.items() if n != "linsep")
    print(f"rbf-{name}-{kind} ({words}), tol {tol:g}: linsep {best['linsep']:.3f} s; " +
          "; ".join(f"{n} {t:.3f} s, ratio {t / best['linsep']:.2f}" for n, t in best.items() if n != "linsep") +
          f"; fastest peer {fastest[1]}; duals " + ", ".join(f"{p.name} {p.dual:.10g}" for p in everyone), flush=True)
    for contestant in everyone:
        contestant.end()


def main():
    if sys.argv[1:2] == ["serve"]:
        kind, peer, x, y, test, gamma, c = sys.argv[2:]
        return serve(kind, peer, x, y, test, float(gamma), float(c))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(TASKS))
    parser.add_argument("--kinds", default="fit,predict")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    args = parser.parse_args()
    for name in args.only.split(","):
        for kind in args.kinds.split(","):
            contest(name, kind, args)


main()
