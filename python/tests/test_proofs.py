"""What the estimators prove: certificates, verdicts of separability with witnesses, distances, support vectors."""

import numpy as np
import pytest

import linsep


# -- certificates ----------------------------------------------------------------------------------------------------------


def test_a_certificate_bounds_the_distance_to_the_optimum(two_classes):
    X, y = two_classes
    rough = linsep.LogisticRegression(tol=1e-2).fit(X, y)
    fine = linsep.LogisticRegression(tol=1e-13).fit(X, y)
    proof = rough.certificate_
    assert proof["kind"] == "duality_gap"
    assert proof["objective"] == rough.objective_
    assert proof["dual"] <= fine.objective_ <= rough.objective_
    assert rough.objective_ - fine.objective_ <= proof["gap"]
    assert np.linalg.norm(rough.coef_ - fine.coef_) <= proof["weight_distance"] + 1e-6
    assert fine.certificate_["relative_gap"] <= 1e-13


def test_tol_is_the_relative_gap(two_classes):
    for tol in (1e-3, 1e-6, 1e-9):
        model = linsep.LogisticRegression(tol=tol).fit(*two_classes)
        assert model.stop_ == "converged"
        assert model.certificate_["relative_gap"] <= tol


def test_the_objective_is_that_of_the_formula(two_classes):
    X, y = two_classes
    model = linsep.LogisticRegression(C=0.5).fit(X, y)
    margin = np.where(y == 1, 1, -1) * (X @ model.coef_[0] + model.intercept_[0])
    value = np.logaddexp(0, -margin).mean() + (model.coef_**2).sum() / (2 * 0.5 * len(y))
    assert model.objective_ == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("make", [
    lambda: linsep.LogisticRegression(),
    lambda: linsep.LogisticRegression(l1_ratio=0.5),
    lambda: linsep.LogisticRegression(C=np.inf),
    lambda: linsep.LinearSVC(loss="hinge"),
    lambda: linsep.LinearSVC(),
    lambda: linsep.SVC(),
    lambda: linsep.RidgeClassifier(),
    lambda: linsep.LinearDiscriminantAnalysis(),
    lambda: linsep.QuadraticDiscriminantAnalysis(),
    lambda: linsep.GaussianNB(),
    lambda: linsep.PocketPerceptron(),
], ids=["ridge", "elastic net", "maximum likelihood", "hinge", "squared hinge", "kernel", "least squares", "lda", "qda", "naive Bayes", "pocket"])
def test_verify_repeats_every_claim_and_notices_other_data(two_classes, make):
    X, y = two_classes
    model = make().fit(X, y)
    found = model.verify(X, y)
    assert found["passed"] and found["checks"] and all(check["holds"] for check in found["checks"])
    try:
        assert not model.verify(X + 10 * (np.arange(len(y)) == 3)[:, None], 1 - y)["passed"]
    except linsep.LinsepError as refused:
        assert "data" in str(refused)


@pytest.mark.parametrize("make", [lambda: linsep.RidgeClassifier(standardize=True), lambda: linsep.LinearDiscriminantAnalysis()])
def test_constant_columns_of_a_sparse_matrix_have_no_spread(rng, make):
    import scipy.sparse

    X = np.column_stack([np.full(25, rng.normal()) for _ in range(3)])
    y = np.arange(25) % 2
    model = make().fit(scipy.sparse.csr_matrix(X), y)
    assert not model.coef_.any()
    assert model.verify(scipy.sparse.csr_matrix(X), y)["passed"]


def test_verify_wants_the_same_weights(rng, two_classes):
    X, y = two_classes
    s = rng.uniform(0.5, 2.0, len(y))
    model = linsep.LogisticRegression().fit(X, y, sample_weight=s)
    assert model.verify(X, y, sample_weight=s)["passed"]
    try:
        assert not model.verify(X, y)["passed"]
    except ValueError as refused:
        assert "sample_weight" in str(refused)


def test_verify_of_a_forged_file_fails(two_classes, tmp_path):
    X, y = two_classes
    path = tmp_path / "model.json"
    linsep.LogisticRegression().fit(X, y).save(path)
    text = path.read_text()
    forged = tmp_path / "forged.json"
    forged.write_text(text.replace('"rows":120', '"rows":121').replace('"rows": 120', '"rows": 121'))
    assert forged.read_text() != text
    with pytest.raises(ValueError, match="(?i)checksum|changed|edited"):
        linsep.load(forged)


# -- separability ----------------------------------------------------------------------------------------------------------


def separated(rng, margin, rows=40):
    """Rows on both sides of a plane, the nearest exactly at the margin; with the unit normal and the offset."""
    normal = np.array([3.0, -4.0, 0.0]) / 5
    y = np.arange(rows) % 2
    side = np.where(y == 1, 1.0, -1.0)
    along = rng.normal(size=(rows, 3))
    along -= np.outer(along @ normal, normal)
    distance = margin + rng.exponential(size=rows)
    # The nearest rows of both classes face each other, so that no other plane has a wider margin.
    distance[:2], along[1] = margin, along[0]
    return along + np.outer(side * distance + 2.0, normal), y, normal


def test_complete_separation_has_the_margin_that_was_built_in(rng):
    X, y, normal = separated(rng, margin=0.7)
    found = linsep.separability(X, y)
    assert found and found.verdict == "complete"
    assert found.margin == pytest.approx(0.7, rel=1e-6)
    scores = X @ np.ravel(found.plane["coef"]) + np.ravel(found.plane["intercept"])[0]
    assert (np.where(y == 1, 1, -1) * scores > 0).all()
    direction = np.ravel(found.plane["coef"])
    assert direction / np.linalg.norm(direction) == pytest.approx(normal, abs=1e-4)


def test_the_witness_of_a_margin_is_two_points_of_the_hulls(rng):
    X, y, _ = separated(rng, margin=0.7)
    found = linsep.separability(X, y)
    text = str(found)
    assert "separable" in text and "0.7" in text
    model = linsep.HardMarginSVC().fit(X, y)
    assert model.margin_ == pytest.approx(0.7, rel=1e-6)
    assert (np.where(y == 1, 1, -1) * model.decision_function(X)).min() == pytest.approx(1.0, rel=1e-6)


def overlapping(rng, rows=40):
    X = rng.normal(size=(rows, 3))
    y = np.arange(rows) % 2
    # One row of each class at the same place inside the other's cloud, and copies of rows with the other label.
    X[1::2] = X[::2]
    return X, y


def test_overlap_has_a_witness_that_can_be_checked(rng):
    X, y = overlapping(rng)
    found = linsep.separability(X, y)
    assert not found and found.verdict == "overlap"
    assert found.margin is None
    rows = found.witness["rows"]
    # A mixture of rows of one class is the same point as a mixture of rows of the other.
    total = np.zeros(3)
    weights = {"0": 0.0, "1": 0.0}
    for entry in rows:
        sign = 1 if entry["class"] == "1" else -1
        total += sign * entry["weight"] * X[entry["row"]]
        weights[entry["class"]] += entry["weight"]
        assert str(y[entry["row"]]) == entry["class"]
    assert np.allclose(total, 0, atol=1e-9)
    assert weights["0"] == pytest.approx(weights["1"])


def test_quasi_complete_separation(rng):
    # The column is 0 for some rows of both classes, and else tells them apart.
    x = np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0])
    y = np.array([0, 0, 0, 1, 1, 1])
    found = linsep.separability(x[:, None], y)
    assert not found and found.verdict == "quasi-complete"
    assert not linsep.separability(x[:, None], y, exact=True)
    assert "rational" in str(linsep.separability(x[:, None], y, exact=True))


def test_exact_arithmetic_agrees(rng):
    X, y, _ = separated(rng, margin=0.1)
    assert linsep.separability(X, y, exact=True).verdict == "complete"
    X, y = overlapping(rng)
    assert linsep.separability(X, y, exact=True).verdict == "overlap"


def test_rows_of_weight_zero_do_not_count(rng):
    X, y, _ = separated(rng, margin=0.5)
    X, y, s = np.vstack([X, X[:1]]), np.append(y, 1 - y[0]), np.append(np.ones(len(y)), 0.0)
    assert linsep.separability(X, y).verdict != "complete"
    assert linsep.separability(X, y, sample_weight=s).verdict == "complete"


def test_several_classes_have_a_verdict_for_each_pair(three_classes):
    X, y = three_classes
    found = linsep.separability(X, y, scope="all")
    assert found.verdict == "overlap"
    assert "ash" in str(found) and "birch" in str(found)


# -- maximum likelihood ----------------------------------------------------------------------------------------------------


def test_no_maximum_likelihood_where_a_plane_separates(rng):
    import pandas

    X, y, _ = separated(rng, margin=0.5)
    frame = pandas.DataFrame({"north": X[:, 0], "east": X[:, 1], "noise": X[:, 2]})
    with pytest.raises(linsep.NoOptimumError, match="separable") as caught:
        linsep.LogisticRegression(C=np.inf).fit(frame, y)
    message = str(caught.value)
    assert "north" in message and "east" in message
    assert isinstance(caught.value, linsep.LinsepError) and isinstance(caught.value, ValueError)
    # With a penalty there is an optimum.
    assert linsep.LogisticRegression(C=1e6).fit(frame, y).score(frame, y) == 1.0


def test_quasi_complete_separation_names_the_column_that_diverges(two_classes):
    import pandas

    X, y = two_classes
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    # Only patients of class 1 have the mark.
    frame["mark"] = ((y == 1) & (np.arange(len(y)) % 3 == 0)).astype(float)
    with pytest.raises(linsep.NoOptimumError, match="mark"):
        linsep.LogisticRegression(C=np.inf).fit(frame, y)


def test_maximum_likelihood_has_a_proof_of_its_own(two_classes):
    model = linsep.LogisticRegression(C=np.inf).fit(*two_classes)
    assert model.certificate_["kind"] != "duality_gap"
    assert model.stop_ == "converged"


def test_no_hard_margin_and_no_end_of_the_perceptron_where_classes_overlap(rng):
    X, y = overlapping(rng)
    with pytest.raises(linsep.NotSeparableError, match="overlap|separat"):
        linsep.HardMarginSVC().fit(X, y)
    with pytest.raises(linsep.NotSeparableError):
        linsep.Perceptron(on_overlap="error").fit(X, y)
    with pytest.warns(linsep.ConvergenceWarning, match="overlap|separ"):
        assert linsep.Perceptron().fit(X, y).score(X, y) >= 0.5


# -- distances -------------------------------------------------------------------------------------------------------------


def test_distance_of_a_line_is_that_of_the_textbook(two_classes):
    X, y = two_classes
    model = linsep.LogisticRegression().fit(X, y)
    found = model.distance(X)
    expected = np.abs(model.decision_function(X)) / np.linalg.norm(model.coef_)
    assert np.allclose(np.abs(found["distance"]), expected, rtol=1e-10)
    assert np.allclose(found["radius"], expected, rtol=1e-10)
    assert np.array_equal(found["class"], model.predict(X))


def test_a_row_may_move_by_its_radius_and_no_further(three_classes, rng):
    X, y = three_classes
    for model in (linsep.LogisticRegression().fit(X, y), linsep.QuadraticDiscriminantAnalysis().fit(X, y)):
        found = model.distance(X)
        before = model.predict(X)
        for _ in range(20):
            step = rng.normal(size=X.shape)
            step *= (0.999 * found["radius"] / np.linalg.norm(step, axis=1))[:, None]
            assert np.array_equal(model.predict(X + step), before)


def test_the_nearest_boundary_is_reached_at_the_radius(three_classes):
    X, y = three_classes
    model = linsep.LogisticRegression().fit(X, y)
    found = model.distance(X)
    place = {label: at for at, label in enumerate(model.classes_.tolist())}
    for row, (own, other, radius) in enumerate(zip(found["class"], found["nearest"], found["radius"])):
        towards = model.coef_[place[other]] - model.coef_[place[own]]
        moved = X[row] + 1.001 * radius * towards / np.linalg.norm(towards)
        assert model.predict(moved[None])[0] != own


# -- support vectors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda C: linsep.SVC(C=C, tol=1e-9), lambda C: linsep.SVC(C=C, kernel="linear", tol=1e-9), lambda C: linsep.LinearSVC(loss="hinge", C=C, tol=1e-9),
], ids=["rbf", "linear kernel", "linear"])
def test_multipliers_satisfy_the_dual_constraints(two_classes, make):
    X, y = two_classes
    C = 0.7
    model = make(C).fit(X, y)
    table = model.support_table(X, y)
    assert table
    alpha = np.array([row["alpha"] for row in table])
    signs = np.array([1.0 if str(row["label"]) == "1" else -1.0 for row in table])
    # In the table α is that of C Σ ξ, as scikit-learn's.
    assert alpha.min() > 0 and alpha.max() <= C * (1 + 1e-9)
    assert abs(alpha @ signs) < 1e-6 * alpha.sum()
    for row in table:
        assert row["bounded"] == (row["alpha"] >= C * (1 - 1e-9))
        if not row["bounded"]:
            assert abs(row["slack"]) < 1e-3
    assert set(model.support_) == {row["row"] for row in table}


def test_the_plane_is_the_sum_of_its_support_vectors(two_classes):
    X, y = two_classes
    model = linsep.SVC(kernel="linear", tol=1e-9).fit(X, y)
    weights = model.dual_coef_[0] @ X[model.support_]
    assert np.allclose(weights, model.coef_[0], atol=1e-8)
    assert np.array_equal(model.support_vectors_, X[model.support_])
    assert model.n_support_.sum() == len(model.support_)


# -- words -----------------------------------------------------------------------------------------------------------------


def test_summary_says_what_was_fitted(three_classes):
    import pandas

    X, y = three_classes
    model = linsep.LogisticRegression(C=2.0).fit(pandas.DataFrame(X, columns=["leaf", "bark", "age"]), y)
    text = model.summary()
    for word in ("Softmax regression, 3 classes", "certificate", "objective", "C = 2", "leaf", "bark", "cedar 30", "90 rows"):
        assert word in text, word
    assert str(model.objective_)[:9] in text


def test_summary_is_that_of_the_command(three_classes, command, tmp_path):
    model = linsep.LogisticRegression().fit(*three_classes)
    path = tmp_path / "model.json"
    model.save(path)
    # What follows differs: `inspect` shows more digits and the decision.
    assert model.summary().splitlines()[:6] == command("inspect", path).splitlines()[:6]


def test_representations(two_classes):
    model = linsep.LogisticRegression(C=2.0)
    assert repr(model) == "LogisticRegression(C=2.0)"
    assert "not fitted" in model._repr_html_()
    model.fit(*two_classes)
    html = model._repr_html_()
    assert html.count("<table") == html.count("</table>") >= 1
    assert "duality gap" in html and "C=2.0" in html
    labelled = linsep.LogisticRegression().fit(two_classes[0], np.array(["<b>", "&"])[two_classes[1]])._repr_html_()
    assert "<b>" not in labelled and "&lt;b&gt;" in labelled
