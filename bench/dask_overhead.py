"""What a question to all partitions costs on Dask when there is next to nothing to sum: the overhead of an iteration.

    python bench/dask_overhead.py [--partitions 8] [--workers 2]

Prints milliseconds a question, by the median of several fits of partitions of fifty rows, and the number of questions of a fit.
"""

import argparse
import statistics
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import linsep.dask


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--columns", type=int, default=20)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = 50 * given.partitions
    X = rng.normal(size=(rows, given.columns))
    y = (X[:, 0] + rng.logistic(size=rows) > 0).astype(int)
    with LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        there = da.from_array(X, chunks=(50, given.columns)), da.from_array(y, chunks=50)
        asked: list[float] = []
        plain = linsep.dask._Places.ask

        def timed(self, function, rows, **same):
            start = time.perf_counter()
            found = plain(self, function, rows, **same)
            asked.append(time.perf_counter() - start)
            return found

        linsep.dask._Places.ask = timed
        linsep.dask.LogisticRegression().fit(*there)
        asked.clear()
        fits = [linsep.dask.LogisticRegression().fit(*there).round_trips_ for _ in range(5)]
    each = 1e3 * statistics.median(asked)
    print(f"{given.partitions} partitions, {given.workers} workers: {each:.1f} ms a question, {fits[0]} questions a fit")


if __name__ == "__main__":
    main()
