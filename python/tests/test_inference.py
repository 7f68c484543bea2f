"""`linsep.infer`: the numbers of R, arrays and frames, what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

import linsep

TABLE = pd.read_csv(ROOT / "golden/data/infer.csv")
SEPARATED = pd.read_csv(ROOT / "golden/data/infer_separated.csv")
GOLDEN = json.loads((ROOT / "golden/inference_r.json").read_text())
COLUMNS = ["age", "dose", "noise", "group", "treated"]


def case(name, kind="binary"):
    return next(c for c in GOLDEN[kind] if c["name"] == name)


def in_order(found, wanted):
    return [found.names.index(name) for name in wanted["names"]]


def test_a_frame_is_the_table_of_r():
    wanted = case("infer")["coefficients"]
    found = linsep.infer(TABLE[COLUMNS], TABLE["outcome"], interval="profile", rows=True)
    at = in_order(found, wanted)
    np.testing.assert_allclose(found.estimate[at], wanted["estimate"], rtol=1e-8)
    np.testing.assert_allclose(found.se[at], wanted["se"], rtol=1e-8)
    np.testing.assert_allclose(found.low[at], wanted["profile_low"], rtol=1e-6)
    np.testing.assert_allclose(found.high[at], wanted["profile_high"], rtol=1e-6)
    np.testing.assert_allclose(found.covariance[np.ix_(at, at)], case("infer")["vcov"], rtol=1e-6, atol=1e-12)
    assert found.classes is None
    assert found.terms[3]["name"] == "group" and found.terms[3]["df"] == 3
    np.testing.assert_allclose(found.rows["leverage"].sum(), len(found.names))
    np.testing.assert_allclose(found.rows["cook"][:10], case("infer")["rows"]["cook"], rtol=1e-6)
    assert found.rows["probabilities"].shape == (300, 2)


def test_an_array_is_its_frame():
    numbers = ["age", "dose", "noise", "treated"]
    frame = linsep.infer(TABLE[numbers], TABLE["outcome"])
    array = linsep.infer(TABLE[numbers].to_numpy(dtype=float), TABLE["outcome"])
    np.testing.assert_allclose(array.estimate, frame.estimate, rtol=1e-10)
    assert frame.names == ["(intercept)", *numbers]
    assert array.names == ["(intercept)", "x0", "x1", "x2", "x3"]
    assert list(frame.to_frame()["name"]) == frame.names


def test_clusters_weights_and_classes():
    wanted = case("infer")["robust"]["se"]["cluster"]
    found = linsep.infer(TABLE[COLUMNS], TABLE["outcome"], covariance="cluster", clusters=TABLE["clinic"])
    np.testing.assert_allclose(found.se[in_order(found, case("infer")["coefficients"])], wanted, rtol=1e-7)
    assert found.aic is None
    counted = linsep.infer(TABLE[COLUMNS], TABLE["outcome"], sample_weight=TABLE["count"])
    wanted = case("infer_counts")["coefficients"]
    np.testing.assert_allclose(counted.se[in_order(counted, wanted)], wanted["se"], rtol=1e-8)
    assert counted.n == TABLE["count"].sum()
    graded = linsep.infer(TABLE[["age", "dose", "group", "treated"]], TABLE["grade"])
    assert sorted(set(graded.classes)) == ["moderate", "severe"]


def test_separated_rows_raise_with_the_way_out():
    X, y = SEPARATED.drop(columns="outcome"), SEPARATED["outcome"]
    with pytest.raises(linsep.NoOptimumError, match="marker") as raised:
        linsep.infer(X, y)
    assert "firth=True" in str(raised.value) and "--" not in str(raised.value)
    firth = linsep.infer(X, y, firth=True, interval="profile")
    wanted = case("infer_separated", "firth")
    at = [firth.names.index(name) for name in wanted["names"]]
    np.testing.assert_allclose(firth.estimate[at], wanted["firth"]["estimate"], rtol=1e-7)
    np.testing.assert_allclose(firth.high[at], wanted["firth"]["profile_high"], rtol=1e-6)


def test_a_model_without_a_penalty_has_inference():
    X, y = TABLE[["age", "dose"]].to_numpy(dtype=float), TABLE["outcome"]
    model = linsep.LogisticRegression(C=np.inf).fit(X, y)
    found = model.inference(X, y, tests="x0 - x1 = 0")
    np.testing.assert_allclose(found.estimate[1:], model.coef_[0], rtol=1e-5)
    assert found.tests[0]["df"] == 1
    with pytest.raises(linsep.LinsepError, match="C=inf"):
        linsep.LogisticRegression().fit(X, y).inference(X, y)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": 2.0}, "level=2"),
        ({"interval": "exact"}, "wald, profile"),
        ({"covariance": "hc9"}, "hc0"),
        ({"covariance": "cluster"}, "clusters"),
        ({"covariance": "hc1", "interval": "profile"}, "covariance"),
        ({"tests": "agee"}, "age"),
        ({"tests": "age * dose = 0"}, "linear"),
        ({"sample_weight": np.full(300, 0.5)}, 'covariance="hc0"'),
        ({"clusters": [1, 2], "covariance": "cluster"}, "clusters"),
    ],
)
def test_what_cannot_be_asked_is_said_in_words_of_python(options, said):
    with pytest.raises(linsep.LinsepError) as raised:
        linsep.infer(TABLE[["age", "dose"]], TABLE["outcome"], **options)
    assert said in str(raised.value) and "--" not in str(raised.value)


def test_it_is_shown():
    found = linsep.infer(TABLE[["age"]], TABLE["outcome"])
    assert "odds ratio" in str(found) and "<table>" in found._repr_html_()
    assert repr(found).startswith("Inference(2 coefficients, n=300")
