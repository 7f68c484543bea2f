"""Logistic regression on Dask against dask-ml, two worker processes: seconds to a relative gap of 1e-6.

    pip install dask-ml
    python bench/dask_logistic.py [--rows 4000000] [--columns 50] [--partitions 16]

Both fit the same rows, which the workers hold, one after the other in turns. dask-ml's solvers have no certificate: each is run
with tighter tolerances until its objective is within 1e-6 of the proved optimum, and the fastest that gets there counts.
"""

import argparse
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import linsep.dask


def objective(X, y, coef, intercept, total, C) -> float:
    z = X @ coef + intercept
    loss = (da.log1p(da.exp(-da.fabs(z))) + da.maximum(z, 0) - y * z).sum()
    return float(loss.compute() / total + 0.5 * (coef @ coef) / (C * total))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=16)
    given = parser.parse_args()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        random = da.random.default_rng(1)
        chunk = given.rows // given.partitions
        X = random.normal(size=(given.rows, given.columns), chunks=(chunk, given.columns)).persist()
        slope = np.random.default_rng(2).normal(size=given.columns) / np.sqrt(given.columns)
        y = ((X @ slope + random.logistic(size=given.rows, chunks=chunk)) > 0).astype(int).persist()
        wait([X, y])
        start = time.perf_counter()
        own = linsep.dask.LogisticRegression(C=1.0, tol=1e-3).fit(X, y)
        ours = time.perf_counter() - start
        gap = own.certificate_["relative_gap"]
        print(f"linsep: {ours:.2f} s, {own.round_trips_} questions, proved relative gap {gap:.1e}", flush=True)
        try:
            from dask_ml.linear_model import LogisticRegression
        except ImportError:
            print("dask-ml is not installed: nothing to compare with")
            return
        best = own.objective_ * (1 + 1e-6)
        for solver in ("newton", "lbfgs", "admm"):
            for tolerance in (1e-4, 1e-6, 1e-8):
                start = time.perf_counter()
                peer = LogisticRegression(C=1.0, solver=solver, tol=tolerance, max_iter=100).fit(X, y)
                seconds = time.perf_counter() - start
                value = objective(X, y, peer.coef_, float(np.ravel(peer.intercept_)[0]), given.rows, 1.0)
                reached = value <= best
                print(f"dask-ml {solver} tol {tolerance:g}: {seconds:.2f} s, objective {value:.9f}, reached: {reached}", flush=True)
                if reached:
                    print(f"  ratio {seconds / ours:.1f}")
                    break


if __name__ == "__main__":
    main()
