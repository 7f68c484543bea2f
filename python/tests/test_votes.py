"""One class from fits of two: votes, ties, and rows that stay undecided."""

import numpy as np
import pytest

import linsep


@pytest.fixture(scope="module")
def corners():
    """Three classes at the corners of a triangle about the origin, each with as many rows."""
    rng = np.random.default_rng(3)
    angles = np.array([np.pi / 2, np.pi / 2 + 2 * np.pi / 3, np.pi / 2 + 4 * np.pi / 3])
    y = np.repeat([0, 1, 2], 30)
    # The same cloud turned by a third of a circle, so that nothing tells the classes apart but where they are.
    cloud = np.array([0.0, 3.0]) + rng.normal(size=(30, 2))
    turned = [cloud @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) for a in angles - np.pi / 2]
    return np.vstack(turned), np.array(["north", "west", "east"])[y]


@pytest.mark.parametrize("vote", ["majority", "unanimity", "scores"])
@pytest.mark.parametrize("ties", ["scores", "first"])
def test_pairs_always_answer_unless_they_may_not(corners, vote, ties):
    X, y = corners
    model = linsep.OneVsOneClassifier(linsep.LogisticRegression(), vote=vote, ties=ties).fit(X, y)
    assert model.score(X, y) > 0.95
    assert set(model.predict(np.random.default_rng(0).normal(size=(300, 2)))) <= set(y)


def test_majority_is_a_count_of_wins(corners):
    X, y = corners
    model = linsep.OneVsOneClassifier(linsep.LogisticRegression()).fit(X, y)
    rows = 2 * np.random.default_rng(1).normal(size=(500, 2))
    scores = model.model_.scores(rows)
    wins = np.zeros((500, 3))
    for (i, j), z in zip([(0, 1), (0, 2), (1, 2)], scores.T):
        wins[np.arange(500), np.where(z > 0, j, i)] += 1
    clear = np.sort(wins, axis=1)[:, -1] > np.sort(wins, axis=1)[:, -2]
    assert clear.sum() > 400
    assert np.array_equal(model.predict(rows)[clear], model.classes_[wins.argmax(axis=1)][clear])
    assert np.array_equal(model.decision_function(rows).argmax(axis=1)[clear], wins.argmax(axis=1)[clear])


def test_no_class_claims_the_middle(corners):
    X, y = corners
    middle = np.zeros((1, 2))
    undecided = linsep.OneVsRestClassifier(linsep.LogisticRegression(), ties="undetermined").fit(X, y)
    assert (undecided.decision_function(middle) < 0).all()
    assert undecided.predict(middle).tolist() == [None]
    # Other rows have their class beside it.
    assert undecided.predict([[0.0, 0.0], [0.0, 6.0], [5.2, -3.0]]).tolist() == [None, "north", "east"]
    decided = linsep.OneVsRestClassifier(linsep.LogisticRegression()).fit(X, y)
    assert decided.predict(middle)[0] == decided.classes_[decided.decision_function(middle)[0].argmax()]


def test_the_largest_score_decides_among_the_rest(corners):
    X, y = corners
    model = linsep.OneVsRestClassifier(linsep.LogisticRegression()).fit(X, y)
    rows = 2 * np.random.default_rng(1).normal(size=(200, 2))
    assert np.array_equal(model.predict(rows), model.classes_[model.decision_function(rows).argmax(axis=1)])


def test_undecided_rows_survive_the_file(corners, tmp_path):
    X, y = corners
    model = linsep.OneVsRestClassifier(linsep.LogisticRegression(), ties="undetermined").fit(X, y)
    model.save(tmp_path / "model.json")
    again = linsep.load(tmp_path / "model.json")
    rows = np.random.default_rng(1).normal(size=(200, 2))
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
    assert None in model.predict(rows).tolist()


def test_svc_breaks_ties_as_asked(corners):
    X, y = corners
    rows = np.random.default_rng(1).normal(size=(300, 2))
    model = linsep.SVC(break_ties=True).fit(X, y)
    assert np.array_equal(model.predict(rows), model.classes_[model.decision_function(rows).argmax(axis=1)])


@pytest.mark.parametrize("wrapper", [linsep.OneVsOneClassifier, linsep.OneVsRestClassifier])
def test_what_a_wrapper_refuses(corners, wrapper):
    from sklearn.linear_model import LogisticRegression

    X, y = corners
    with pytest.raises(TypeError, match="linsep"):
        wrapper(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="ties"):
        wrapper(linsep.LogisticRegression(), ties="coin").fit(X, y)
