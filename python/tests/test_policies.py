"""Policies: what the command can be told about columns and decisions, every estimator can be told, too."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import linsep


@pytest.fixture
def frame(rng):
    """200 rows with two columns of numbers, one of text and a label that depends on all."""
    data = pd.DataFrame({"age": rng.normal(size=200), "dose": rng.normal(size=200), "site": rng.choice(["x", "y", "z"], 200)})
    chance = 1 / (1 + np.exp(-(1.5 * data.age - data.dose + (data.site == "x"))))
    return data, np.where(rng.random(200) < chance, "yes", "no")


def holes(frame, rng):
    return frame.mask(rng.random(frame.shape) < 0.05)


#: Not fitted by the one way that takes them.
WITHOUT = (
    "FittedModel",
    "MultiLabelClassifier",
    "ComplementNB",
    "LogisticRegressionCV",
    "RidgeClassifierCV",
    "LinkRegression",
    "SigmoidLeastSquares",
)


def test_every_estimator_takes_them_and_copies_keep_them():
    for name in linsep.__all__:
        kind = getattr(linsep, name)
        if not hasattr(kind, "get_params") or name in WITHOUT:
            continue
        inner = [linsep.LogisticRegression()] if name.startswith("OneVs") else []
        model = kind(*inner, missing="mean", reject=0.2)
        again = clone(model)
        assert (again.missing, again.reject, again.unknown) == ("mean", 0.2, "error")
        assert "missing='mean'" in repr(model) and "unknown" not in repr(model)
    with pytest.raises(TypeError, match="unexpected keyword argument 'mising'"):
        linsep.LogisticRegression(mising="mean")


def test_missing_cells(frame, rng):
    X, y = frame
    X = holes(X, rng)
    with pytest.raises(linsep.LinsepError) as raised:
        linsep.LogisticRegression().fit(X, y)
    assert "--" not in str(raised.value)
    filled = linsep.LogisticRegression(missing="mean").fit(X, y)
    assert all(label in ("yes", "no") for label in filled.predict(X))
    left_out = linsep.LogisticRegression(missing="drop").fit(X, y)
    whole = X.notna().all(axis=1)
    assert np.allclose(left_out.coef_, linsep.LogisticRegression().fit(X[whole], y[whole]).coef_, atol=1e-6)
    assert (left_out.predict(X) == None).tolist() == (~whole).tolist()  # noqa: E711
    # The same for arrays: numbers alone.
    numbers = X[["age", "dose"]]
    of_array = linsep.LogisticRegression(missing="mean").fit(numbers.to_numpy(), y)
    of_frame = linsep.LogisticRegression(missing="mean").fit(numbers, y)
    assert np.array_equal(of_array.coef_, of_frame.coef_)
    assert np.array_equal(of_array.predict(numbers.to_numpy()), of_frame.predict(numbers))


@pytest.mark.parametrize("policy", ["zero", "missing", "error"])
def test_levels_that_training_did_not_have(frame, policy):
    X, y = frame
    model = linsep.LogisticRegression(unknown=policy).fit(X, y)
    strange = X.head(3).assign(site=["x", "w", "y"])
    if policy == "error":
        with pytest.raises(linsep.LinsepError, match="`w`"):
            model.predict(strange)
        return
    found = model.predict(strange)
    assert (found[1] is None) == (policy == "missing") and found[0] is not None


def test_a_rare_level_in_a_fold_follows_the_policy(frame):
    X, y = frame
    X = X.assign(site=["rare", *X.site[1:]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cross_val_score(linsep.LogisticRegression(unknown="zero"), X, y, cv=5, error_score="raise")
    assert scores.size == 5
    with pytest.raises(ValueError, match="rare"):
        cross_val_score(linsep.LogisticRegression(), X, y, cv=5, error_score="raise")
    # A declared category is known, whether or not a fold has it.
    declared = X.assign(site=pd.Categorical(X.site))
    assert cross_val_score(linsep.LogisticRegression(), declared, y, cv=5, error_score="raise").size == 5


def test_levels_references_and_products(frame):
    X, y = frame
    with pytest.raises(linsep.LinsepError, match="max_levels"):
        linsep.LogisticRegression(max_levels=2).fit(X, y)
    model = linsep.LogisticRegression(reference={"site": "y"}).fit(X, y)
    assert model.get_feature_names_out().tolist() == ["age", "dose", "site=x", "site=z"]
    model = linsep.LogisticRegression(basis="quadratic", basis_columns=["age", "dose"]).fit(X, y)
    assert {"age^2", "age*dose", "dose^2"} <= set(model.get_feature_names_out())
    assert model.coef_.shape[1] == model.get_feature_names_out().size
    products = linsep.LogisticRegression(basis="products", tol=1e-6).fit(X[["age", "dose"]].to_numpy(), y)
    by_hand = np.column_stack([X.age, X.dose, X.age * X.dose])
    assert np.allclose(products.coef_, linsep.LogisticRegression(tol=1e-6).fit(by_hand, y).coef_, atol=1e-5)


def test_quantiles_are_those_of_scikit_learn(frame):
    from sklearn.preprocessing import QuantileTransformer

    X, y = frame
    numbers = X[["age", "dose"]].to_numpy()
    model = linsep.LogisticRegression(transformation="quantile", tol=1e-6).fit(numbers, y)
    theirs = QuantileTransformer(n_quantiles=200).fit_transform(numbers)
    assert np.allclose(model.coef_, linsep.LogisticRegression(tol=1e-6).fit(theirs, y).coef_, atol=1e-4)


def test_offsets_and_factors_of_the_penalty(frame):
    X, y = frame
    numbers = X[["age", "dose"]]
    model = linsep.LogisticRegression(offset="dose", C=np.inf).fit(numbers, y)
    assert model.coef_.shape == (1, 1) and model.n_features_in_ == 2
    score = model.decision_function(numbers)
    assert np.allclose(score, model.coef_[0, 0] * X.age + model.intercept_[0] + X.dose, atol=1e-9)
    free = linsep.LogisticRegression(penalty_factors={"age": 0.0}, C=1e-6).fit(numbers, y)
    assert abs(free.coef_[0, 0]) > 0.5 and abs(free.coef_[0, 1]) < 1e-3
    with pytest.raises(ValueError, match="loss and a penalty"):
        linsep.LinearDiscriminantAnalysis(penalty_factors={"age": 0.0}).fit(numbers, y)


def test_decisions(two_classes):
    X, y = two_classes
    plain = linsep.LogisticRegression().fit(X, y)
    p = plain.predict_proba(X)[:, 1]
    assert np.array_equal(linsep.LogisticRegression(threshold=0.3).fit(X, y).predict(X), (p > 0.3).astype(int))
    assert np.array_equal(
        linsep.LogisticRegression(score_threshold=1.0).fit(X, y).predict(X), (plain.decision_function(X) > 1).astype(int)
    )
    # A miss that costs 4 is worth a false alarm from a fifth on.
    for costs in ({(1, 0): 4.0}, [[0.0, 1.0], [4.0, 0.0]]):
        assert np.array_equal(linsep.LogisticRegression(costs=costs).fit(X, y).predict(X), (p > 0.2).astype(int))
    rejecting = linsep.LogisticRegression(reject=0.2).fit(X, y).predict(X)
    assert [label is None for label in rejecting] == (np.minimum(p, 1 - p) > 0.2).tolist()
    for wrong in (dict(threshold=0.2, costs={(0, 1): 2.0}), dict(costs={(0, "b"): 1.0}), dict(threshold=1.5), dict(tie="none"),
                  dict(calibration_folds=3), dict(basis="cubic"), dict(missing="median"), dict(unknown="none"), dict(max_levels=0)):
        with pytest.raises(ValueError) as raised:
            linsep.LogisticRegression(**wrong).fit(X, y)
        assert "--" not in str(raised.value)


def test_true_priors(two_classes):
    X, y = two_classes
    plain = linsep.LogisticRegression().fit(X, y)
    learned = np.bincount(y) / y.size
    for said in ({0: 0.9, 1: 0.1}, [0.9, 0.1]):
        model = linsep.LogisticRegression(true_priors=said).fit(X, y)
        shift = np.log(0.1 / learned[1]) - np.log(0.9 / learned[0])
        expected = 1 / (1 + np.exp(-(plain.decision_function(X) + shift)))
        assert np.allclose(model.predict_proba(X)[:, 1], expected)
        assert np.allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    with pytest.raises(ValueError, match="sum to one"):
        linsep.LogisticRegression(true_priors=[0.9, 0.2]).fit(X, y)


@pytest.mark.parametrize("wrapper", [linsep.OneVsRestClassifier, linsep.OneVsOneClassifier])
def test_calibrated_probabilities_of_several_classes(three_classes, wrapper):
    X, y = three_classes
    assert not hasattr(wrapper(linsep.LinearSVC()).fit(X, y), "predict_proba")
    model = wrapper(linsep.LinearSVC(), calibration="platt").fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (90, 3) and np.allclose(p.sum(axis=1), 1)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).mean() > 0.99
    assert -np.log(p[np.arange(90), np.searchsorted(model.classes_, y)]).mean() < np.log(3)


def test_calibration_of_two_classes(two_classes):
    X, y = two_classes
    for kind in ("platt", "isotonic", "temperature"):
        model = linsep.LinearSVC(calibration=kind, calibration_folds=4).fit(X, y)
        p = model.predict_proba(X)[:, 1]
        assert ((0 <= p) & (p <= 1)).all() and np.mean((p > 0.5) == y) > 0.7
    assert not hasattr(linsep.LinearSVC(), "predict_proba") and hasattr(linsep.LinearSVC(calibration="platt"), "predict_proba")


def test_searches_over_policies(frame):
    X, y = frame
    search = GridSearchCV(linsep.LogisticRegression(unknown="zero"), {"basis": [None, "products"], "threshold": [0.4, 0.5]}, cv=3)
    assert set(search.fit(X, y).best_params_) == {"basis", "threshold"}


def test_files_keep_them(frame, tmp_path, rng):
    X, y = frame
    X = holes(X, rng)
    model = linsep.LogisticRegression(missing="mean", unknown="zero", basis="products", threshold=0.4).fit(X, y)
    model.save(tmp_path / "model.json")
    again = linsep.load(tmp_path / "model.json")
    strange = X.assign(site="w")
    assert np.array_equal(again.predict(strange), model.predict(strange))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert model.verify(X, y)["passed"]


def test_the_command_fits_the_same(frame, tmp_path, command):
    X, y = frame
    X.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    flags = ["--basis", "products", "--threshold", "0.4", "--penalty", "ridge:0.1", "--standardize", "no", "--unknown", "zero"]
    command("fit", tmp_path / "rows.csv", "--target", "label", *flags, "-o", tmp_path / "model.json")
    theirs = linsep.load(tmp_path / "model.json")
    ours = linsep.LogisticRegression(basis="products", threshold=0.4, lam=0.1, unknown="zero").fit(X, y)
    assert theirs.get_feature_names_out().tolist() == ours.get_feature_names_out().tolist()
    assert np.allclose(theirs.coef_, ours.coef_, atol=1e-3)
    assert (theirs.predict(X) == ours.predict(X)).mean() > 0.99


def test_binarize_of_frames_with_text(frame):
    X, y = frame
    model = linsep.BernoulliNB(binarize=0.5).fit(X, y)
    by_hand = X.assign(age=(X.age > 0.5) * 1.0, dose=(X.dose > 0.5) * 1.0)
    assert np.allclose(model.predict_proba(X), linsep.BernoulliNB(binarize=None).fit(by_hand, y).predict_proba(by_hand))


def test_proofs_are_data():
    X = pd.DataFrame({"age": [0.0, 1.0, 2.0, 3.0], "dose": [1.0, 0.0, 1.0, 0.0]})
    y = [0, 0, 1, 1]
    with pytest.raises(linsep.NoOptimumError) as raised:
        linsep.LogisticRegression(C=np.inf).fit(X, y)
    proof = raised.value
    assert proof.kind == "complete" and "age" in proof.columns and proof.rows.size == 0
    scores = X.to_numpy() @ proof.direction[0] + proof.intercept[0]
    assert ((scores > 0) == np.array(y, bool)).all()
    with pytest.raises(linsep.NoOptimumError) as raised:
        linsep.LogisticRegression(C=np.inf).fit(X.to_numpy(), y)
    assert 0 in raised.value.columns
    with pytest.raises(linsep.NoOptimumError) as raised:
        linsep.infer(X, y)
    assert raised.value.direction is not None
    with pytest.raises(linsep.NotSeparableError) as raised:
        linsep.HardMarginSVC().fit([[0.0], [2.0], [1.0], [3.0]], y)
    proof = raised.value
    # The weights on rows give one point in both hulls.
    sides = {0: 0.0, 1: 0.0}
    for entry in proof.witness["rows"]:
        sides[y[entry["row"]]] += entry["weight"] * [0.0, 2.0, 1.0, 3.0][entry["row"]]
    assert sides[0] == pytest.approx(sides[1]) and set(proof.rows.tolist()) <= {0, 1, 2, 3}
    assert linsep.LinsepError("x").help is None and linsep.NoOptimumError("x").direction is None


def test_evaluation(two_classes):
    X, y = two_classes
    model = linsep.LogisticRegression().fit(X, y)
    found = linsep.evaluate(model, X, y, details=True, want={"recall": 0.9})
    assert found.accuracy.value == pytest.approx(model.score(X, y))
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high
    from sklearn import metrics

    assert found.log_loss.value == pytest.approx(metrics.log_loss(y, model.predict_proba(X)))
    assert found.auc.value == pytest.approx(metrics.roc_auc_score(y, model.decision_function(X)))
    assert np.array_equal(found.confusion, metrics.confusion_matrix(y, model.predict(X)))
    weights = np.linspace(0, 2, y.size)
    assert linsep.evaluate(model, X, y, sample_weight=weights).accuracy.value == pytest.approx(model.score(X, y, weights))
    assert "accuracy" in str(found) and json.dumps(found.details)
    against = linsep.evaluate(model, X, y, against=linsep.GaussianNB().fit(X, y), replicates=199)
    assert "mcnemar" in against.details["against"]
    import scipy.sparse

    sparse = scipy.sparse.csr_matrix(X)
    of_sparse = linsep.LogisticRegression().fit(sparse, y)
    assert linsep.evaluate(of_sparse, sparse, y).accuracy.value == pytest.approx(of_sparse.score(sparse, y))
    with pytest.raises(ValueError, match="previously unseen labels"):
        linsep.evaluate(model, X, y + 5)


def test_geometry(three_classes):
    X, y = three_classes
    model = linsep.LinearDiscriminantAnalysis().fit(X, y)
    found = linsep.geometry(model, X, y, projection=True, mahalanobis=True)
    assert np.array_equal(found.rows["prediction"], model.predict(X))
    assert np.allclose(found.rows["distance"], model.distance(X)["distance"])
    gaps = np.linalg.norm(X - found.rows["projection"], axis=1)
    assert np.allclose(gaps, np.abs(found.rows["distance"]))
    assert found.rows["mahalanobis"].shape == (90, 3) and ((found.rows["margin"] > 0) == (model.predict(X) == y)).all()
    plain = linsep.geometry(model, regions=True)
    assert plain.rows is None and len(plain.boundaries) == 3 and len(plain.details["inequalities"]) == 3


def test_several_labels(three_classes, tmp_path):
    X, y = three_classes
    labels = pd.DataFrame({"big": (X[:, 0] > 0.5).astype(int), "ash": (y == "ash").astype(int)})
    model = linsep.MultiLabelClassifier(linsep.LogisticRegression()).fit(X, labels)
    single = linsep.LogisticRegression().fit(X, labels.ash)
    assert np.array_equal(model.predict(X)[:, 1], single.predict(X))
    assert np.allclose(model.predict_proba(X)[:, 1], single.predict_proba(X)[:, 1])
    model.save(tmp_path / "labels.json")
    again = linsep.load(tmp_path / "labels.json")
    assert again.labels_ == ["big", "ash"] and np.array_equal(again.predict(X), model.predict(X))
    assert model.score(X, labels) == (model.predict(X) == labels.to_numpy()).all(axis=1).mean()
    with pytest.raises(ValueError, match="the label 'ash' has 1 classes"):
        model.fit(X, labels.assign(ash=1))


LABELS = [
    np.array([False, True]), np.array([1, 5], np.int8), np.array([2.0, 3.0], np.float32), np.array([b"a", b"b"]),
    np.array(["2020-01-01", "2021-06-01"], "datetime64[D]"), np.array([1, "a"], object), np.array([True, "a"], object),
]


@pytest.mark.parametrize("pair", LABELS, ids=lambda pair: f"{pair.dtype}-{pair[0]}")
def test_labels_survive_files_with_their_type(two_classes, tmp_path, pair):
    X, y = two_classes
    model = linsep.LogisticRegression().fit(X, pair[y])
    assert set(model.predict(X).tolist()) == set(pair.tolist())
    model.save(tmp_path / "model.json")
    again = linsep.load(tmp_path / "model.json")
    assert again.classes_.dtype == model.classes_.dtype and again.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in again.classes_.tolist()] == [type(label) for label in model.classes_.tolist()]
    assert np.array_equal(again.predict(X), model.predict(X)) and again.verify(X, pair[y])["passed"]


def test_labels_that_cannot_be_told_apart(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="both written '1'"):
        linsep.LogisticRegression().fit(X, np.array([1, "1"], object)[y])
    with pytest.raises(ValueError, match="NaT"):
        linsep.LogisticRegression().fit(X, np.array(["NaT", "2020-01-01"], "datetime64[D]")[y])


def test_threads(two_classes, monkeypatch):
    from linsep._fit import _cores, thread_count

    assert thread_count(-1) == _cores() and thread_count(-_cores()) == 1 and thread_count(None) == 0
    with pytest.warns(UserWarning, match="4 threads for each core"):
        assert thread_count(10_000) == 4 * _cores()
    X, y = two_classes
    with pytest.raises(ValueError, match="standardize must be True or False"):
        linsep.LogisticRegression(standardize="no").fit(X, y)
    with pytest.raises(ValueError):
        linsep.GaussianNB(priors=[0.5, 0.50001]).fit(X, y)


def test_other_ways_to_keep_a_model(three_classes):
    import pickle

    import cloudpickle
    import skops.io

    X, y = np.abs(three_classes[0]), three_classes[1]
    models = [
        linsep.LogisticRegression(), linsep.SVC(), linsep.GaussianNB(), linsep.MultinomialNB(), linsep.ComplementNB(),
        linsep.LinearDiscriminantAnalysis(), linsep.OneVsRestClassifier(linsep.LinearSVC()), linsep.LogisticRegression(basis="products"),
    ]
    for model in models:
        model.fit(X, y)
        written = skops.io.dumps(model)
        kinds = skops.io.get_untrusted_types(data=written)
        assert all(kind.startswith("linsep.") for kind in kinds), kinds
        copies = [
            skops.io.loads(written, trusted=kinds), cloudpickle.loads(cloudpickle.dumps(model)), pickle.loads(pickle.dumps(model)),
        ]
        for again in copies:
            assert np.array_equal(again.predict(X), model.predict(X)) and again.summary() == model.summary()


def test_machines_from_files_are_complete(three_classes, tmp_path):
    X, y = three_classes
    for labels in (y, np.where(y == "ash", "ash", "other")):
        model = linsep.SVC().fit(X, labels)
        model.save(tmp_path / "model.json")
        again = linsep.load(tmp_path / "model.json")
        for name in ("support_", "n_support_", "support_vectors_", "dual_coef_", "intercept_"):
            assert np.array_equal(getattr(again, name), getattr(model, name)), name


def test_support_vectors_of_other_rows_are_refused(two_classes):
    X, y = two_classes
    model = linsep.LinearSVC(loss="hinge").fit(X, y)
    assert model.support_table(X, y)
    with pytest.raises(linsep.LinsepError, match="not the rows of the fit"):
        model.support_table(X[::-1], y[::-1])


def test_models_say_what_they_are(two_classes, tmp_path):
    X, y = two_classes
    model = linsep.LogisticRegression(basis="products").fit(X, y)
    assert "<svg" in linsep.LogisticRegression().fit(X, y)._repr_html_()
    model.save(tmp_path / "model.json")
    assert repr(linsep.load(tmp_path / "model.json")) == "FittedModel(risk: 10 features, classes 0, 1)"
