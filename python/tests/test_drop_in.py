"""Habits of scikit-learn: keywords, attributes that are assigned, signs, precision, warnings."""

import pickle
import warnings

import numpy as np
import pytest

import linsep

sklearn = pytest.importorskip("sklearn")
from sklearn import discriminant_analysis, linear_model, naive_bayes, svm
from sklearn.datasets import load_iris

SAME = [
    (linsep.LogisticRegression, linear_model.LogisticRegression),
    (linsep.SGDClassifier, linear_model.SGDClassifier),
    (linsep.Perceptron, linear_model.Perceptron),
    (linsep.RidgeClassifier, linear_model.RidgeClassifier),
    (linsep.LinearSVC, svm.LinearSVC),
    (linsep.SVC, svm.SVC),
    (linsep.LinearDiscriminantAnalysis, discriminant_analysis.LinearDiscriminantAnalysis),
    (linsep.QuadraticDiscriminantAnalysis, discriminant_analysis.QuadraticDiscriminantAnalysis),
    (linsep.GaussianNB, naive_bayes.GaussianNB),
    (linsep.BernoulliNB, naive_bayes.BernoulliNB),
    (linsep.MultinomialNB, naive_bayes.MultinomialNB),
    (linsep.CategoricalNB, naive_bayes.CategoricalNB),
]


@pytest.mark.parametrize("ours, theirs", SAME, ids=lambda kind: kind.__name__)
def test_every_keyword_is_known(ours, theirs):
    assert set(theirs().get_params()) <= set(ours().get_params())


@pytest.mark.parametrize("make", [linsep.LogisticRegression, linsep.LinearSVC, linsep.RidgeClassifier, linsep.LinearDiscriminantAnalysis])
def test_predictions_follow_coefficients_that_are_assigned(make, two_classes, tmp_path):
    X, y = two_classes
    model = make().fit(X, y)
    before = model.predict(X)
    model.coef_ = -model.coef_
    model.intercept_ = -model.intercept_
    assert np.array_equal(model.predict(X), 1 - before)
    assert np.array_equal(model.predict(X[:1]), 1 - before[:1])
    assert np.allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])
    if hasattr(model, "predict_proba"):
        assert np.array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    for claim in (lambda: model.save(tmp_path / "m.json"), lambda: model.verify(X, y)):
        with pytest.raises(linsep.LinsepError, match="was changed since"):
            claim()
    assert np.array_equal(model.fit(X, y).predict(X), before)


def test_predictions_follow_coefficients_that_are_changed_in_place(three_classes):
    X, y = three_classes
    model = linsep.LogisticRegression().fit(X, y)
    model.coef_[:] = 0
    model.intercept_[:] = [0, 1, 0]
    assert set(model.predict(X)) == {"birch"}
    assert np.allclose(model.predict_proba(X), [1 / (2 + np.e), np.e / (2 + np.e), 1 / (2 + np.e)])


def test_what_a_fit_found_cannot_be_assigned(two_classes):
    model = linsep.SVC(kernel="linear").fit(*two_classes)
    for name in ("coef_", "intercept_", "certificate_", "stop_"):
        with pytest.raises(AttributeError, match="cannot be assigned"):
            setattr(model, name, 1)
    with pytest.raises(ValueError):
        model.coef_[0, 0] = 1
    with pytest.raises(ValueError, match="shape"):
        linsep.LogisticRegression().fit(*two_classes).coef_ = [1.0]


def test_sparse_coefficients(two_classes):
    X, y = two_classes
    model = linsep.LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, y)
    scores = model.decision_function(X)
    assert hasattr(model.sparsify().coef_, "toarray")
    assert hasattr(pickle.loads(pickle.dumps(model)).coef_, "toarray")
    assert np.array_equal(model.decision_function(X), scores)
    assert isinstance(model.densify().coef_, np.ndarray)


@pytest.mark.parametrize("penalty, same", [("l1", {"l1_ratio": 1}), ("l2", {}), (None, {"C": np.inf})])
def test_the_former_penalty(penalty, same, two_classes):
    with pytest.warns(FutureWarning, match="'penalty' was deprecated"):
        model = linsep.LogisticRegression(penalty).fit(*two_classes)
    assert np.array_equal(model.coef_, linsep.LogisticRegression(**same).fit(*two_classes).coef_)


def test_single_precision(three_classes):
    X, y = three_classes
    X = X.astype(np.float32)
    for make in (linsep.LogisticRegression, linsep.LinearDiscriminantAnalysis, linsep.RidgeClassifier):
        model = make().fit(X, y)
        assert model.coef_.dtype == model.intercept_.dtype == np.float32
        assert np.allclose(model.coef_, make().fit(X.astype(float), y).coef_, rtol=1e-4)
    assert linsep.GaussianNB().fit(X, y).theta_.dtype == np.float32
    assert linsep.LinearSVC().fit(X, y).coef_.dtype == np.float64


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_the_same_tol_gives_coefficients_as_good(tol, C, two_classes):
    X, y = two_classes
    exact = linsep.LogisticRegression(C=C, tol=1e-13).fit(X, y).coef_
    ours = linsep.LogisticRegression(C=C, tol=tol, solver="lbfgs").fit(X, y)
    theirs = linear_model.LogisticRegression(C=C, tol=tol, max_iter=10_000).fit(X, y)
    assert ours.certificate_["relative_gap"] <= tol**2
    # Either may stop with some luck: a factor and a floor.
    assert np.abs(ours.coef_ - exact).max() <= 10 * np.abs(theirs.coef_ - exact).max() + tol


def test_pairs_have_scikit_learns_signs():
    X, y = load_iris(return_X_y=True)
    ours, theirs = linsep.SVC(kernel="linear", tol=1e-5).fit(X, y), svm.SVC(kernel="linear", tol=1e-6).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3) and np.allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    ours, theirs = linsep.SVC(tol=1e-5).fit(X, y), svm.SVC(tol=1e-6).fit(X, y)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert ours._gamma == pytest.approx(theirs._gamma)


@pytest.mark.parametrize("kernel", ["precomputed", "callable"])
def test_kernel_values_of_several_classes(kernel):
    X, y = load_iris(return_X_y=True)
    linear = linsep.SVC(kernel="linear").fit(X, y)
    if kernel == "callable":
        model = linsep.SVC(kernel=lambda a, b: a @ b.T).fit(X, y)
        scores = model.decision_function(X[::7])
    else:
        model = linsep.SVC(kernel="precomputed").fit(X @ X.T, y)
        scores = model.decision_function(X[::7] @ X.T)
    assert np.array_equal(model.support_, linear.support_)
    assert np.allclose(scores, linear.decision_function(X[::7]), atol=1e-3)


def test_probabilities_of_a_machine():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(FutureWarning, match="`probability` parameter was deprecated"):
        model = linsep.SVC(probability=True, random_state=0).fit(X, y)
    found = model.predict_proba(X)
    assert np.allclose(found.sum(axis=1), 1) and (found >= 0).all()
    assert np.mean(found.argmax(axis=1) == y) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = svm.SVC(probability=True, random_state=0).fit(X, y).predict_proba(X)
    assert np.abs(found - theirs).max() < 0.15
    assert not hasattr(linsep.SVC(), "predict_proba")


def test_a_covariance_by_another_estimator():
    from sklearn.covariance import OAS

    X, y = load_iris(return_X_y=True)
    for ours, theirs, solver in [
        (linsep.LinearDiscriminantAnalysis, discriminant_analysis.LinearDiscriminantAnalysis, "lsqr"),
        (linsep.QuadraticDiscriminantAnalysis, discriminant_analysis.QuadraticDiscriminantAnalysis, "eigen"),
    ]:
        given = {"solver": solver, "covariance_estimator": OAS(), "priors": [0.2, 0.3, 0.5]}
        assert np.allclose(ours(**given).fit(X, y).predict_proba(X), theirs(**given).fit(X, y).predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("reg_param", [0.01, 0.5, 1.0])
def test_reg_param(reg_param):
    X, y = load_iris(return_X_y=True)
    ours = linsep.QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(X, y)
    theirs = discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    for one, other in zip(ours.scalings_, theirs.scalings_):
        assert np.allclose(one, other)


def test_a_singular_covariance_is_a_linalg_error(rng):
    X, y = rng.normal(size=(9, 4)), np.array([1] * 6 + [2] * 3)
    with pytest.raises(np.linalg.LinAlgError, match="class 2 is not full rank") as caught:
        linsep.QuadraticDiscriminantAnalysis().fit(X, y)
    assert isinstance(caught.value, linsep.LinsepError)


@pytest.mark.parametrize("loss, penalty", [("hinge", "l2"), ("log_loss", "elasticnet"), ("squared_hinge", "l1")])
def test_losses_without_stochastic_steps_are_solved(loss, penalty, two_classes):
    X, y = two_classes
    model = linsep.SGDClassifier(loss, penalty=penalty, alpha=0.01).fit(X, y)
    assert model.stop_ == "converged" and model.certificate_["relative_gap"] <= 1e-3
    if loss == "hinge":
        assert np.allclose(model.coef_, linsep.LinearSVC(loss="hinge", lam=0.01).fit(X, y).coef_, atol=0.05)


def test_help_is_always_there(two_classes):
    X, y = two_classes
    for fit in (lambda: linsep.LogisticRegression(C=np.inf).fit(X, (X[:, 0] > 0).astype(int)), lambda: linsep.GaussianNB().fit(X * np.nan, y)):
        with pytest.raises(linsep.LinsepError) as caught:
            fit()
        assert caught.value.help is None or isinstance(caught.value.help, str)


@pytest.mark.parametrize("load", ["load_iris", "load_wine", "load_breast_cancer", "load_digits"])
@pytest.mark.parametrize("ours, theirs", SAME[-6:-1], ids=lambda kind: kind.__name__)
def test_the_same_predictions_on_toy_sets(load, ours, theirs):
    from sklearn import datasets

    X, y = getattr(datasets, load)(return_X_y=True)
    if ours is linsep.QuadraticDiscriminantAnalysis:
        if load in ("load_digits", "load_breast_cancer"):
            pytest.skip("scikit-learn takes a variance below 1e-4 for none and refuses")
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert np.array_equal(ours().fit(X, y).predict(X), theirs().fit(X, y).predict(X))


@pytest.mark.parametrize("kind", ["BernoulliNB", "MultinomialNB", "CategoricalNB"])
@pytest.mark.parametrize("classes", [[0], [0, 1, 2]])
@pytest.mark.parametrize("fit_prior", [True, False])
def test_counts_predict_before_there_is_a_model(kind, classes, fit_prior, rng):
    """One class, and classes that have no rows yet: what scikit-learn predicts, and no proof."""
    theirs = pytest.importorskip("sklearn.naive_bayes")
    y = rng.choice([c for c in classes if c != 1], size=40)
    X = rng.poisson(1.0 + y[:, None], size=(40, 3)).clip(0, 2)
    own = getattr(linsep, kind)(fit_prior=fit_prior).partial_fit(X, y, classes=classes)
    other = getattr(theirs, kind)(fit_prior=fit_prior).partial_fit(X, y, classes=classes)
    assert np.array_equal(own.predict(X), other.predict(X))
    assert np.allclose(own.predict_proba(X), other.predict_proba(X), rtol=1e-12, atol=1e-300)
    for name in ("class_count_", "class_log_prior_", "feature_log_prob_", "feature_count_", "category_count_"):
        if hasattr(other, name):
            for a, b in zip(getattr(own, name), getattr(other, name)):
                assert np.allclose(a, b, rtol=1e-12), name
    with pytest.raises(linsep.NotFittedError, match="no model to save or to prove"):
        own.summary()
    for ask in (lambda: own.save("never.json"), lambda: own.verify(X, y), lambda: own.distance(X)):
        with pytest.raises(linsep.NotFittedError, match="no model to save or to prove"):
            ask()
    again = pickle.loads(pickle.dumps(own))
    assert np.array_equal(again.predict_proba(X), own.predict_proba(X))
    if len(classes) > 1:
        # With rows of every class it is a model like any other.
        own.partial_fit(X[:3], [0, 1, 2])
        whole = getattr(linsep, kind)(fit_prior=fit_prior).fit(np.vstack([X, X[:3]]), np.concatenate([y, [0, 1, 2]]))
        assert np.array_equal(own.predict_proba(X), whole.predict_proba(X)) and own.certificate_


@pytest.mark.parametrize("kind", ["BernoulliNB", "MultinomialNB"])
def test_a_smoothing_for_each_column(kind, rng):
    theirs = pytest.importorskip("sklearn.naive_bayes")
    y = np.arange(60) % 3
    X = rng.poisson(1.0 + y[:, None], size=(60, 4)) * (np.arange(4) % 2)
    alpha = np.array([0.5, 1.0, 2.0, 1e-3])
    own = getattr(linsep, kind)(alpha=alpha).fit(X, y)
    if kind == "MultinomialNB":
        other = theirs.MultinomialNB(alpha=alpha).fit(X, y)
        assert np.allclose(own.predict_log_proba(X), other.predict_log_proba(X), rtol=1e-10)
        assert np.allclose(own.feature_log_prob_, other.feature_log_prob_, rtol=1e-12)
    else:
        # scikit-learn adds an array of columns to one of classes here; the definition column by column.
        for j, a in enumerate(alpha):
            one = theirs.BernoulliNB(alpha=a).fit(X[:, [j]], y)
            assert np.allclose(own.feature_log_prob_[:, [j]], one.feature_log_prob_, rtol=1e-12)
    # Equal numbers are one number.
    same = getattr(linsep, kind)(alpha=np.full(4, 0.5)).fit(X, y).predict_log_proba(X)
    assert np.allclose(same, getattr(linsep, kind)(alpha=0.5).fit(X, y).predict_log_proba(X), rtol=1e-10)
    for wrong, said in ((alpha[:3], "3 elements instead of 4"), (-alpha, "greater than 0"), (alpha * np.nan, "greater than 0")):
        with pytest.raises(ValueError, match=said):
            getattr(linsep, kind)(alpha=wrong).fit(X, y)


def test_no_step_is_the_start(two_classes):
    X, y = two_classes
    for params in ({}, {"solver": "lbfgs"}, {"solver": "newton-cg"}, {"C": np.inf}, {"l1_ratio": 1.0, "solver": "saga"}):
        with pytest.warns(linsep.ConvergenceWarning):
            model = linsep.LogisticRegression(max_iter=0, **params).fit(X, y)
        assert not model.coef_.any() and not model.intercept_.any() and model.n_iter_ == 0, params
        assert np.array_equal(model.predict_proba(X), np.full((len(X), 2), 0.5))
        assert model.stop_ == "iteration_limit"
    # A warm start stays where it is.
    warm = linsep.LogisticRegression(warm_start=True).fit(X, y)
    before = warm.coef_.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.allclose(warm.set_params(max_iter=0).fit(X, y).coef_, before, rtol=1e-12)


def test_rows_of_negative_weight_are_left_out_by_svc(two_classes):
    X, y = two_classes
    weights = np.where(np.arange(len(y)) % 3 == 0, -1.0, 2.0)
    with pytest.warns(UserWarning, match="negative weight"):
        model = linsep.SVC(kernel="linear").fit(X, y, sample_weight=weights)
    same = linsep.SVC(kernel="linear").fit(X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0])
    assert np.allclose(model.coef_, same.coef_, rtol=1e-4)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        linsep.SVC().fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="same class"):
        linsep.SVC().fit(X, y, sample_weight=(y == y[0]).astype(float))
    # The others still refuse.
    with pytest.raises(ValueError, match="Negative values"):
        linsep.LogisticRegression().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "params, said",
    [
        ({"solver": "lbfgs", "l1_ratio": 1.0}, "supports only 'l2' or None"),
        ({"solver": "sag", "l1_ratio": 0.5}, "supports only 'l2' or None"),
        ({"solver": "saga", "dual": True}, "supports only dual=False"),
        ({"solver": "liblinear", "l1_ratio": 0.5}, "Only 'saga' solver supports elasticnet"),
        ({"solver": "liblinear", "C": np.inf}, "penalty=None is not supported for the liblinear"),
        ({"solver": "liblinear"}, "does not support multiclass"),
    ],
)
def test_a_solver_by_its_name_refuses_what_it_refuses_there(params, said, rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    with pytest.raises(ValueError, match=said):
        linsep.LogisticRegression(**params).fit(X, y)
    sklearn = pytest.importorskip("sklearn.linear_model")
    with pytest.raises(ValueError, match=said):
        sklearn.LogisticRegression(**params).fit(X, y)
    # By the name of no algorithm everything is solved.
    linsep.LogisticRegression(**{**params, "solver": "auto", "C": 1.0}).fit(X, y)


def test_ties_are_broken_only_where_scores_belong_to_classes(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 3
    model = linsep.SVC(break_ties=True, decision_function_shape="ovo").fit(X, y)
    with pytest.raises(ValueError, match="break_ties must be False"):
        model.predict(X)
    assert linsep.SVC(decision_function_shape="ovo").fit(X, y).predict(X).shape == (40,)
    assert linsep.SVC().break_ties is False


@pytest.mark.parametrize("ties", [True, False])
def test_files_remember_how_ties_are_broken(ties, rng, tmp_path):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 3
    linsep.SVC(break_ties=ties).fit(X, y).save(tmp_path / "m.json")
    again = linsep.load(tmp_path / "m.json")
    assert isinstance(again, linsep.SVC) and again.break_ties is ties
