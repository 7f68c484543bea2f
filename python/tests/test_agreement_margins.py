"""Machines with margins against LIBSVM and LIBLINEAR in detail: weights, several classes, multipliers, kernels."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import datasets, multiclass, svm
from sklearn.preprocessing import StandardScaler

import linsep


@pytest.fixture(scope="module")
def wine():
    X, y = datasets.load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def agree(ours, theirs, X, atol=1e-4):
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=atol)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5}])
def test_weights_of_rows_and_classes(two_classes, class_weight):
    X, y = two_classes
    s = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    ours = linsep.SVC(tol=1e-9, gamma=0.2, class_weight=class_weight).fit(X, y, sample_weight=s)
    theirs = svm.SVC(tol=1e-8, gamma=0.2, class_weight=class_weight).fit(X, y, sample_weight=s)
    if class_weight == "balanced":
        # Here the balance is that of the weights, there that of the counts.
        counts, shares = np.bincount(y), np.bincount(y, weights=s)
        factors = s.sum() / (2 * shares)
        theirs = svm.SVC(tol=1e-8, gamma=0.2, class_weight=dict(enumerate(factors))).fit(X, y, sample_weight=s)
        assert not np.allclose(counts / counts.sum(), shares / shares.sum(), atol=1e-3)
    agree(ours, theirs, X)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma(wine, gamma):
    X, y = wine
    X = X * np.arange(1, X.shape[1] + 1)
    agree(linsep.SVC(tol=1e-9, gamma=gamma).fit(X, y), svm.SVC(tol=1e-8, gamma=gamma).fit(X, y), X)


def test_gamma_of_sparse_rows_counts_the_zeros(wine):
    X, y = wine
    X = scipy.sparse.csr_matrix(np.where(X > 0.5, X, 0.0))
    agree(linsep.SVC(tol=1e-9).fit(X, y), svm.SVC(tol=1e-8).fit(X, y), X)


def test_support_vectors_and_multipliers_have_scikit_learns_layout(wine):
    X, y = wine
    ours, theirs = linsep.SVC(tol=1e-10).fit(X, y), svm.SVC(tol=1e-9).fit(X, y)
    assert ours.support_.tolist() == theirs.support_.tolist()
    assert ours.n_support_.tolist() == theirs.n_support_.tolist()
    assert np.array_equal(ours.support_vectors_, theirs.support_vectors_)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    assert np.allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3)


def test_support_vectors_of_two_classes(two_classes):
    X, y = two_classes
    ours, theirs = linsep.SVC(tol=1e-10).fit(X, y), svm.SVC(tol=1e-9).fit(X, y)
    assert ours.support_.tolist() == theirs.support_.tolist()
    assert np.allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3)


def test_a_linear_kernel_has_coefficients(wine):
    X, y = wine
    ours, theirs = linsep.SVC(kernel="linear", tol=1e-10).fit(X, y), svm.SVC(kernel="linear", tol=1e-9).fit(X, y)
    # The sign of a pair is LIBSVM's: positive for its first class. `coef_` speaks for the class that scores do.
    for own, other in ((ours.coef_, theirs.coef_), (ours.intercept_, theirs.intercept_)):
        assert np.allclose(np.abs(own), np.abs(other), atol=1e-3)


def test_precomputed_kernels(wine):
    X, y = wine
    X, y = X[y > 0], y[y > 0]
    K = X @ X.T / X.shape[1]
    ours, theirs = linsep.SVC(kernel="precomputed", tol=1e-9).fit(K, y), svm.SVC(kernel="precomputed", tol=1e-8).fit(K, y)
    agree(ours, theirs, K)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_one_against_the_rest(wine, loss):
    X, y = wine
    ours = linsep.LinearSVC(loss=loss, penalise_intercept=True, C=0.1, tol=1e-10).fit(X, y)
    theirs = svm.LinearSVC(loss=loss, C=0.1, dual=True, tol=1e-10, max_iter=1_000_000, random_state=0).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    agree(ours, theirs, X, atol=1e-3)


def test_all_classes_at_once(wine):
    X, y = wine
    given = {"loss": "hinge", "multi_class": "crammer_singer", "fit_intercept": False, "C": 0.05}
    ours = linsep.LinearSVC(tol=1e-9, **given).fit(X, y)
    theirs = svm.LinearSVC(tol=1e-9, max_iter=1_000_000, random_state=0, **given).fit(X, y)

    def objective(model):
        Z = X @ model.coef_.T
        own = Z[np.arange(len(y)), y]
        return 0.5 * (model.coef_**2).sum() + 0.05 * np.maximum(0, (Z + 1 - np.eye(3)[y]).max(axis=1) - own).sum()

    assert objective(ours) <= objective(theirs) * (1 + 1e-6)
    assert objective(ours) == pytest.approx(objective(theirs), rel=1e-4)


@pytest.mark.parametrize("inner", [
    lambda: linsep.LogisticRegression(C=0.5, tol=1e-10),
    lambda: linsep.LogisticRegression(C=0.5, l1_ratio=1.0, tol=1e-10),
    lambda: linsep.LogisticRegression(C=1.0, l1_ratio=0.5, tol=1e-10),
    lambda: linsep.LogisticRegression(lam=0.01, l1_ratio=0.5, tol=1e-10),
    lambda: linsep.LinearSVC(C=0.5, tol=1e-10),
    lambda: linsep.RidgeClassifier(alpha=3.0),
    lambda: linsep.SVC(C=2.0, gamma=0.05, tol=1e-9),
], ids=["ridge", "lasso", "elastic net, C=1", "elastic net by lambda", "svm", "least squares", "kernel"])
@pytest.mark.parametrize("name", ["OneVsOneClassifier", "OneVsRestClassifier"])
def test_wrappers_fit_what_scikit_learns_would(wine, inner, name):
    # C is about the rows of each fit: two thirds of them for a pair.
    X, y = wine
    ours = getattr(linsep, name)(inner()).fit(X, y)
    theirs = getattr(multiclass, name)(inner()).fit(X, y)
    for j, part in enumerate(theirs.estimators_):
        scores = part.decision_function(X)
        own = ours.model_.scores(X)[:, j]
        assert np.allclose(own, scores, atol=1e-3), j
    assert np.array_equal(ours.predict(X), theirs.predict(X))
