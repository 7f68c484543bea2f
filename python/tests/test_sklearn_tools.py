"""scikit-learn's tools take the estimators as their own."""

import joblib
import numpy as np
import pytest
import sklearn
from sklearn import datasets
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold, cross_val_predict, cross_val_score, learning_curve
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

import linsep

ALL = [
    linsep.LogisticRegression(), linsep.LinearSVC(), linsep.SVC(), linsep.RidgeClassifier(), linsep.LeastSquaresClassifier(),
    linsep.LinearDiscriminantAnalysis(), linsep.QuadraticDiscriminantAnalysis(), linsep.GaussianBayes(), linsep.GaussianNB(),
    linsep.PocketPerceptron(max_iter=5), linsep.SGDClassifier(max_iter=5),
]
NAMES = [type(estimator).__name__ for estimator in ALL]


@pytest.fixture
def wine():
    return datasets.load_wine(return_X_y=True)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", ALL, ids=NAMES)
def test_pipelines_and_cross_validation(wine, estimator):
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), estimator)
    scores = cross_val_score(pipeline, X, y, cv=3)
    assert scores.min() > 0.85
    assert is_classifier(estimator) and is_classifier(pipeline)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        check_is_fitted(estimator)
    check_is_fitted(pipeline.fit(X, y))


def test_a_grid_finds_what_the_fits_find(two_classes):
    X, y = two_classes
    grid = {"logisticregression__C": [0.3, 3.0], "logisticregression__l1_ratio": [0.0, 1.0]}
    folds = StratifiedKFold(3)
    search = GridSearchCV(make_pipeline(StandardScaler(), linsep.LogisticRegression()), grid, cv=folds, scoring="neg_log_loss").fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    best = search.cv_results_["mean_test_score"].max()
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        theirs = sklearn.linear_model.LogisticRegression(
            C=params["logisticregression__C"], l1_ratio=params["logisticregression__l1_ratio"], solver="saga", tol=1e-8, max_iter=5000
        )
        expected = cross_val_score(make_pipeline(StandardScaler(), theirs), X, y, cv=folds, scoring="neg_log_loss").mean()
        assert score == pytest.approx(expected, abs=1e-4)
    assert search.best_score_ == best
    assert np.array_equal(search.predict(X), search.best_estimator_.predict(X))


def test_searches_in_other_processes(two_classes):
    X, y = two_classes
    search = RandomizedSearchCV(linsep.LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, n_iter=2, cv=2, random_state=0, n_jobs=2)
    with joblib.parallel_config(backend="multiprocessing"):
        found = search.fit(X, y)
    alone = search.set_params(n_jobs=None).fit(X, y)
    assert found.cv_results_["mean_test_score"].tolist() == alone.cv_results_["mean_test_score"].tolist()


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "average_precision", "neg_brier_score"])
def test_scorers(two_classes, scoring):
    X, y = two_classes
    model = linsep.LogisticRegression().fit(X, y)
    theirs = sklearn.linear_model.LogisticRegression(solver="newton-cholesky", tol=1e-10).fit(X, y)
    assert get_scorer(scoring)(model, X, y) == pytest.approx(get_scorer(scoring)(theirs, X, y), abs=1e-3)


def test_predictions_of_folds(wine):
    X, y = wine
    found = cross_val_predict(linsep.LinearDiscriminantAnalysis(), X, y, cv=3, method="predict_proba")
    assert found.shape == (178, 3) and np.allclose(found.sum(axis=1), 1)


def test_output_of_transform_can_be_a_frame(wine):
    import pandas
    import polars

    X, y = wine
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    plain = linsep.LinearDiscriminantAnalysis().fit(X, y).transform(X)
    assert type(plain) is np.ndarray and plain.shape == (178, 2)
    found = linsep.LinearDiscriminantAnalysis().set_output(transform="pandas").fit(frame, y).transform(frame)
    assert isinstance(found, pandas.DataFrame) and np.allclose(found.to_numpy(), plain)
    assert found.columns.tolist() == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    assert found.index.equals(frame.index)
    found = linsep.LinearDiscriminantAnalysis().set_output(transform="polars").fit(X, y).transform(X)
    assert isinstance(found, polars.DataFrame)
    with sklearn.config_context(transform_output="pandas"):
        piped = make_pipeline(StandardScaler(), linsep.LinearDiscriminantAnalysis(n_components=1)).fit(frame, y)
        assert piped[:-1].transform(frame).shape == (178, 13)
        assert isinstance(piped.transform(frame), pandas.DataFrame) and piped.transform(frame).shape == (178, 1)


def test_discriminant_analysis_as_a_step(wine):
    X, y = wine
    reduced = make_pipeline(StandardScaler(), linsep.LinearDiscriminantAnalysis(n_components=2), linsep.LogisticRegression())
    assert cross_val_score(reduced, X, y, cv=3).min() > 0.9
    assert reduced.fit(X, y)[:-1].get_feature_names_out().tolist() == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]


def test_weights_are_routed_through_a_search(rng, two_classes):
    X, y = two_classes
    # Rows of weight zero have the wrong label: only who gets the weights is right.
    wrong = rng.random(len(y)) < 0.4
    spoiled, s = np.where(wrong, 1 - y, y), np.where(wrong, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = linsep.LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"C": [1.0]}, cv=3).fit(X, spoiled, sample_weight=s)
    direct = linsep.LogisticRegression().fit(X, spoiled, sample_weight=s)
    assert np.array_equal(search.best_estimator_.coef_, direct.coef_)
    assert not np.allclose(direct.coef_, linsep.LogisticRegression().fit(X, spoiled).coef_, atol=0.05)
    unweighted = GridSearchCV(linsep.LogisticRegression(), {"C": [1.0]}, cv=3).fit(X, spoiled)
    assert search.best_score_ > unweighted.best_score_ + 0.1


def test_routing_wants_to_be_told(two_classes):
    X, y = two_classes
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            GridSearchCV(linsep.LogisticRegression(), {"C": [1.0]}, cv=2).fit(X, y, sample_weight=np.ones(len(y)))
        requests = linsep.LogisticRegression().set_fit_request(sample_weight="mass").get_metadata_routing()
        assert requests.fit.requests == {"sample_weight": "mass"}
        cloned = sklearn.clone(linsep.LogisticRegression().set_fit_request(sample_weight=True))
        assert cloned.get_metadata_routing().fit.requests == {"sample_weight": True}
    with pytest.raises(RuntimeError, match="metadata routing"):
        linsep.LogisticRegression().set_fit_request(sample_weight=True)


def test_weights_reach_the_last_step_of_a_pipeline(rng, two_classes):
    X, y = two_classes
    s = rng.uniform(0, 2, len(y))
    piped = make_pipeline(StandardScaler(), linsep.LogisticRegression()).fit(X, y, logisticregression__sample_weight=s)
    direct = linsep.LogisticRegression().fit(StandardScaler().fit_transform(X), y, sample_weight=s)
    assert np.array_equal(piped[-1].coef_, direct.coef_)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(two_classes, method):
    X, y = two_classes
    chances = CalibratedClassifierCV(linsep.LinearSVC(), method=method, cv=3).fit(X, y).predict_proba(X)
    assert np.allclose(chances.sum(axis=1), 1)
    assert accuracy_score(y, chances[:, 1] > 0.5) > 0.7


def test_committees(wine):
    X, y = wine
    X = StandardScaler().fit_transform(X)
    members = [("a", linsep.LogisticRegression()), ("b", linsep.LinearDiscriminantAnalysis()), ("c", linsep.GaussianNB())]
    vote = VotingClassifier(members, voting="soft").fit(X, y)
    expected = np.mean([model.fit(X, y).predict_proba(X) for _, model in members], axis=0)
    assert np.allclose(vote.predict_proba(X), expected)
    assert StackingClassifier(members[:2], final_estimator=linsep.LogisticRegression(), cv=2).fit(X, y).score(X, y) > 0.95
    assert BaggingClassifier(linsep.LogisticRegression(), n_estimators=3, random_state=0).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
def test_scikit_learns_wrappers(wine, wrapper):
    X, y = wine
    X = StandardScaler().fit_transform(X)
    assert wrapper(linsep.LogisticRegression()).fit(X, y).score(X, y) > 0.97


def test_own_wrappers_are_scikit_learns_with_our_fits(wine):
    X, y = wine
    X = StandardScaler().fit_transform(X)
    for ours, theirs in ((linsep.OneVsOneClassifier, OneVsOneClassifier), (linsep.OneVsRestClassifier, OneVsRestClassifier)):
        own = ours(linsep.LogisticRegression(tol=1e-10)).fit(X, y)
        other = theirs(linsep.LogisticRegression(tol=1e-10)).fit(X, y)
        assert np.array_equal(own.predict(X), other.predict(X))
        assert np.allclose(own.coef_, np.vstack([part.coef_ for part in other.estimators_]), atol=1e-4)
    assert GridSearchCV(linsep.OneVsRestClassifier(linsep.LogisticRegression()), {"estimator__C": [0.1, 1.0]}, cv=2).fit(X, y).best_score_ > 0.9


def test_selection_of_features_by_coefficients(rng, two_classes):
    X, y = two_classes
    # The fourth column of the truth is zero; three more are noise.
    X = np.column_stack([X, rng.normal(size=(len(y), 3))])
    kept = SelectFromModel(linsep.LogisticRegression(lam=0.05, l1_ratio=1.0), threshold=1e-10).fit(X, y).get_support()
    assert kept[:2].all() and not kept.all()
    assert RFE(linsep.LogisticRegression(), n_features_to_select=2).fit(X, y).get_support()[:2].all()
    importance = permutation_importance(linsep.LogisticRegression().fit(X, y), X, y, n_repeats=3, random_state=0)
    assert importance.importances_mean.argmax() == 0


def test_columns_of_a_frame(two_classes):
    import pandas
    from test_inputs import people

    frame, y = people(pandas)
    encoded = make_column_transformer(
        (OneHotEncoder(), ["town", "size"]), (StandardScaler(), ["age", "income"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="default")
    piped = make_pipeline(encoded, linsep.LogisticRegression()).fit(frame, y)
    assert piped.score(frame, y) > 0.7


def test_learning_curves(two_classes):
    X, y = two_classes
    sizes, train, test = learning_curve(linsep.LogisticRegression(), X, y, cv=2, train_sizes=[0.5, 1.0])
    assert train.shape == test.shape == (2, 2)


def test_tags_say_what_is_taken():
    from sklearn.utils import get_tags

    assert get_tags(linsep.LogisticRegression()).input_tags.sparse
    assert get_tags(linsep.MultinomialNB()).input_tags.positive_only
    assert get_tags(linsep.SVC(kernel="precomputed")).input_tags.pairwise
    assert not get_tags(linsep.CategoricalNB()).input_tags.sparse
    assert get_tags(linsep.LinearDiscriminantAnalysis()).transformer_tags is not None
    assert get_tags(linsep.LogisticRegression()).estimator_type == "classifier"


def test_precomputed_kernels_are_cut_by_folds(two_classes):
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = two_classes
    given = cross_val_score(linsep.SVC(kernel="precomputed"), rbf_kernel(X, gamma=0.3), y, cv=3)
    assert np.allclose(given, cross_val_score(linsep.SVC(gamma=0.3), X, y, cv=3))


def test_warm_starts_arrive_at_the_same_place_sooner(two_classes):
    X, y = two_classes
    model = linsep.LogisticRegression(warm_start=True, tol=1e-10).fit(X, y)
    cold = model.coef_.copy()
    model.fit(X, y)
    assert np.allclose(model.coef_, cold, atol=1e-4)
    assert model.n_iter_[0] <= 2
