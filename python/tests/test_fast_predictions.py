"""The short way of `predict` for a few rows, blocks of many, and threads at once give the same answers."""

import threading

import numpy as np
import pytest

import linsep

MODELS = {
    "two classes": (lambda: linsep.LogisticRegression(), 2),
    "four classes": (lambda: linsep.LogisticRegression(), 4),
    "pairs": (lambda: linsep.OneVsOneClassifier(linsep.LogisticRegression()), 4),
    "quadratic": (lambda: linsep.QuadraticDiscriminantAnalysis(), 3),
    "kernel": (lambda: linsep.SVC(), 3),
    "counts": (lambda: linsep.LinearSVC(), 20),
}


def drawn(classes, rows=400, cols=7):
    rng = np.random.default_rng(classes)
    y = np.arange(rows) % classes
    return rng.normal(size=(rows, cols)) + rng.normal(size=(classes, cols))[y], y


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    make, classes = MODELS[request.param]
    X, y = drawn(classes)
    return make().fit(X, y), classes


@pytest.mark.parametrize("labels", [
    lambda y: y, lambda y: y.astype(np.int16), lambda y: y + 0.0, lambda y: np.array([f"class {k}" for k in y]),
    lambda y: np.array([f"class {k}" for k in y], dtype=object),
], ids=["int64", "int16", "float", "text", "objects"])
@pytest.mark.parametrize("rows", [1, 2, 17, 2340, 2342, 9000])
def test_every_number_of_rows(labels, rows):
    X, y = drawn(3)
    y = labels(y)
    model = linsep.LogisticRegression().fit(X, y)
    given = np.random.default_rng(rows).normal(size=(rows, 7))
    expected = model.classes_[(given @ model.coef_.T + model.intercept_).argmax(axis=1)]
    for form in (given, np.asfortranarray(given), given.tolist(), given.astype(np.float32).astype(np.float64)):
        found = model.predict(form)
        assert found.dtype == model.classes_.dtype and found.shape == (rows,)
        # Rounding to float32 may move a row over a boundary; none of these is so near.
        assert (found == expected).mean() > 0.999


def test_rows_one_by_one_and_together(fitted):
    model, classes = fitted
    X, _ = drawn(classes, rows=60)
    together = model.predict(X)
    assert [model.predict(row[None])[0] for row in X] == together.tolist()
    alone = np.concatenate([model.decision_function(row[None]) for row in X])
    # Many classes at once are a matrix product, whose sums for one row run in another order.
    assert np.allclose(alone, model.decision_function(X), rtol=1e-12, atol=1e-12)


def test_predictions_belong_to_who_asked(fitted):
    model, classes = fitted
    X, _ = drawn(classes, rows=5)
    first = model.predict(X)
    kept = first.copy()
    first[:] = first[::-1].copy()
    assert np.array_equal(model.predict(X), kept)
    model.classes_.copy()
    assert model.predict(X) is not model.predict(X)


def test_many_threads_ask_one_model(fitted):
    model, classes = fitted
    X, _ = drawn(classes, rows=3000)
    expected, wrong = model.predict(X), []

    def ask(start):
        for _ in range(5):
            rows = slice(start, start + 500)
            if not np.array_equal(model.predict(X[rows]), expected[rows]):
                wrong.append(start)

    threads = [threading.Thread(target=ask, args=(500 * k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_new_fit_forgets_the_old_one():
    import pandas

    X, y = drawn(3)
    model = linsep.LogisticRegression().fit(pandas.DataFrame(X, columns=list("abcdefg")), np.array(list("xyz"))[y])
    model.coef_, model.certificate_, model.predict(pandas.DataFrame(X, columns=list("abcdefg")))
    model.fit(X[:, :2], y == 1)
    fresh = linsep.LogisticRegression().fit(X[:, :2], y == 1)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2 and model.coef_.shape == (1, 2)
    assert np.array_equal(model.coef_, fresh.coef_) and model.certificate_ == fresh.certificate_
    assert model.predict(X[:, :2]).dtype == bool


def test_the_rows_may_be_gone_after_the_fit():
    X, y = drawn(3)
    models = [linsep.LogisticRegression().fit(X, y), linsep.SVC().fit(X, y)]
    before = [model.predict(X).tolist() for model in models]
    kept = X.copy()
    X[:] = np.nan
    assert [model.predict(kept).tolist() for model in models] == before
