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
    # Six hundred digits are enough, and scikit-learn needs long for all of them.
    X, y = X[:600], y[:600]
    return (StandardScaler().fit_transform(X) if scaled else X), y


def text_like(rng, rows=200, cols=1000, classes=2):
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


@pytest.mark.parametrize("name, C", [
    ("iris", 0.1), ("iris", 100.0), ("wine", 1.0), ("breast cancer", 0.1), ("breast cancer", 1.0), ("digits", 1.0),
])
def test_ridge_logistic_regression(name, C):
    X, y = load(name)
    ours = linsep.LogisticRegression(C=C, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10).fit(X, y)
    own = agree(ours, theirs, X, y, C=C)
    assert ours.objective_ == pytest.approx(own, rel=1e-9)
    # Strong convexity turns an objective within 1e-10 into weights; the intercept of several classes is free up to a shift.
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
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
    X, y = text_like(rng, rows=200, cols=200, classes=4)
    ours = linsep.LogisticRegression(tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=2000).fit(X, y)
    agree(ours, theirs, X, y)


@pytest.mark.parametrize("C, l1_ratio", [(0.1, 1.0), (0.1, 0.5), (1.0, 1.0)])
def test_lasso_and_elastic_net(C, l1_ratio, rng):
    # The two columns of noise are there to get weight zero; with C=1 saga does not arrive on the collinear columns.
    X, y = load("breast cancer")
    X = np.column_stack([X if C < 1 else X[:, [0, 1, 4, 8, 9]], rng.normal(size=(len(y), 2))])
    ours = linsep.LogisticRegression(C=C, l1_ratio=l1_ratio, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(C=C, l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=20_000).fit(X, y)
    agree(ours, theirs, X, y, C=C, l1_ratio=l1_ratio)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3)
    # saga leaves numbers behind where it has not quite arrived at zero.
    assert set(np.flatnonzero(np.abs(theirs.coef_) < 1e-12)) <= set(np.flatnonzero(ours.coef_ == 0))
    assert C == 1 or (ours.coef_ == 0).any()


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
    # Targets of several classes are 0 and 1 here and ±1 there.
    scale, shift = (1, 0) if len(ours.classes_) == 2 else (2, 1)
    assert np.allclose(scale * ours.coef_, theirs.coef_, atol=1e-8)
    assert np.allclose(scale * ours.intercept_ - shift, theirs.intercept_, atol=1e-8)
    assert np.allclose(scale * ours.decision_function(X) - shift, theirs.decision_function(X), atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["iris", "wine", "breast cancer"])
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_linear_discriminant_analysis(name, solver):
    X, y = load(name, scaled=False)
    ours = linsep.LinearDiscriminantAnalysis().fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    # What all classes have in common decides nothing and depends on the origin.
    own, other = ours.decision_function(X), theirs.decision_function(X)
    if own.ndim == 2:
        own, other = own - own[:, :1], other - other[:, :1]
    assert np.allclose(own, other, rtol=1e-5, atol=1e-5)
    assert np.allclose(ours.means_, theirs.means_, rtol=1e-10)
    assert np.allclose(ours.priors_, theirs.priors_)


def test_linear_discriminant_analysis_with_shrinkage():
    X, y = load("wine")
    ours = linsep.LinearDiscriminantAnalysis(shrinkage=0.3).fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_linear_discriminant_analysis_with_priors():
    # scikit-learn averages the classes' covariances by the priors, too; with as many rows in each that changes nothing.
    X, y = load("iris")
    priors = [0.2, 0.3, 0.5]
    ours = linsep.LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_transform_of_discriminant_analysis(name):
    X, y = load(name)
    ours = linsep.LinearDiscriminantAnalysis().fit(X, y).transform(X)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis().fit(X, y).transform(X)
    signs = np.sign((ours * theirs).sum(axis=0))
    assert np.allclose(ours, theirs * signs, atol=1e-6)


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_quadratic_discriminant_analysis(name):
    X, y = load(name)
    ours = linsep.QuadraticDiscriminantAnalysis().fit(X, y)
    theirs = discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["iris", "wine", "breast cancer"])
def test_gaussian_naive_bayes(name):
    # Without smoothing, which is a share of the column's own variance here and of the largest one there.
    X, y = load(name, scaled=False)
    ours, theirs = linsep.GaussianNB(var_smoothing=0).fit(X, y), naive_bayes.GaussianNB(var_smoothing=0).fit(X, y)
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
        ours = linsep.LinearSVC(loss=loss, penalise_intercept=True, tol=1e-9).fit(X, y)
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


def test_a_path_has_the_fits_of_its_points():
    X, y = load("breast cancer")
    C = np.array([0.01, 0.1, 1.0])
    path = linsep.regularization_path(X, y, l1_ratio=1.0, lambdas=1 / (C * len(y)))
    assert np.allclose(path.Cs, C)
    assert path.converged.all() and (path.gap <= 1e-8).all()
    for at, c in enumerate(C):
        fit = linsep.LogisticRegression(C=c, l1_ratio=1.0).fit(X, y)
        assert path.objective[at] == pytest.approx(fit.objective_, rel=1e-7)
        assert np.allclose(path.coefs[at], fit.coef_, atol=1e-2)
        assert path.nonzero[at] == np.count_nonzero(path.coefs[at])


def test_a_path_starts_where_the_first_feature_enters():
    from sklearn.svm import l1_min_c

    X, y = load("breast cancer")
    path = linsep.regularization_path(X, y, n_lambdas=5)
    # scikit-learn's bound has no intercept; with columns centred on the mean of the labels the two are one.
    C = l1_min_c(X, y, loss="log", fit_intercept=False)
    gradient = np.abs(X.T @ (y - y.mean())).max()
    assert path.lambdas[0] == pytest.approx(gradient / len(y), rel=1e-6)
    assert path.nonzero[0] == 0 and path.nonzero[1] > 0
    assert C == pytest.approx(1 / gradient, rel=1e-6)
