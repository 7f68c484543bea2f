"""Sets of classes: coverage, the same rows held back as by the command, files, verification, and what is refused."""

import json

import numpy as np
import pytest

import linsep


def draw(rng, rows, classes=3):
    y = rng.integers(0, classes, rows)
    X = rng.normal(size=(rows, 2)) + 1.2 * y[:, None]
    return X, y


@pytest.mark.parametrize("by", ["rows", "class"])
@pytest.mark.parametrize(
    "estimator",
    [
        linsep.LogisticRegression(),
        linsep.LinearSVC(),
        linsep.LinearDiscriminantAnalysis(),
        linsep.OneVsOneClassifier(linsep.LinearSVC()),
        linsep.SVC(),
        linsep.PocketPerceptron(),
    ],
    ids=lambda e: type(e).__name__,
)
def test_sets_hold_the_class_of_new_rows(estimator, by):
    rng = np.random.default_rng(3)
    X, y = draw(rng, 600)
    estimator.fit(X, y, conformal=0.9, conformal_by=by)
    new, truth = draw(rng, 4000)
    sets = estimator.predict_set(new)
    assert sets.shape == (4000, 3) and sets.dtype == bool
    # 120 rows held back: the coverage of one fit scatters by about 0.03, of a class by 0.05.
    assert sets[np.arange(4000), truth].mean() > 0.8
    higher = estimator.predict_set(new, level=0.99)
    assert (higher >= sets).all() and higher.mean() > sets.mean()
    assert estimator.verify(X, y)["passed"]


def test_few_rows_leave_nothing_out():
    X, y = draw(np.random.default_rng(0), 30)
    model = linsep.LogisticRegression().fit(X, y, conformal=0.95)
    # Six rows are held back, and nineteen would be needed.
    assert model.predict_set(X).all()
    assert sum(len(own) for own in model.conformal_["scores"]) == 6
    assert model.conformal_["thresholds"] == [None] * 3


def test_the_fit_never_sees_the_rows_held_back():
    X, y = draw(np.random.default_rng(1), 100)
    plain = linsep.LogisticRegression().fit(X, y)
    careful = linsep.LogisticRegression(random_state=4).fit(X, y, conformal=0.8, conformal_share=0.3)
    assert not np.array_equal(plain.coef_, careful.coef_)
    described = json.loads(careful.model_.describe())
    assert (described["training"]["used"], described["training"]["held_back"]) == (70, 30)
    other = linsep.LogisticRegression(random_state=5).fit(X, y, conformal=0.8, conformal_share=0.3)
    assert not np.array_equal(other.coef_, careful.coef_)


def test_files_keep_sets(tmp_path):
    X, y = draw(np.random.default_rng(2), 200)
    model = linsep.LogisticRegression().fit(X, y, conformal=0.9)
    model.save(tmp_path / "model.json")
    again = linsep.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_set(X), model.predict_set(X))
    assert linsep.LogisticRegression().fit(X, y).conformal_ is None


def test_frames_with_text_have_sets():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=120), "kind": rng.choice(["a", "b"], 120)})
    y = np.where(frame["x"] + (frame["kind"] == "a") + rng.normal(size=120) > 0.5, "yes", "no")
    model = linsep.LogisticRegression().fit(frame, y, conformal=0.8)
    assert model.predict_set(frame).shape == (120, 2)
    assert model.verify(frame, y)["passed"]


@pytest.mark.parametrize(
    "keywords, words",
    [
        ({"conformal": 1.5}, "conformal is 1.5, not between 0 and 1"),
        ({"conformal": -1}, "conformal must be a positive number"),
        ({"conformal": 0.9, "conformal_by": "rose"}, "conformal_by must be one of"),
        ({"conformal": 0.9, "conformal_share": 2}, "conformal_share is 2, not between 0 and 1"),
        ({"conformal_by": "class"}, "are for conformal="),
        ({"conformal": 0.9, "sample_weight": np.r_[2.0, np.ones(39)]}, "the weight 2 of a row"),
    ],
)
def test_bad_keywords_are_refused(keywords, words):
    X, y = draw(np.random.default_rng(0), 40, 2)
    with pytest.raises(ValueError, match=words):
        linsep.LogisticRegression().fit(X, y, **keywords)


def test_no_sets_without_rows_held_back():
    X, y = draw(np.random.default_rng(0), 40, 2)
    model = linsep.LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"(?s)no sets of classes.*conformal=0\.9"):
        model.predict_set(X)
    with pytest.raises(ValueError, match="precomputed"):
        linsep.SVC(kernel="precomputed").fit(X @ X.T, y, conformal=0.9)
