"""Where scikit-learn minimises the same objective or has the same formula, the results are the same.

The objectives are computed here from both sides' coefficients. Ours may not be higher than scikit-learn's by more than 1e-6 of
it, and where scikit-learn is run to the end the two agree to 1e-6.
"""

import numpy as np
import pytest
import scipy.sparse
from sklearn import datasets, discriminant_analysis, linear_model, naive_bayes, svm
from sklearn.preprocessing import StandardScaler

import linsep
from objectives import kernel_dual, penalised

LOADERS = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "digits": datasets.load_digits,
    "breast cancer": datasets.load_breast_cancer,
}


def load(name, scaled=True):
    X, y = LOADERS[name](return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), y


def text_like(rng, rows=400, cols=1500, classes=2):
    """Counts of words: few per row, most words rare, some that tell the classes apart."""
    y = rng.integers(0, classes, rows)
    frequency = 1 / np.arange(1, cols + 1)
    frequency /= frequency.sum()
    telling = np.exp(rng.normal(size=(classes, cols)))
    rates = 40 * frequency * telling[y]
    return scipy.sparse.csr_matrix(rng.poisson(rates).astype(float)), y


def agree(ours, theirs, X, y, **objective):
    own, other = penalised(ours, X, y, **objective), penalised(theirs, X, y, **objective)
    assert own <= other * (1 + 1e-6)
    assert own == pytest.approx(other, rel=1e-6)
    return own


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_ridge_logistic_regression(name, C):
    X, y = load(name)
    ours = linsep.LogisticRegression(C=C, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10).fit(X, y)
    own = agree(ours, theirs, X, y, C=C)
    assert ours.objective_ == pytest.approx(own, rel=1e-9)
    # Strong convexity turns an objective within 1e-10 into weights; the intercept of several classes is free up to a shift.
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("name", LOADERS)
def test_default_settings_end_no_higher_than_scikit_learns(name):
    X, y = load(name, scaled=False)
    ours = linsep.LogisticRegression().fit(X, y)
    theirs = linear_model.LogisticRegression(max_iter=1000).fit(X, y)
    assert penalised(ours, X, y) <= penalised(theirs, X, y) * (1 + 1e-6)


def test_sparse_text(rng):
    X, y = text_like(rng)
    ours = linsep.LogisticRegression(tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000).fit(X, y)
    agree(ours, theirs, X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_sparse_text_of_several_classes(rng):
    X, y = text_like(rng, rows=300, cols=400, classes=4)
    ours = linsep.LogisticRegression(tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=2000).fit(X, y)
    agree(ours, theirs, X, y)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_lasso_and_elastic_net(l1_ratio):
    X, y = load("breast cancer")
    ours = linsep.LogisticRegression(C=0.1, l1_ratio=l1_ratio, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(C=0.1, l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=20_000).fit(X, y)
    agree(ours, theirs, X, y, C=0.1, l1_ratio=l1_ratio)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3)
    # saga leaves no exact zeros behind where it has not quite arrived; those that it has are zeros here, too.
    assert (ours.coef_ == 0).sum() >= (np.abs(theirs.coef_) < 1e-12).sum() > 0


def test_lasso_of_several_classes():
    X, y = load("wine")
    ours = linsep.LogisticRegression(C=0.1, l1_ratio=1.0, tol=1e-9).fit(X, y)
    theirs = linear_model.LogisticRegression(C=0.1, l1_ratio=1.0, solver="saga", tol=1e-9, max_iter=20_000).fit(X, y)
    agree(ours, theirs, X, y, C=0.1, l1_ratio=1.0)


def test_no_penalty(two_classes):
    X, y = two_classes
    ours = linsep.LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(X, y)
    agree(ours, theirs, X, y, C=np.inf)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-5)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


def test_no_intercept(two_classes):
    X, y = two_classes
    ours = linsep.LogisticRegression(fit_intercept=False, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(fit_intercept=False, solver="newton-cholesky", tol=1e-10).fit(X, y)
    agree(ours, theirs, X, y)
    assert not np.any(ours.intercept_)


def test_weights_of_rows_and_classes(rng, two_classes):
    X, y = two_classes
    s = rng.uniform(0.1, 3.0, len(y))
    for class_weight in ({0: 1.0, 1: 3.0}, "balanced"):
        ours = linsep.LogisticRegression(class_weight=class_weight, tol=1e-11).fit(X, y, sample_weight=s)
        theirs = linear_model.LogisticRegression(class_weight=class_weight, solver="newton-cholesky", tol=1e-11)
        theirs.fit(X, y, sample_weight=s)
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)
        assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("alpha", [0.5, 10.0])
def test_ridge_classifier(name, alpha):
    X, y = load(name)
    ours = linsep.RidgeClassifier(alpha=alpha).fit(X, y)
    theirs = linear_model.RidgeClassifier(alpha=alpha).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-8)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-8)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["iris", "wine", "breast cancer"])
@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_linear_discriminant_analysis(name, solver):
    X, y = load(name, scaled=False)
    ours = linsep.LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-6)
    assert np.allclose(ours.means_, theirs.means_, rtol=1e-10)
    assert np.allclose(ours.priors_, theirs.priors_)


def test_linear_discriminant_analysis_with_shrinkage_and_priors():
    X, y = load("wine")
    for shrinkage in (0.3, "auto"):
        given = {"solver": "lsqr", "shrinkage": shrinkage, "priors": [0.2, 0.3, 0.5]}
        ours = linsep.LinearDiscriminantAnalysis(**given).fit(X, y)
        theirs = discriminant_analysis.LinearDiscriminantAnalysis(**given).fit(X, y)
        assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6), shrinkage


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_transform_of_discriminant_analysis(name):
    X, y = load(name)
    ours = linsep.LinearDiscriminantAnalysis().fit(X, y).transform(X)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis().fit(X, y).transform(X)
    signs = np.sign((ours * theirs).sum(axis=0))
    assert np.allclose(ours, theirs * signs, atol=1e-6)


@pytest.mark.parametrize("name", ["iris", "wine", "breast cancer"])
def test_quadratic_discriminant_analysis(name):
    X, y = load(name)
    ours = linsep.QuadraticDiscriminantAnalysis().fit(X, y)
    theirs = discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", LOADERS)
def test_gaussian_naive_bayes(name):
    X, y = load(name, scaled=False)
    ours, theirs = linsep.GaussianNB().fit(X, y), naive_bayes.GaussianNB().fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    assert np.allclose(ours.theta_, theirs.theta_, rtol=1e-10)
    assert np.allclose(ours.var_, theirs.var_, rtol=1e-7)
    assert np.allclose(ours.class_prior_, theirs.class_prior_)


def words(rng):
    X, y = text_like(rng, rows=200, cols=120, classes=3)
    return X, y


@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("kind", ["MultinomialNB", "BernoulliNB"])
def test_naive_bayes_of_words(rng, kind, alpha):
    X, y = words(rng)
    if kind == "BernoulliNB":
        X = (X > 0).astype(float)
    for given in (X, X.toarray()):
        ours, theirs = getattr(linsep, kind)(alpha=alpha).fit(given, y), getattr(naive_bayes, kind)(alpha=alpha).fit(given, y)
        assert np.allclose(ours.predict_log_proba(given), theirs.predict_log_proba(given), atol=1e-8)
        assert np.allclose(ours.feature_log_prob_, theirs.feature_log_prob_, atol=1e-10)
        assert np.array_equal(ours.predict(given), theirs.predict(given))


def test_bernoulli_binarizes(rng):
    X, y = words(rng)
    dense = X.toarray()
    ours, theirs = linsep.BernoulliNB(binarize=1.5).fit(dense, y), naive_bayes.BernoulliNB(binarize=1.5).fit(dense, y)
    assert np.allclose(ours.predict_proba(dense), theirs.predict_proba(dense), atol=1e-8)


def test_categorical_naive_bayes(rng):
    X = rng.integers(0, [2, 3, 5], size=(150, 3))
    y = (X.sum(axis=1) + rng.integers(0, 4, 150)) % 3
    ours, theirs = linsep.CategoricalNB().fit(X, y), naive_bayes.CategoricalNB().fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_linear_svm_with_a_penalised_intercept():
    # LIBLINEAR penalises the intercept; ours is free unless it is asked to do the same.
    X, y = load("breast cancer")
    for loss in ("squared_hinge", "hinge"):
        ours = linsep.LinearSVC(loss=loss, intercept="penalised", tol=1e-9).fit(X, y)
        theirs = svm.LinearSVC(loss=loss, dual=True, tol=1e-8, max_iter=1_000_000, random_state=0).fit(X, y)
        agree(ours, theirs, X, y, loss=loss, penalised_intercept=True)
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-2)


def test_linear_svm_with_a_free_intercept_is_a_linear_kernel():
    X, y = load("breast cancer")
    ours = linsep.LinearSVC(loss="hinge", tol=1e-9).fit(X, y)
    theirs = svm.SVC(kernel="linear", tol=1e-8).fit(X, y)
    own = penalised(ours, X, y, loss="hinge")
    assert own <= penalised(theirs, X, y, loss="hinge") * (1 + 1e-6)
    assert own == pytest.approx(penalised(theirs, X, y, loss="hinge"), rel=1e-5)


@pytest.mark.parametrize("kernel", [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.05, "C": 10.0},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": "auto"},
    {"kernel": "linear", "C": 0.1},
], ids=["default", "rbf", "poly", "linear"])
def test_kernel_machines_of_two_classes(kernel):
    from sklearn.metrics.pairwise import pairwise_kernels

    X, y = load("breast cancer")
    ours, theirs = linsep.SVC(tol=1e-9, **kernel).fit(X, y), svm.SVC(tol=1e-8, **kernel).fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    settings = {k: v for k, v in kernel.items() if k in ("degree", "coef0")}
    settings |= {} if kernel["kernel"] == "linear" else {"gamma": theirs._gamma}
    K = pairwise_kernels(X, metric=kernel["kernel"], **settings)
    values = []
    for model in (ours, theirs):
        dual = np.zeros(len(y))
        dual[model.support_] = np.ravel(model.dual_coef_)
        values.append(kernel_dual(dual, K, kernel.get("C", 1.0)))
    assert values[0] >= values[1] * (1 - 1e-6)
    assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_kernel_machines_of_several_classes(shape):
    X, y = load("wine")
    ours = linsep.SVC(tol=1e-9, decision_function_shape=shape).fit(X, y)
    theirs = svm.SVC(tol=1e-8, decision_function_shape=shape).fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_a_path_ends_where_a_fit_does():
    X, y = load("breast cancer")
    C = np.array([0.01, 0.1, 1.0])
    path = linsep.regularization_path(X, y, l1_ratio=1.0, lambdas=1 / (C[::-1] * len(y))[::-1])
    fits = [linear_model.LogisticRegression(C=c, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=20_000).fit(X, y) for c in C]
    for c, fit, lam, coef in zip(C, fits, path.lambdas, path.coefs):
        assert lam == pytest.approx(1 / (c * len(y)))
        assert np.allclose(coef, fit.coef_, atol=1e-2)
