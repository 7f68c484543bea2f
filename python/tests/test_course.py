"""What the course describes, from Python: links, sigmoid outputs, kernel machines without an intercept, simulated rows."""

import json
import os
import subprocess

import linsep
import numpy as np
import pytest

TABLE = [[0.0]] * 4 + [[1.0]] * 4
SHARES = [0, 0, 0, 1, 0, 1, 1, 1]
XOR = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])


def normal(z):
    from math import erf

    return 0.5 * (1.0 + erf(z / np.sqrt(2.0)))


@pytest.mark.parametrize("link", ["probit", "cloglog", "cauchit"])
def test_links_give_the_shares_of_a_table(link, tmp_path):
    model = linsep.LinkRegression(link, C=np.inf).fit(TABLE, SHARES)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]])[:, 1], [0.25, 0.75], atol=1e-7)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(TABLE)), model.predict_proba(TABLE))
    assert model.certificate_["kind"] == ("local" if link == "cauchit" else "curvature_ball")
    np.testing.assert_array_equal(model.predict(TABLE), (model.decision_function(TABLE) > 0).astype(int))
    model.save(tmp_path / "m.json")
    again = linsep.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict(TABLE), model.predict(TABLE))
    z = model.coef_[0, 0] + model.intercept_[0]
    curve = {"probit": normal, "cloglog": lambda z: 1 - np.exp(-np.exp(z)), "cauchit": lambda z: 0.5 + np.arctan(z) / np.pi}
    assert abs(curve[link](z) - 0.75) < 1e-7


def test_links_of_separated_rows_have_no_maximum():
    with pytest.raises(linsep.NoOptimumError):
        linsep.LinkRegression("probit", C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="link must be one of"):
        linsep.LinkRegression("logit").fit(TABLE, SHARES)


def test_sigmoid_outputs_and_their_steps():
    model = linsep.SigmoidLeastSquares(C=np.inf).fit(TABLE, SHARES)
    np.testing.assert_allclose(model.outputs([[0.0], [1.0]]), [[0.25], [0.75]], atol=1e-6)
    # Two steps of the textbook from zero.
    with pytest.warns(linsep.ConvergenceWarning):
        stepped = linsep.SigmoidLeastSquares(C=np.inf, solver="gradient-descent", step=[1.0, 0.5], max_iter=2).fit(TABLE, SHARES)
    x, t, w, b = np.ravel(TABLE), np.array(SHARES), 0.0, 0.0
    for eta in (1.0, 0.5):
        p = 1 / (1 + np.exp(-(w * x + b)))
        e = (p - t) * p * (1 - p)
        w, b = w - eta * np.mean(e * x), b - eta * np.mean(e)
    np.testing.assert_allclose([stepped.coef_[0, 0], stepped.intercept_[0]], [w, b], rtol=1e-12)
    three = linsep.SigmoidLeastSquares(restarts=0).fit([[0.0], [1.0], [2.0], [0.1], [1.1], [2.1]], ["a", "b", "c"] * 2)
    assert three.outputs([[0.0]]).shape == (1, 3)
    with pytest.raises(ValueError, match="step is for"):
        linsep.SigmoidLeastSquares(step=0.1).fit(TABLE, SHARES)


def test_exclusive_or_without_an_intercept_and_by_a_hard_margin():
    y = [0, 1, 1, 0]
    for options in ({"C": 10.0, "fit_intercept": False}, {"C": np.inf}, {"C": np.inf, "fit_intercept": False}):
        model = linsep.SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, **options).fit(XOR, y)
        np.testing.assert_allclose(np.abs(model.dual_coef_), np.full((1, 4), 0.125), rtol=1e-6)
        if not options.get("fit_intercept", True):
            assert model.intercept_[0] == 0.0
    with pytest.raises(linsep.NotSeparableError, match="by more than"):
        linsep.SVC(kernel="linear", C=np.inf).fit(XOR, y)


def test_working_responses():
    X, y, _ = linsep.simulate("logistic", weights=[1.0], intercept=-5.0, x=("uniform", 0, 10), rows=200, seed=2)
    rows = linsep.infer(X, y, rows=True).rows
    w, z = rows["working_weight"], rows["working_response"]
    design = np.column_stack([np.ones(len(X)), X])
    found = np.linalg.solve(design.T @ (w[:, None] * design), design.T @ (w * z))
    fitted = linsep.LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_allclose(found, [fitted.intercept_[0], fitted.coef_[0, 0]], rtol=1e-6)


def test_simulated_rows_are_those_of_the_command(tmp_path):
    cases = [
        (("logistic",), {"weights": [1.0, -2.0], "intercept": 0.5, "x": ("normal", 0.3)}, "logistic --weights 1,-2 --intercept 0.5 --correlation 0.3"),
        (("logistic",), {"weights": [1.0], "x": ("mixture", (-2, 1), (3, 0.5))}, "logistic --weights 1 --x mixture:-2,1;3,0.5"),
        (("separable",), {"weights": [1.0, 1.0], "margin": 0.4}, "separable --weights 1,1 --margin 0.4"),
        (("rings",), {"noise": 0.2}, "rings --noise 0.2"),
        (("moons",), {}, "moons"),
    ]
    command = os.environ.get("LINSEP_COMMAND")
    for args, options, line in cases:
        X, y, truth = linsep.simulate(*args, rows=50, seed=3, **options)
        assert X.shape[0] == 50 and set(y) == {0, 1}
        again = linsep.simulate(truth, rows=50, seed=3)
        np.testing.assert_array_equal(again[0], X)
        if command is None:
            continue
        path = tmp_path / "rows.csv"
        subprocess.run([command, "simulate", *line.split(), "--rows", "50", "--seed", "3", "-o", str(path)], check=True, capture_output=True)
        table = np.genfromtxt(path, delimiter=",", skip_header=1)
        np.testing.assert_array_equal(table[:, :-1], X)
        np.testing.assert_array_equal(table[:, -1], y)


def test_simulated_classes_populations_and_own_rows(tmp_path):
    X, y, truth = linsep.simulate("gaussian", means=[[0.0, 0.0], [2.0, 0.0]], variance=1.0, counts=[30, 20], seed=1)
    assert (y == 0).sum() == 30 and (y == 1).sum() == 20
    even = linsep.simulate("gaussian", means=[[0.0, 0.0], [2.0, 0.0]], variance=1.0, rows=10)[2]
    assert abs(even["bayes_error"]["value"] - 0.15865525) < 1e-6
    rows, none, _ = linsep.simulate("population", means=[[1.0, 2.0]], covariance=[[1.0, 0.5], [0.5, 1.0]], rows=400)
    assert none is None and rows.shape == (400, 2)
    points = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0]])
    same, sides, _ = linsep.simulate("plane", weights=[1.2, -3.2], intercept=-0.5, x=points)
    np.testing.assert_array_equal(same, points)
    assert sides.tolist() == [0, 0, 1]
    bits, parity, _ = linsep.simulate("parity", signs=True)
    assert bits.shape == (4, 2) and parity.tolist() == [0, 1, 1, 0]
    (tmp_path / "t.json").write_text(json.dumps(truth))
    assert linsep.simulate(tmp_path / "t.json", seed=1)[0].shape == (50, 2)
    with pytest.raises(ValueError, match="no kind and no file"):
        linsep.simulate("gausian")
    with pytest.raises(TypeError, match="say it again"):
        linsep.simulate(truth, means=[[0.0]])
