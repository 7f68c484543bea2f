"""The agreement with scikit-learn once more, on parts of data sets that are too large to be in the repository."""

import gzip
import io
import itertools

import numpy as np
import pytest
from conftest import ROOT
from sklearn import linear_model, naive_bayes

import linsep
from objectives import penalised

SHARED = ROOT.parent / "shared" / "data"


def present(path):
    if not path.exists():
        pytest.skip(f"{path.relative_to(ROOT.parent)} is not beside the repository")
    return path


@pytest.fixture(scope="module")
def mnist():
    """800 digits as shares of black."""
    folder = SHARED / "dense"
    with gzip.open(present(folder / "mnist-train-images-idx3-ubyte.gz")) as file:
        images = file.read(16 + 800 * 784)
    with gzip.open(present(folder / "mnist-train-labels-idx1-ubyte.gz")) as file:
        labels = file.read(8 + 800)
    return np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784) / 255.0, np.frombuffer(labels, np.uint8, offset=8).astype(int)


@pytest.fixture(scope="module")
def news():
    """The first 800 articles: words and pairs of words that five of them have, rows of length one before the choice."""
    pyarrow = pytest.importorskip("pyarrow")
    from sklearn.datasets import load_svmlight_file

    with pyarrow.input_stream(str(present(SHARED / "sparse" / "20news_bigram_binary.svm.zst")), compression="zstd") as file:
        lines = b"".join(itertools.islice(io.BufferedReader(file), 800))
    X, y = load_svmlight_file(io.BytesIO(lines))
    return X[:, X.getnnz(axis=0) >= 5], y.astype(int)


def agree(ours, theirs, X, y, **objective):
    own, other = penalised(ours, X, y, **objective), penalised(theirs, X, y, **objective)
    assert own <= other * (1 + 1e-6)
    assert own == pytest.approx(other, rel=1e-6)
    assert ours.objective_ == pytest.approx(own, rel=1e-9)


def test_softmax_of_digits(mnist):
    X, y = mnist
    # A strong penalty, so that scikit-learn arrives soon.
    ours = linsep.LogisticRegression(C=0.01).fit(X, y)
    theirs = linear_model.LogisticRegression(C=0.01, tol=1e-7, max_iter=1000).fit(X, y)
    agree(ours, theirs, X, y, C=0.01)


def test_two_digits(mnist):
    X, y = mnist
    keep = np.isin(y, [4, 9])
    X, y = X[keep], y[keep]
    ours = linsep.LogisticRegression(C=0.1).fit(X, y)
    theirs = linear_model.LogisticRegression(C=0.1, tol=1e-8, max_iter=1000).fit(X, y)
    agree(ours, theirs, X, y, C=0.1)


def test_news(news):
    X, y = news
    assert X.shape[1] > 2_000 and len(set(y)) == 2
    ours = linsep.LogisticRegression(C=10.0).fit(X, y)
    theirs = linear_model.LogisticRegression(C=10.0, tol=1e-8, max_iter=1000).fit(X, y)
    agree(ours, theirs, X, y, C=10.0)


def test_naive_bayes_of_news(news):
    X, y = news
    counts = (X > 0).astype(float)
    ours, theirs = linsep.MultinomialNB().fit(counts, y), naive_bayes.MultinomialNB().fit(counts, y)
    assert np.allclose(ours.predict_log_proba(counts), theirs.predict_log_proba(counts), atol=1e-6)
