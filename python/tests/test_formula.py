"""Formulas of frames, and what columns add to scores."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import linsep


def people(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "age": rng.uniform(20, 80, n),
        "ldl": rng.uniform(1, 9, n),
        "town": rng.choice(["Graz", "Linz", "Wien"], n),
        "smokes": rng.choice(["no", "yes"], n),
    })
    score = 0.05 * (frame.age - 50) + 0.8 * np.log(frame.ldl) + (frame.town == "Wien") - 1
    frame["chd"] = np.where(score + rng.logistic(size=n) > 0, "sick", "well")
    return frame


FORMULA = "chd ~ age * town + log(ldl) + ns(age, 3) + C(smokes, sum)"


def test_the_target_is_the_left_side_or_y():
    frame = people()
    by_name = linsep.LogisticRegression().fit(frame, formula=FORMULA)
    by_y = linsep.LogisticRegression().fit(frame.drop(columns="chd"), frame["chd"], formula=FORMULA.split("~")[1])
    both = linsep.LogisticRegression().fit(frame, frame["chd"], formula=FORMULA)
    assert by_name.classes_.tolist() == ["sick", "well"]
    assert by_name.feature_names_in_.tolist() == ["age", "town", "ldl", "smokes"]
    assert by_name.n_features_in_ == 4
    for other in (by_y, both):
        np.testing.assert_array_equal(by_name.decision_function(frame), other.decision_function(frame))
    assert by_name.verify(frame, None)["passed"]
    assert "age * town" in by_name.summary()
    # Columns that the formula does not name may be there or not, in any order.
    shuffled = frame[["smokes", "ldl", "town", "age"]].assign(more=1)
    np.testing.assert_array_equal(by_name.predict(frame), by_name.predict(shuffled))
    again = pickle.loads(pickle.dumps(by_name))
    np.testing.assert_array_equal(again.predict(frame), by_name.predict(frame))


def test_the_columns_are_those_written_out():
    frame = people()
    found = linsep.LogisticRegression(tol=1e-10).fit(frame, formula="chd ~ age + log(ldl) + C(town, ref = 'Linz')")
    by_hand = np.column_stack([frame.age, np.log(frame.ldl), frame.town == "Graz", frame.town == "Wien"]).astype(float)
    plain = linsep.LogisticRegression(tol=1e-10).fit(by_hand, frame.chd)
    np.testing.assert_allclose(found.decision_function(frame), plain.decision_function(by_hand), atol=1e-5)


def test_a_saved_formula_predicts(tmp_path):
    frame = people()
    model = linsep.LogisticRegression().fit(frame, formula="chd ~ age + log(ldl)")
    model.save(tmp_path / "m.json")
    loaded = linsep.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict(frame[["age", "ldl"]]), model.predict(frame))


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_other_frames(kind):
    frame = people()
    library = pytest.importorskip(kind)
    other = library.from_pandas(frame) if kind == "polars" else library.Table.from_pandas(frame)
    formula = "chd ~ age + town"
    wanted = linsep.LogisticRegression().fit(frame, formula=formula).predict(frame)
    model = linsep.LogisticRegression().fit(other, formula=formula)
    assert model.predict(other).tolist() == wanted.tolist()


def test_what_is_wrong_is_said():
    frame = people()
    fit = linsep.LogisticRegression().fit
    with pytest.raises(linsep.LinsepError, match="no function `lgo`"):
        fit(frame, formula="chd ~ lgo(age)")
    with pytest.raises(ValueError, match="predicts 'ill', which is no column"):
        fit(frame, formula="ill ~ age")
    with pytest.raises(ValueError, match="no left side"):
        fit(frame, formula="age")
    with pytest.raises(linsep.LinsepError, match="no column `weight`"):
        fit(frame, formula="chd ~ weight")
    with pytest.raises(TypeError, match="frame with named columns"):
        fit(np.ones((4, 2)), [0, 1, 0, 1], formula="~ x0")
    with pytest.raises(TypeError, match="formula must be text"):
        fit(frame, formula=3)
    with pytest.raises(ValueError, match="needs columns that X does not have: ldl"):
        fit(frame, formula="chd ~ log(ldl)").predict(frame[["age"]])
    with pytest.raises(ValueError, match="requires y to be passed"):
        fit(frame)


def test_inference_takes_formulas():
    frame = people()
    found = linsep.infer(frame, formula="chd ~ age + town")
    assert found.names == ["(intercept)", "age", "town=Linz", "town=Wien"]
    without = linsep.infer(frame, formula="chd ~ 0 + age + town")
    assert without.names == ["age", "town=Graz", "town=Linz", "town=Wien"]
    with pytest.raises(ValueError, match="requires y"):
        linsep.infer(frame)


def two() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(90, 4))
    return x, (x[:, 0] - x[:, 1] + rng.normal(size=90) > 0).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        linsep.LogisticRegression(), linsep.LinearSVC(), linsep.LinearDiscriminantAnalysis(), linsep.RidgeClassifier(),
        linsep.GaussianNB(), linsep.SVC(kernel="rbf"), linsep.LogisticRegression(C=np.inf),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("several", [False, True])
def test_contributions_sum_to_the_score(model, several):
    x, y = two()
    y = y + (x[:, 2] > 0.5) if several else y
    model.fit(x, y)
    found = model.explain(x)
    scores = model.model_.scores(x)
    sums = np.atleast_3d(found.values.reshape(len(x), scores.shape[1], -1)).sum(axis=2) + found.intercept
    # In units of what is added up: a kernel sums over all support rows.
    size = np.abs(found.values.reshape(len(x), scores.shape[1], -1)).sum(axis=2) + np.abs(found.intercept)
    assert (np.abs(sums - scores) <= 1e-12 * np.maximum(size, 1)).all()
    if not type(model).__name__ == "SVC":
        assert found.names == ["x0", "x1", "x2", "x3"]
    row = found.to_frame(0, top=2)
    np.testing.assert_allclose(row.sum().to_numpy(), scores[0], atol=1e-9)


def test_text_and_missing_cells():
    frame = people()
    model = linsep.LogisticRegression().fit(frame, formula="chd ~ age + town + log(ldl)")
    found = model.explain(frame)
    assert found.names == ["age", "town", "log(ldl)"] and found.values.shape == (len(frame), 3)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.intercept, model.decision_function(frame), atol=1e-12)
    assert found.scores == ["well"] and "120 rows" in repr(found)


def test_sparse_rows_are_explained_by_what_is_there():
    sparse = pytest.importorskip("scipy.sparse")
    x, y = two()
    x[np.abs(x) < 0.7] = 0
    model = linsep.LogisticRegression().fit(sparse.csr_matrix(x), y)
    found = model.explain(sparse.csr_matrix(x))
    assert (found.values[x == 0] == 0).all() and found.base == "zero"
    np.testing.assert_allclose(found.values.sum(axis=1) + found.intercept, model.decision_function(sparse.csr_matrix(x)), atol=1e-12)
