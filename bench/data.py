"""The data of the benchmark: simulated with fixed seeds, or real from ../shared/data; kept in bench/data/.

Run: python bench/data.py [--scale 1.0]     (run.py calls it as needed)
"""
import argparse
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
STORE = HERE / "data"
SHARED = HERE.parent.parent / "shared" / "data"


class Absent(Exception):
    """A real data set is not on this machine."""


def _stored(name, scale, make):
    """The paths (X.npy, y.npy) of a data set; made by `make(scale)` when absent."""
    STORE.mkdir(exist_ok=True)
    x_path, y_path = (STORE / f"{name}-{scale:g}-{part}.npy" for part in ("X", "y"))
    if not (x_path.exists() and y_path.exists()):
        x, y = make(scale)
        np.save(x_path, np.ascontiguousarray(x, dtype=np.float64))
        np.save(y_path, np.ascontiguousarray(y, dtype=np.int64))
    return x_path, y_path


def _mixing(rng, d):
    """A matrix whose rows mix independent columns into correlated ones."""
    return np.eye(d) + rng.standard_normal((d, d)) / np.sqrt(d)


def gaussian_classes(scale=1.0):
    """10^6 x 50, five classes with one correlated covariance."""
    def make(scale):
        n, d, k = int(1_000_000 * scale), 50, 5
        rng = np.random.default_rng(1)
        mix, means = _mixing(rng, d), rng.standard_normal((k, d)) * 0.2
        y = rng.choice(k, size=n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
        x = np.empty((n, d))
        for start in range(0, n, 50_000):
            rows = slice(start, start + 50_000)
            x[rows] = rng.standard_normal((len(y[rows]), d)) @ mix + means[y[rows]]
        return x, y
    return _stored("gauss", scale, make)


def logistic_dense(scale=1.0):
    """200,000 x 100 correlated columns, labels from a logistic model."""
    def make(scale):
        n, d = int(200_000 * scale), 100
        rng = np.random.default_rng(2)
        mix, w = _mixing(rng, d), rng.standard_normal(d) * 0.15
        x = rng.standard_normal((n, d)) @ mix
        y = rng.random(n) < 1 / (1 + np.exp(-(x @ w - 0.3)))
        return x, y
    return _stored("logit", scale, make)


def covtype_csv(scale=1.0):
    """The text file; a seeded selection of its rows when scale < 1."""
    STORE.mkdir(exist_ok=True)
    packed, full = SHARED / "dense" / "covtype.csv.zst", STORE / "covtype-1.csv"
    if not full.exists():
        if not packed.exists():
            raise Absent(f"{packed} is not there")
        part = full.with_suffix(".part")
        try:
            subprocess.run(["zstd", "-q", "-f", "-d", str(packed), "-o", str(part)], check=True)
        except FileNotFoundError:
            import pyarrow
            with pyarrow.input_stream(str(packed), compression="zstd") as stream, open(part, "wb") as out:
                while chunk := stream.read(1 << 24):
                    out.write(chunk)
        part.rename(full)
    if scale == 1.0:
        return full
    path = STORE / f"covtype-{scale:g}.csv"
    if not path.exists():
        lines = full.read_bytes().splitlines(keepends=True)
        keep = np.sort(np.random.default_rng(3).permutation(len(lines) - 1)[:int((len(lines) - 1) * scale)])
        path.write_bytes(lines[0] + b"".join(lines[i + 1] for i in keep))
    return path


def covtype_binary(scale=1.0):
    """Class 2 against the rest; columns centred and divided by their standard deviation (divisor n)."""
    def make(scale):
        import pandas as pd
        frame = pd.read_csv(covtype_csv(scale))
        y = frame.pop("cover_type").to_numpy() == 2
        x = frame.to_numpy(np.float64)
        sd = x.std(axis=0)
        return (x - x.mean(axis=0)) / np.where(sd > 0, sd, 1.0), y
    covtype_csv(scale)
    return _stored("covtype2", scale, make)


def news(scale=1.0):
    """20 newsgroups as presence of words and word pairs: column indices (rows end where `-starts.npy` says) and labels."""
    STORE.mkdir(exist_ok=True)
    packed = SHARED / "sparse" / "20news_bigram_binary.svm.zst"
    x_path, starts_path, y_path = (STORE / f"20news-{scale:g}-{part}.npy" for part in ("indices", "starts", "y"))
    if not y_path.exists():
        if not packed.exists():
            raise Absent(f"{packed} is not there")
        import io
        import pyarrow
        from sklearn.datasets import load_svmlight_file
        with pyarrow.input_stream(str(packed), compression="zstd") as stream:
            x, y = load_svmlight_file(io.BytesIO(stream.read()))
        rows = int(x.shape[0] * scale)
        x = x[:rows].tocsr()
        np.save(x_path, x.indices.astype(np.int64))
        np.save(starts_path, x.indptr.astype(np.int64))
        np.save(y_path, (y[:rows] > 0).astype(np.int64))
    return x_path, y_path


def _sparse(name, scale):
    """A LIBSVM file of the shared data with its values: column indices, row starts, values, labels."""
    STORE.mkdir(exist_ok=True)
    packed = SHARED / "sparse" / f"{name}.svm.zst"
    paths = [STORE / f"{name}-{scale:g}-{part}.npy" for part in ("indices", "starts", "values", "y")]
    if not paths[-1].exists():
        if not packed.exists():
            raise Absent(f"{packed} is not there")
        import io
        import pyarrow
        from sklearn.datasets import load_svmlight_file
        with pyarrow.input_stream(str(packed), compression="zstd") as stream:
            x, y = load_svmlight_file(io.BytesIO(stream.read()))
        rows = int(x.shape[0] * scale)
        x = x[:rows].tocsr()
        np.save(paths[0], x.indices.astype(np.int64))
        np.save(paths[1], x.indptr.astype(np.int64))
        np.save(paths[2], x.data.astype(np.float64))
        np.save(paths[3], (y[:rows] > 0).astype(np.int64))
    return paths[0], paths[3]


def a9a(scale=1.0):
    """adult: 32,561 x 123 indicators."""
    return _sparse("a9a", scale)


def news_unit(scale=1.0):
    """20 newsgroups, words and word pairs, rows of length one."""
    return _sparse("20news_bigram_binary", scale)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    for make in (gaussian_classes, logistic_dense, covtype_binary, covtype_csv, news, a9a, news_unit):
        try:
            print(make.__name__, make(scale))
        except Absent as reason:
            print(make.__name__, "SKIPPED:", reason)
