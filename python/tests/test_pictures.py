"""Pictures: kinds, files, data, notebooks, refusals."""

import json
import sys
import xml.etree.ElementTree as ET

import linsep
import numpy as np
import pytest

RNG = np.random.default_rng(5)
Y = np.repeat([0, 1], 40)
X = RNG.normal(size=(80, 2)) + np.where(Y == 1, 1.2, -1.2)[:, None]
NAMES = np.where(Y == 1, "yes", "no")


@pytest.fixture(scope="module")
def model():
    return linsep.LogisticRegression().fit(X, NAMES)


def points(picture, label):
    return [mark["points"] for mark in picture.data()["marks"] if mark["label"] == label]


def test_every_kind_has_a_function():
    for kind in linsep.plot.kinds():
        assert callable(getattr(linsep.plot, kind.replace("-", "_"))), kind


def test_kinds_of_a_model(model):
    for kind in ("scatter", "boundary", "regions", "margin", "surfaces", "roc", "confusion", "threshold", "calibration"):
        machine = linsep.LinearSVC(C=1.0).fit(X, NAMES) if kind == "margin" else model
        picture = machine.plot(kind, X, NAMES)
        assert picture.kind == kind and picture.caption
        ET.fromstring(picture.svg())


def test_what_a_notebook_shows(model):
    picture = linsep.plot.boundary(model, X, NAMES, theme="dark", width=400)
    assert picture._repr_svg_().startswith("<svg") and 'width="400"' in picture._repr_svg_()
    assert picture._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
    assert repr(picture) == "<Picture boundary: Boundary for y>"


def test_the_boundary_is_where_the_score_is_zero(model):
    (paths,) = points(linsep.plot.boundary(model, X, NAMES), "decision boundary")
    ends = np.array(paths[0])
    assert np.abs(model.decision_function(ends)).max() < 1e-9 * np.abs(model.decision_function(X)).max()


def test_rows_are_those_given():
    picture = linsep.plot.scatter(X, NAMES)
    for name in ("no", "yes"):
        np.testing.assert_array_equal(np.array(points(picture, name)[0]), X[NAMES == name])
    assert picture.data()["axes"]["x"]["label"] == "x0"


def test_frames_have_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"length": X[:, 0], "width": X[:, 1]})
    model = linsep.LogisticRegression().fit(frame, NAMES)
    axes = model.plot("regions", frame, NAMES).data()["axes"]
    assert (axes["x"]["label"], axes["y"]["label"]) == ("length", "width")


def test_text_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"length": X[:, 0], "width": X[:, 1], "site": np.where(RNG.random(80) < 0.5, "north", "south")})
    model = linsep.LogisticRegression().fit(frame, NAMES)
    picture = model.plot("boundary", frame, NAMES, plane="slice", at={"site": "south"})
    assert "site = south" in picture.caption


def test_files(tmp_path, model):
    picture = model.plot("regions", X, NAMES)
    for ending, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        path = tmp_path / f"picture.{ending}"
        picture.save(path)
        assert path.read_bytes().startswith(start)
    with pytest.raises(linsep.LinsepError, match="kind of picture"):
        picture.save(tmp_path / "picture.gif")
    assert not (tmp_path / "picture.gif").exists()


def test_several_models(model):
    other = linsep.LinearDiscriminantAnalysis().fit(X, NAMES)
    picture = linsep.plot.boundary([model, other], X, NAMES, names=["logistic", "fisher"])
    assert {"logistic", "fisher"} <= {mark["label"] for mark in picture.data()["marks"]}
    assert len(linsep.plot.boundary([model, other], X, NAMES, panels=True).data()["panels"]) == 2


def test_rows_are_counted_from_zero():
    two = linsep.HardMarginSVC().fit([[0.0, 0.0], [2.0, 2.0]], [0, 1])
    picture = two.plot("boundary", [[0.0, 0.0], [2.0, 2.0]], [0, 1], row=1)
    assert points(picture, "x, xₚ")[0][0] == [2.0, 2.0]


def test_data_are_plain(model):
    assert json.loads(json.dumps(model.plot("roc", X, NAMES).data()))["kind"] == "roc"


def test_losses_need_nothing():
    assert linsep.plot.losses(show="relu").kind == "losses"


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda m: m.plot("region", X, NAMES), "no picture"),
        (lambda m: m.plot("regions"), "needs a table"),
        (lambda m: m.plot("regions", X, NAMES, width=10), "wide"),
        (lambda m: m.plot("regions", X, NAMES, theme="grey"), "theme"),
        (lambda m: m.plot("regions", X, NAMES, plane="up"), "plane"),
        (lambda m: m.plot("regions", X, NAMES, show=["balls"]), "to show"),
        (lambda m: m.plot("regions", None, NAMES), "without X"),
        (lambda m: linsep.plot.boundary(3, X), None),
        (lambda m: linsep.LogisticRegression().plot("regions", X), None),
    ],
)
def test_refusals(model, draw, said):
    with pytest.raises((ValueError, TypeError)) as raised:
        draw(model)
    assert said is None or said in str(raised.value)


def test_no_other_package_is_imported():
    import subprocess

    code = "import linsep, sys; linsep.plot.losses(); assert not {'matplotlib', 'sklearn', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
