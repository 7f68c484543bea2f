"""The tables of bench/matrix.py: every real one of ../shared/data and shapes drawn by a seed, in many forms.

A form is named TABLE:SCALE:CLASSES:PART, with SCALE `raw` or `std`, CLASSES `all` or `two` (several classes as two
groups, drawn), PART `whole`, `half` (of the rows, drawn) or `tenth` (of the columns, drawn).
"""
import gzip
import hashlib
import subprocess
import zipfile
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from data import SHARED, STORE, Absent, _mixing, _unpacked

# name: (file, target, columns to leave out). Text columns become one column a level, empty cells the median or a level.
SMALL = {
    "penguins": ("palmerpenguins_penguins", "species", ()), "iris": ("datasets_iris", "Species", ()),
    "banknote": ("banknote", "class", ()), "pima.tr": ("MASS_Pima.tr", "type", ()), "pima.te": ("MASS_Pima.te", "type", ()),
    "synth.tr": ("MASS_synth.tr", "yc", ()), "synth.te": ("MASS_synth.te", "yc", ()),
    "birthwt": ("MASS_birthwt", "low", ("bwt",)), "endometrial": ("brglm2_endometrial", "HG", ()),
    "silvapulle": ("detectseparation_silvapulle1981", "y", ()), "kyphosis": ("rpart_kyphosis", "Kyphosis", ()),
    "spam": ("kernlab_spam", "type", ()), "wdbc": ("keel_wdbc", "class", ()), "wine": ("keel_wine", "class", ()),
    "vowel.train": ("ElemStatLearn_vowel.train", "y", ()), "vowel.test": ("ElemStatLearn_vowel.test", "y", ()),
    "ionosphere": ("mlbench_Ionosphere", "Class", ()), "sonar": ("mlbench_Sonar", "Class", ()),
    "votes": ("mlbench_HouseVotes84", "Class", ()), "pima2": ("mlbench_PimaIndiansDiabetes2", "diabetes", ()),
    "titanic": ("titanic_seaborn", "survived", ("alive",)), "german": ("caret_GermanCredit", "Class", ()),
    "crabs": ("MASS_crabs", "sex", ("index",)), "pd_speech": ("modeldata_pd_speech", "class", ()),
    "lizards": ("brglm2_lizards", None, ()),
}
DENSE = {
    "covtype": "cover_type", "usps_zip_train": "digit", "usps_zip_test": "digit", "letterrecognition": "lettr",
    "satellite": "classes", "adult_train": "income", "adult_test": "income", "givemecredit": "SeriousDlqin2yrs",
    "mnist-train": None, "mnist-t10k": None,
}
SPARSE = ["20news_bigram_binary", "a9a", "a9a.t", "farm_ads", "ijcnn1.train", "ijcnn1.test", "rcv1_small.train",
          "rcv1_small.test", "reuters.train", "reuters.test", "w8a"]
SEVERAL = {"penguins", "iris", "wine", "vowel.train", "vowel.test", "covtype", "usps_zip_train", "usps_zip_test", "letterrecognition",
           "satellite", "mnist-train", "mnist-t10k", "reuters.train", "reuters.test"}     # more than two classes


# ---------------------------------------------------------------- real tables

def _encoded(frame, target, drop):
    import pandas as pd
    y = frame.pop(target)
    keep = y.notna()
    frame, y = frame.drop(columns=list(drop))[keep], y[keep]
    parts = []
    for name in frame:
        column = frame[name]
        if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
            parts.append(column.astype(float).fillna(column.astype(float).median()).to_numpy()[:, None])
        else:
            parts.append(pd.get_dummies(column.astype(str).fillna("nan")).to_numpy(float))
    return np.hstack(parts), np.unique(y.astype(str), return_inverse=True)[1]


def _lizards(frame):
    """Counts of two species: a row for every lizard."""
    import pandas as pd
    long = pd.concat([frame.assign(species=name).loc[frame.index.repeat(frame[name])] for name in ("grahami", "opalinus")])
    return _encoded(long, "species", ("grahami", "opalinus"))


def _mnist(part):
    read = lambda kind: gzip.open(next((SHARED / "dense").glob(f"{part}-{kind}*")), "rb").read()  # noqa: E731
    return (np.frombuffer(read("images"), np.uint8, offset=16).reshape(-1, 784) / 255.0,
            np.frombuffer(read("labels"), np.uint8, offset=8).astype(np.int64))


def _read(name):
    import pandas as pd
    if name in SMALL:
        file, target, drop = SMALL[name]
        frame = pd.read_csv(SHARED / "small" / f"{file}.csv")
        return _lizards(frame) if target is None else _encoded(frame, target, drop)
    if name.startswith("mnist"):
        return _mnist(name)
    if name in DENSE:
        return _encoded(pd.read_csv(_unpacked(f"dense/{name}.csv")), DENSE[name], ())
    from sklearn.datasets import load_svmlight_file
    x, y = load_svmlight_file(_unpacked(f"sparse/{name}.svm"))
    return x, np.unique(y, return_inverse=True)[1]


def _real(name):
    """A table as it is, kept in bench/data/ once it was read."""
    STORE.mkdir(exist_ok=True)
    path = STORE / f"matrix-{name}.npz"
    try:
        return load(path)
    except (FileNotFoundError, zipfile.BadZipFile):
        pass
    try:
        x, y = _read(name)
    except (FileNotFoundError, StopIteration, subprocess.CalledProcessError) as reason:
        raise Absent(f"{name}: {reason}") from None
    save(path, x, y)
    return x, y


def save(path, x, y):
    y = np.asarray(y, np.int64)
    if sp.issparse(x):
        x = x.tocsr()
        x.sum_duplicates()
        x.sort_indices()
        np.savez(path, data=x.data.astype(float), indices=x.indices.astype(np.int32), indptr=x.indptr.astype(np.int32),
                 shape=x.shape, y=y)
    else:
        np.savez(path, x=np.ascontiguousarray(x, float), y=y)


def load(path):
    with np.load(path) as f:
        if "x" in f:
            return f["x"], f["y"]
        return sp.csr_matrix((f["data"], f["indices"], f["indptr"]), shape=tuple(f["shape"])), f["y"]


# ---------------------------------------------------------------- generated shapes

def _size(rng, middle):
    """About `middle`: half of it to twice as much, so that no seed has the sizes of another."""
    return int(middle * 2 ** rng.uniform(-1, 1))


def topics(rng):
    """Text: words by Zipf's law, 20 topics that prefer words of their own, tf-idf, rows of length one."""
    n, d, k = _size(rng, 6_000), _size(rng, 20_000), 20
    base = 1 / np.arange(1, d + 1) ** rng.uniform(0.9, 1.2)
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3.0)))
    shares = base * np.exp(rng.normal(0, 1.5, (k, d)) * (rng.random((k, d)) < 0.1))
    rows = _topic_rows(rng, y, shares)
    seen = np.maximum(np.bincount(rows.indices, minlength=d), 1)
    rows = rows @ sp.diags(np.log(n / seen) + 1)
    return sp.diags(1 / np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())) @ rows, y


def _topic_rows(rng, y, shares):
    d, rows, columns = shares.shape[1], [], []
    lengths = rng.poisson(rng.lognormal(4, 0.6, len(y))) + 1
    for c in range(len(shares)):
        mine = np.flatnonzero(y == c)
        rows.append(np.repeat(mine, lengths[mine]))
        columns.append(np.searchsorted(np.cumsum(shares[c]) / shares[c].sum(), rng.random(lengths[mine].sum())).clip(max=d - 1))
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(y), d))


def uneven(rng):
    """Rows of very uneven size, the class the largest of 20 noisy columns."""
    n = _size(rng, 4_000)
    x = rng.normal(size=(n, 110)) * rng.lognormal(0, 3, (n, 1))
    return x, np.argmax(x[:, :20] + rng.normal(size=(n, 20)) * np.abs(x[:, :20]).mean(axis=1, keepdims=True), axis=1)


def scales(rng):
    """Columns of sizes from 1e-3 to 1e3, correlated, two classes."""
    n, d = _size(rng, 10_000), _size(rng, 40)
    x = rng.normal(size=(n, d)) @ _mixing(rng, d)
    y = x @ rng.normal(size=d) / np.sqrt(d) + rng.logistic(size=n) > 0
    return x * 10 ** rng.uniform(-3, 3, d) + 10 ** rng.uniform(-3, 3, d), y


def gauss(rng):
    """Five Gaussian classes, correlated columns, many rows."""
    n, d, k = _size(rng, 40_000), _size(rng, 60), 5
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
    return rng.normal(size=(n, d)) @ _mixing(rng, d) + rng.normal(size=(k, d))[y] * 0.5, y


def genes(rng):
    """Few rows, thousands of columns in correlated blocks, four classes."""
    n, d, k = _size(rng, 400), _size(rng, 4_000), 4
    y = rng.integers(0, k, n)
    blocks = rng.normal(size=(n, 40)) + rng.normal(size=(k, 40))[y]
    return blocks[:, rng.integers(0, 40, d)] + rng.normal(size=(n, d)), y


def lowrank(rng):
    """Columns that nearly lie in a space of ten dimensions, six classes with little between them."""
    n, d, k = _size(rng, 8_000), _size(rng, 200), 6
    hidden = rng.normal(size=(n, 10))
    x = hidden @ rng.normal(size=(10, d)) + 1e-2 * rng.normal(size=(n, d))
    return x, np.argmax(hidden[:, :k] + rng.gumbel(size=(n, k)), axis=1)


def rare(rng):
    """One positive in a hundred."""
    n, d = _size(rng, 60_000), _size(rng, 25)
    x = rng.normal(size=(n, d)) * rng.lognormal(0, 0.5, (n, d))
    score = x @ rng.normal(size=d) / np.sqrt(d) + rng.logistic(size=n)
    return x, score > np.quantile(score, 0.99)


def clicks(rng):
    """Sparse indicators: 25 columns of many levels each, levels by Zipf's law, two classes."""
    n, columns = _size(rng, 30_000), 25
    levels = rng.integers(2, 2_000, columns)
    starts = np.concatenate([[0], np.cumsum(levels)])
    codes = np.stack([starts[j] + np.minimum(rng.zipf(1.4, n), levels[j]) - 1 for j in range(columns)], axis=1)
    w = rng.normal(0, 0.7, starts[-1])
    x = sp.csr_matrix((np.ones(codes.size), codes.ravel(), np.arange(n + 1) * columns), shape=(n, int(starts[-1])))
    return x, w[codes].sum(axis=1) + rng.logistic(size=n) > rng.uniform(0, 3)


def counts(rng):
    """Poisson counts of 80 columns, eight classes."""
    n, d, k = _size(rng, 12_000), _size(rng, 80), 8
    y = rng.integers(0, k, n)
    return rng.poisson(np.exp(rng.normal(0, 1, d) + rng.normal(0, 0.3, (k, d)))[y]).astype(float), y


def margin(rng):
    """Two classes with a narrow margin and nothing between."""
    n, d = _size(rng, 5_000), _size(rng, 100)
    x, w = rng.normal(size=(n, d)), rng.normal(size=d)
    side = np.sign(x @ w)
    return x + 0.05 * side[:, None] * w / np.linalg.norm(w), side > 0


GENERATED = {f.__name__: f for f in (topics, uneven, scales, gauss, genes, lowrank, rare, clicks, counts, margin)}
GROUPS = {"small": list(SMALL), "dense": list(DENSE), "sparse": SPARSE, "generated": list(GENERATED)}
SEVERAL |= {"topics", "uneven", "gauss", "genes", "lowrank", "counts"}


# ---------------------------------------------------------------- forms

def names():
    """Group and name of every form of every table."""
    for group, tables in GROUPS.items():
        for table in tables:
            for scale in ("raw", "std"):
                for classes in ("all", "two") if table in SEVERAL else ("all",):
                    for part in ("whole", "half", "tenth"):
                        yield group, f"{table}:{scale}:{classes}:{part}"


def _rng(*parts):
    return np.random.default_rng(list(hashlib.sha256(repr(parts).encode()).digest()))


@lru_cache(maxsize=2)
def _base(table, seed):
    if table in GENERATED:
        x, y = GENERATED[table](_rng(table, seed))
        return x, np.unique(np.asarray(y, np.int64), return_inverse=True)[1]
    return _real(table)


def _standardised(x):
    """Columns of mean 0 and deviation 1 (divisor n); sparse ones keep their zeros and so their mean."""
    if not sp.issparse(x):
        sd = x.std(axis=0)
        return (x - x.mean(axis=0)) / np.where(sd > 1e-12 * np.abs(x).max(axis=0, initial=0), sd, 1.0)
    squares = np.asarray(x.multiply(x).mean(axis=0)).ravel() - np.asarray(x.mean(axis=0)).ravel() ** 2
    return (x @ sp.diags(1 / np.sqrt(np.where(squares > 1e-15, squares, 1.0)))).tocsr()


def table(name, seed, rows=None):
    """X, class codes; at most `rows(n, entries, classes)` of the rows, drawn by the seed like everything else.

    A class keeps at least two rows or leaves the table with them: who has one row cannot be told from the others.
    """
    base, scale, classes, part = name.split(":")
    x, y = _base(base, seed)
    rng = _rng(name, seed)
    if part == "half":
        keep = np.sort(rng.permutation(len(y))[:max(20, len(y) // 2)])
        x, y = x[keep], y[keep]
    if part == "tenth":
        x = x[:, np.sort(rng.permutation(x.shape[1])[:max(2, x.shape[1] // 10)])]
    if classes == "two":
        labels = np.unique(y)
        y = np.isin(y, rng.permutation(labels)[:rng.integers(1, len(labels) // 2 + 1)]).astype(np.int64)
    if rows:
        most = rows(len(y), x.nnz if sp.issparse(x) else x.size, int(y.max()) + 1)
        if most < len(y):
            keep = np.sort(rng.permutation(len(y))[:most])
            x, y = x[keep], y[keep]
    common = np.bincount(y)[y] >= 2
    x, y = x[common], np.unique(y[common], return_inverse=True)[1]
    return (_standardised(x) if scale == "std" else x), y
