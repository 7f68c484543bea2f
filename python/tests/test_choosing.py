"""Searches, comparisons and estimators that choose for themselves, against scikit-learn's own."""

import numpy as np
import pytest

import linsep

sklearn = pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

from sklearn import linear_model  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_iris, make_classification  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold, cross_val_predict, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

COSTS = [0.01, 0.1, 1.0, 10.0]


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(150, 6, n_informative=4, flip_y=0.1, random_state=3)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def three():
    X, y = load_iris(return_X_y=True)
    return X, y


def theirs(**options):
    return linear_model.LogisticRegressionCV(tol=1e-8, max_iter=10_000, use_legacy_attributes=False, **options)


@pytest.mark.parametrize("rows", ["two", "three"])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "balanced_accuracy"])
def test_the_same_scores_and_choice_as_scikit_learn(rows, scoring, request):
    X, y = request.getfixturevalue(rows)
    ours = linsep.LogisticRegressionCV(Cs=COSTS, cv=4, scoring=scoring, tol=1e-6).fit(X, y)
    other = theirs(Cs=COSTS, cv=4, scoring=scoring, l1_ratios=(0.0,)).fit(X, y)
    np.testing.assert_allclose(ours.scores_, other.scores_, atol=2e-5)
    assert ours.C_ == other.C_
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-4)
    assert ours.certificate_["relative_gap"] < 1e-8
    assert np.array_equal(ours.predict(X), other.predict(X))


def test_a_lasso_sparse_rows_weights_and_given_folds(two):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = two
    weights = 1.0 + np.arange(len(y)) % 3
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    dense = linsep.LogisticRegressionCV(Cs=COSTS, l1_ratios=[0.5, 1.0], cv=folds, scoring="neg_log_loss").fit(X, y, weights)
    assert dense.scores_.shape == (3, 2, 4) and dense.coefs_paths_.shape == (3, 2, 4, 1, 7)
    other = linsep.LogisticRegressionCV(Cs=COSTS, l1_ratios=[0.5, 1.0], cv=folds, scoring="neg_log_loss")
    other.fit(sparse.csr_matrix(X), y, weights)
    np.testing.assert_allclose(dense.scores_, other.scores_, atol=1e-6)
    assert (dense.C_, dense.l1_ratio_) == (other.C_, other.l1_ratio_)
    # A point of the path of a fold is the fit to its rows.
    learn, _ = folds[0]
    alone = linsep.LogisticRegression(C=1.0, l1_ratio=1.0, tol=1e-6).fit(X[learn], y[learn], weights[learn])
    np.testing.assert_allclose(dense.coefs_paths_[0, 1, 2, 0, :-1], alone.coef_[0], atol=1e-4)


# Without an intercept one-hot targets of several classes are another problem than targets of ±1.
@pytest.mark.parametrize("rows, intercept", [("two", True), ("two", False), ("three", True)])
def test_every_row_left_out_as_scikit_learn_does(rows, intercept, request):
    X, y = request.getfixturevalue(rows)
    alphas = [0.01, 1.0, 30.0, 1000.0]
    ours = linsep.RidgeClassifierCV(alphas, fit_intercept=intercept, store_cv_results=True).fit(X, y)
    other = linear_model.RidgeClassifierCV(alphas, fit_intercept=intercept, store_cv_results=True).fit(X, y)
    assert ours.alpha_ == other.alpha_
    assert ours.best_score_ == pytest.approx(other.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.cv_results_, np.asarray(other.cv_results_).reshape(ours.cv_results_.shape), rtol=1e-6, atol=1e-9)
    assert np.array_equal(ours.predict(X), other.predict(X))
    # And what as many fits give.
    alone = linsep.RidgeClassifier(ours.alpha_, fit_intercept=intercept)
    scores = cross_val_predict(alone, X, y, cv=LeaveOneOut(), method="decision_function")
    targets = np.where(y[:, None] == ours.classes_, 1.0, -1.0)
    scores = scores if y.dtype.kind == "U" else 2 * scores - 1
    errors = (targets[:, 1] - scores) ** 2 if scores.ndim == 1 else ((targets - scores) ** 2).mean(axis=1)
    assert ours.best_score_ == pytest.approx(-errors.mean(), rel=1e-8)


def test_folds_and_scorers_of_a_ridge(three):
    X, y = three
    ours = linsep.RidgeClassifierCV([0.1, 10.0, 1e4], cv=4).fit(X, y)
    other = linear_model.RidgeClassifierCV([0.1, 10.0, 1e4], cv=StratifiedKFold(4)).fit(X, y)
    assert (ours.alpha_, ours.best_score_) == (other.alpha_, pytest.approx(other.best_score_))
    assert linsep.RidgeClassifierCV(scoring="accuracy").fit(X, y).best_score_ > 0.8


@pytest.mark.parametrize("estimator", [linsep.LogisticRegressionCV(Cs=3, cv=3), linsep.RidgeClassifierCV()])
def test_inside_scikit_learns_tools(estimator, two):
    X, y = two
    found = cross_validate(make_pipeline(StandardScaler(), estimator), X, y, cv=3, return_estimator=True)
    assert np.all(found["test_score"] > 0.6) and len(found["estimator"]) == 3
    in_two = cross_validate(estimator, X, y, cv=3, n_jobs=2)
    np.testing.assert_array_equal(in_two["test_score"], cross_validate(estimator, X, y, cv=3)["test_score"])


@pytest.mark.parametrize("folds", [4, StratifiedKFold(4)])
def test_a_search_is_a_grid_search(two, folds):
    X, y = two
    given = StratifiedKFold(4)
    grid = {"C": COSTS, "fit_intercept": [True, False]}
    numbers = np.empty(len(y))
    for at, (_, test) in enumerate(given.split(X, y)):
        numbers[test] = at
    found = linsep.tune(linsep.LogisticRegression(tol=1e-6), grid, X, y, folds=numbers if folds == 4 else folds, metric="neg_log_loss")
    other = GridSearchCV(linear_model.LogisticRegression(tol=1e-8, max_iter=10_000), grid, cv=given, scoring="neg_log_loss").fit(X, y)
    losses = {tuple(p.values()): -s for p, s in zip(other.cv_results_["params"], other.cv_results_["mean_test_score"])}
    assert len(found.trials) == 8
    for trial in found.trials:
        # Folds count by their rows here, alike there.
        expected = losses[trial["params"]["C"], trial["params"]["fit_intercept"]]
        assert trial["mean"] == pytest.approx(expected, rel=5e-3)
    assert found.best_params == other.best_params_
    assert found.best_estimator.C == other.best_params_["C"]
    frame = found.to_frame()
    assert list(frame.columns) == ["C", "fit_intercept", "mean", "se", "chosen"] and frame["chosen"].sum() == 1


def test_searches_of_frames_groups_time_and_single_rows():
    rng = np.random.default_rng(2)
    n = 120
    frame = pd.DataFrame({"a": rng.normal(size=n), "kind": rng.choice(["u", "v", "w"], n)})
    y = np.where(frame["a"] + (frame["kind"] == "u") + rng.normal(size=n) > 0, "yes", "no")
    one = linsep.tune(linsep.LogisticRegression(), {"C": [0.1, 1.0]}, frame, y, groups=np.arange(n) // 10, nested=3)
    assert one.nested["mean"] > 0 and one.metric == "log_loss"
    linsep.tune(linsep.LogisticRegression(), {"C": [0.1, 1.0]}, frame, y, time=pd.date_range("2020-01-01", periods=n).to_numpy(), folds=3)
    left = linsep.tune(linsep.LinearDiscriminantAnalysis(), {"shrinkage": [None, 0.5]}, frame[["a"]], y, folds="loo")
    assert left.trials[0]["folds"] == [] and left.best_estimator is not None
    brute = linsep.tune(linsep.LinearDiscriminantAnalysis(), {"shrinkage": [None, 0.5]}, frame[["a"]], y, folds=np.arange(n))
    for a, b in zip(left.trials, brute.trials):
        assert a["mean"] == pytest.approx(b["mean"], rel=1e-10)


def test_steps_are_told_and_end_the_search(two):
    X, y = two
    told = []
    linsep.tune(linsep.LinearSVC(loss="hinge"), {"C": COSTS}, X, y, folds=3, callback=told.append)
    folds = [step for step in told if step["kind"] == "fold"]
    assert len(folds) == 12 and folds[-1]["total"] == 12

    def stop(step):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        linsep.tune(linsep.LinearSVC(loss="hinge"), {"C": COSTS}, X, y, folds=3, callback=stop)
    steps = []
    linsep.LogisticRegressionCV(Cs=4, cv=3, verbose=steps.append).fit(X, y)
    assert sum(step["kind"] == "path" for step in steps) >= 12


def test_methods_are_compared(three):
    X, y = three
    found = linsep.compare(X, y, folds=5, methods=["lda", "logistic", "naive-bayes"])
    frame = found.to_frame()
    assert set(frame["name"]) == {"lda", "logistic", "naive-bayes", "majority", "single-column"}
    assert frame["mean"].is_monotonic_increasing and "majority class is worse" in found.finding
    again = linsep.compare(X, y, folds=5, methods=["lda", "logistic", "naive-bayes"], n_jobs=1)
    assert [m["folds"] for m in again.methods] == [m["folds"] for m in found.methods]
    assert "cannot be told apart" in str(found) or "best" in str(found)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda X, y: linsep.tune(linsep.LogisticRegression(), {"C": []}, X, y), "no values"),
        (lambda X, y: linsep.tune(linsep.LogisticRegression(), {"D": [1]}, X, y), "no parameter 'D'"),
        (lambda X, y: linsep.tune(linsep.LogisticRegression(), {"C": [-1.0]}, X, y), "C must be a positive"),
        (lambda X, y: linsep.tune(linsep.LinearSVC(), {"C": [1.0, 2.0]}, X, y, metric="log_loss"), "probabilities"),
        (lambda X, y: linsep.tune(linsep.LogisticRegression(), {"C": [1.0]}, X, y, folds=1000), "folds"),
        (lambda X, y: linsep.tune(linsep.LogisticRegression(), {"C": [1.0]}, X, y, folds="five"), "folds must be"),
        (lambda X, y: linsep.tune(linsep.LogisticRegression(), {"C": [1.0]}, X, y, metric="f1"), "metric is"),
        (lambda X, y: linsep.compare(X, y, methods=["forest"]), "methods is"),
        (lambda X, y: linsep.compare(X, y, folds="loo"), "folds of several rows"),
        (lambda X, y: linsep.compare(X, np.repeat("a", len(y))), "class"),
        (lambda X, y: linsep.LogisticRegressionCV(refit=False).fit(X, y), "refit=False"),
        (lambda X, y: linsep.LogisticRegressionCV(Cs=[]).fit(X, y), "at least one value"),
        (lambda X, y: linsep.LogisticRegressionCV(cv="many").fit(X, y), "cv"),
        (lambda X, y: linsep.RidgeClassifierCV(alphas=[-1.0]).fit(X, y), "alphas"),
        (lambda X, y: linsep.RidgeClassifierCV(cv=3, store_cv_results=True).fit(X, y), "incompatible"),
    ],
)
def test_what_is_wrong_is_said(wrong, message, two):
    with pytest.raises(ValueError, match=message):
        wrong(*two)


def test_a_class_of_one_row_cannot_be_left_out():
    with pytest.raises(ValueError, match="has one row"):
        linsep.RidgeClassifierCV().fit([[0.0], [1.0], [2.0]], [0, 0, 1])


def test_ill_conditioned_rows_are_left_out_by_fits():
    X, y = load_breast_cancer(return_X_y=True)
    found = linsep.RidgeClassifierCV([1e-3, 1.0]).fit(X, y)
    other = linear_model.RidgeClassifierCV([1e-3, 1.0]).fit(X, y)
    assert found.alpha_ == other.alpha_ and found.best_score_ == pytest.approx(other.best_score_, rel=1e-6)
