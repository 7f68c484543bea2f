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


def _svm(name, file, scale):
    """A LIBSVM file as column indices, row starts, values and labels."""
    STORE.mkdir(exist_ok=True)
    packed = SHARED / "sparse" / f"{file}.svm.zst"
    parts = {part: STORE / f"{name}-{scale:g}-{part}.npy" for part in ("indices", "starts", "values", "y")}
    if not parts["y"].exists():
        if not packed.exists():
            raise Absent(f"{packed} is not there")
        import io
        import pyarrow
        from sklearn.datasets import load_svmlight_file
        with pyarrow.input_stream(str(packed), compression="zstd") as stream:
            x, y = load_svmlight_file(io.BytesIO(stream.read()))
        rows = int(x.shape[0] * scale)
        x = x[:rows].tocsr()
        x.sort_indices()
        np.save(parts["indices"], x.indices.astype(np.int64))
        np.save(parts["starts"], x.indptr.astype(np.int64))
        np.save(parts["values"], x.data.astype(np.float64))
        np.save(parts["y"], (y[:rows] > 0).astype(np.int64))
    return parts["indices"], parts["y"]


def news_unit(scale=1.0):
    """20 newsgroups with the file's values: rows of length one."""
    return _svm("20news-unit", "20news_bigram_binary", scale)


def a9a(scale=1.0):
    """32,561 x 123, fourteen ones a row."""
    return _svm("a9a", "a9a", scale)


def _unpacked(name):
    import io
    packed = SHARED / f"{name}.zst"
    if not packed.exists():
        raise Absent(f"{packed} is not there")
    return io.BytesIO(subprocess.run(["zstd", "-dc", str(packed)], check=True, capture_output=True).stdout)


def _ijcnn1(part):
    from sklearn.datasets import load_svmlight_file
    x, y = load_svmlight_file(_unpacked(f"sparse/ijcnn1.{part}.svm"), n_features=22)
    return x.toarray(), y > 0


def _usps(part):
    import pandas as pd
    frame = pd.read_csv(_unpacked(f"dense/usps_zip_{part}.csv"))
    return frame.iloc[:, 1:].to_numpy(float), frame.iloc[:, 0].to_numpy()


def _letter(part):
    import pandas as pd
    frame = pd.read_csv(_unpacked("dense/letterrecognition.csv"))
    rows = slice(0, 15_000) if part == "train" else slice(15_000, None)
    return frame.iloc[rows, 1:].to_numpy(float), np.unique(frame.iloc[:, 0], return_inverse=True)[1][rows]


def _curved(part):
    rng = np.random.default_rng(7 if part == "train" else 8)
    w = np.random.default_rng(6).standard_normal(50)
    x = rng.standard_normal((10_000, 50))
    score = x @ w / np.sqrt(50) + 0.5 * (x[:, 0] * x[:, 1] + x[:, 2] ** 2 - 1) + 0.5 * rng.standard_normal(10_000)
    return x, score > 0


# Rows of kernel machines with how labels become codes; those that end in -ovo keep all their classes.
KERNEL_ROWS = {
    "ijcnn1": (_ijcnn1, lambda y: y), "usps": (_usps, lambda y: y == 0), "usps-ovo": (_usps, lambda y: y),
    "letter": (_letter, lambda y: y < 13), "letter-ovo": (_letter, lambda y: y), "synthetic": (_curved, lambda y: y),
}


def kernel_rows(name):
    """Training rows of a kernel machine; the test rows lie beside them, `-test-` in the name."""
    make, codes = KERNEL_ROWS[name]

    def load(scale=1.0):
        def part(of):
            def rows(scale):
                x, y = make(of)
                keep = slice(0, max(200, int(len(y) * scale)))
                return x[keep], codes(y[keep])
            return _stored(f"rbf-{name}-{of}", scale, rows)
        part("test")
        return part("train")
    return load


def spam(scale=1.0):
    """4,601 x 57, columns centred and divided by their standard deviation (divisor n)."""
    def make(scale):
        import pandas as pd
        path = SHARED / "small" / "kernlab_spam.csv"
        if not path.exists():
            raise Absent(f"{path} is not there")
        frame = pd.read_csv(path)
        frame = frame.sample(int(len(frame) * scale), random_state=4)
        y = frame.pop("type").to_numpy() == "spam"
        x = frame.to_numpy(np.float64)
        sd = x.std(axis=0)
        return (x - x.mean(axis=0)) / np.where(sd > 0, sd, 1.0), y
    return _stored("spam", scale, make)


def mnist(scale=1.0):
    """60,000 x 784 pixels/255, ten digits."""
    def make(scale):
        import gzip
        folder = SHARED / "dense"
        read = lambda kind: gzip.open(next(folder.glob(f"mnist-train*{kind}*")), "rb").read()  # noqa: E731
        try:
            images, labels = read("images"), read("labels")
        except StopIteration:
            raise Absent(f"{folder}/mnist-* is not there") from None
        x = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784) / 255.0
        y = np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)
        rows = int(len(y) * scale)
        return x[:rows], y[:rows]
    return _stored("mnist", scale, make)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    for make in (gaussian_classes, logistic_dense, covtype_binary, covtype_csv, news, news_unit, a9a, spam):
        try:
            print(make.__name__, make(scale))
        except Absent as reason:
            print(make.__name__, "SKIPPED:", reason)
