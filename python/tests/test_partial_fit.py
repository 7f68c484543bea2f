"""Rows in parts: the model is that of all rows at once, whatever the parts."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import linsep

scipy_sparse = pytest.importorskip("scipy.sparse")

CONTINUOUS = [
    linsep.GaussianNB(),
    linsep.GaussianNB(shared=True, smoothing_of="own"),
    linsep.LinearDiscriminantAnalysis(),
    linsep.LinearDiscriminantAnalysis(shrinkage=0.2),
    linsep.QuadraticDiscriminantAnalysis(),
    linsep.RidgeClassifier(alpha=0.5),
    linsep.LeastSquaresClassifier(),
]
COUNTS = [linsep.BernoulliNB(), linsep.MultinomialNB(alpha=0.5), linsep.PoissonNB(), linsep.CategoricalNB()]


def new(estimator):
    return type(estimator)(**estimator.get_params())


def scores(model, X):
    return model.predict_log_proba(X) if hasattr(model, "predict_log_proba") else model.decision_function(X)


def in_parts(estimator, X, y, cuts, weights=None):
    model = new(estimator)
    for part in np.split(np.arange(len(y)), cuts):
        model.partial_fit(X[part], y[part], classes=np.unique(y), sample_weight=None if weights is None else weights[part])
    return model


@pytest.mark.parametrize("cuts", [[], [1], [7, 8, 40], list(range(5, 85, 5))])
@pytest.mark.parametrize("estimator", CONTINUOUS, ids=repr)
def test_parts_of_numbers(estimator, cuts, three_classes, rng):
    X, y = three_classes
    order = rng.permutation(len(y))
    X, y, weights = X[order], y[order], rng.integers(1, 4, size=len(y)).astype(float)
    whole = new(estimator).fit(X, y, weights)
    parts = in_parts(estimator, X, y, cuts, weights)
    assert np.allclose(scores(parts, X), scores(whole, X), rtol=1e-9, atol=1e-9)
    assert parts.model_.n_rows == len(y)
    assert parts.objective_ == pytest.approx(whole.objective_, rel=1e-10)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("estimator", COUNTS, ids=repr)
def test_parts_of_counts(estimator, sparse, rng):
    if sparse and isinstance(estimator, linsep.CategoricalNB):
        pytest.skip("levels are not sparse")
    y = rng.integers(0, 3, size=60)
    X = rng.poisson(1.0 + y[:, None], size=(60, 4)).clip(0, 3).astype(float)
    given = scipy_sparse.csr_array(X) if sparse else X
    whole = new(estimator).fit(given, y)
    parts = in_parts(estimator, given, y, [10, 11, 50])
    assert np.array_equal(scores(parts, X), scores(whole, X))
    assert np.array_equal(parts.class_count_, np.bincount(y))
    assert whole.verify(given, y)["passed"] and parts.verify(given, y)["passed"]


@pytest.mark.parametrize("estimator", CONTINUOUS + COUNTS, ids=repr)
def test_sums_survive_pickles_and_copies(estimator, rng):
    y = np.arange(40) % 2
    X = rng.poisson(2.0 + y[:, None], size=(40, 3)).astype(float)
    model = new(estimator).partial_fit(X[:20], y[:20], classes=[0, 1])
    again, other = pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    for one in (model, again):
        one.partial_fit(X[20:], y[20:])
    assert np.array_equal(scores(model, X), scores(again, X))
    assert other.model_.n_rows == 20


def test_a_fit_can_go_on_and_a_fit_begins_anew(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    model = linsep.GaussianNB().fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert np.allclose(model.theta_, linsep.GaussianNB().fit(X, y).theta_, rtol=1e-12)
    assert model.fit(X[:10], y[:10]).model_.n_rows == 10
    lda = linsep.LinearDiscriminantAnalysis().fit(X[:20], y[:20])
    with pytest.warns(UserWarning, match="begins anew"):
        lda.partial_fit(X[20:], y[20:])
    assert lda.model_.n_rows == 10


def test_predictions_wait_for_every_class_and_enough_rows(rng):
    X, y = rng.normal(size=(20, 3)), np.repeat([0, 1], 10)
    model = linsep.LinearDiscriminantAnalysis().partial_fit(X[:5], y[:5], classes=[0, 1])
    with pytest.raises(linsep.NotFittedError, match=r"no rows of the classes \[1\]"):
        model.predict(X)
    model.partial_fit(X[10:11], y[10:11])
    assert model.predict(X).shape == (20,)
    short = linsep.QuadraticDiscriminantAnalysis().partial_fit(X[[0, 1, 10, 11]], y[[0, 1, 10, 11]], classes=[0, 1])
    with pytest.raises(linsep.NotFittedError, match="not enough"):
        short.predict(X)
    short.partial_fit(X[2:10], y[2:10]).partial_fit(X[12:], y[12:])
    assert short.model_.n_rows == 20


def test_rows_that_are_refused_leave_no_trace(rng):
    X, y = rng.poisson(3.0, size=(20, 2)).astype(float), np.arange(20) % 2
    model = linsep.MultinomialNB().fit(X, y)
    before = scores(model, X)
    with pytest.raises(ValueError, match="Negative values in data passed to MultinomialNB"):
        model.partial_fit(-X, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.partial_fit(np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.partial_fit(X[:, :1], y)
    assert np.array_equal(scores(model, X), before) and model.model_.n_rows == 20


def test_what_rows_cannot_confirm_is_not_verified(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    with pytest.raises(linsep.LinsepError, match="prove more"):
        linsep.LinearDiscriminantAnalysis().partial_fit(X, y, classes=[0, 1]).verify(X, y)
    assert linsep.LinearDiscriminantAnalysis().partial_fit(X, y, classes=[0, 1]).fit(X, y).verify(X, y)["passed"]
    with pytest.raises(linsep.LinsepError, match="no row has"):
        linsep.CategoricalNB().fit([[0], [2]], [0, 1]).verify([[0], [2]], [0, 1])


def test_levels_may_come_later():
    model = linsep.CategoricalNB().partial_fit([[0], [1]], [0, 1], classes=[0, 1]).partial_fit([[3], [0]], [1, 0])
    assert model.n_categories_.tolist() == [4]
    assert model.category_count_[0].tolist() == [[2, 0, 0, 0], [0, 1, 0, 1]]
    assert model.predict([[3]]).tolist() == [1]


@pytest.mark.parametrize("estimator", COUNTS + [linsep.GaussianNB()], ids=repr)
def test_joint_probabilities_of_scikit_learn(estimator, rng):
    theirs = pytest.importorskip("sklearn.naive_bayes")
    y = np.arange(60) % 3
    X = rng.poisson(1.0 + y[:, None], size=(60, 4)).astype(float)
    own = new(estimator).fit(X, y)
    joint = own.predict_joint_log_proba(X)
    evidence = np.logaddexp.reduce(joint, axis=1, keepdims=True)
    assert np.allclose(joint - evidence, own.predict_log_proba(X), atol=1e-9)
    kind = getattr(theirs, type(estimator).__name__, None)
    if kind is not None:
        params = {name: value for name, value in own.get_params().items() if name in kind().get_params()}
        other = kind(**params).fit(X, y)
        assert np.allclose(joint, other.predict_joint_log_proba(X), rtol=1e-9)
        for name in ("feature_count_", "class_count_", "feature_log_prob_", "epsilon_", "theta_", "var_"):
            if hasattr(other, name) and not isinstance(getattr(other, name), list):
                assert np.allclose(getattr(own, name), getattr(other, name), rtol=1e-9), name


def test_digits_are_as_good_as_scikit_learns():
    sklearn = pytest.importorskip("sklearn.datasets")
    from sklearn.naive_bayes import GaussianNB

    X, y = sklearn.load_digits(return_X_y=True)
    ours, theirs = linsep.GaussianNB().fit(X[::2], y[::2]), GaussianNB().fit(X[::2], y[::2])
    # A column that is the same in all rows says nothing here, and an ε there.
    assert ours.score(X[1::2], y[1::2]) == pytest.approx(theirs.score(X[1::2], y[1::2]), abs=0.02)


def test_no_warnings(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for estimator in CONTINUOUS:
            in_parts(estimator, X, y, [15])
