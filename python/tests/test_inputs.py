"""Every array and table that people hold is taken, means the same in every form, and is refused clearly where it is bad."""

import numpy as np
import pytest
import scipy.sparse

import linsep


@pytest.fixture
def fitted(two_classes):
    X, y = two_classes
    return linsep.LogisticRegression().fit(X, y), X, y


def same_fit(model, X, y, rtol=0.0, **how):
    """Fitting on X gives the same weights as `model` has."""
    # Attributes have the precision of X, the models inside have one.
    found, model = linsep.LogisticRegression().fit(X, y, **how).model_, model.model_
    assert np.allclose(found.coef(), model.coef(), rtol=rtol, atol=rtol)
    assert np.allclose(found.intercept(), model.intercept(), rtol=rtol, atol=rtol)


# -- arrays ----------------------------------------------------------------------------------------------------------------


def strided(X):
    wide = np.full((X.shape[0], 2 * X.shape[1]), np.nan)
    wide[:, ::2] = X
    return wide[:, ::2]


def unaligned(X):
    room = np.empty(X.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(X.shape)
    room[...] = X
    return room


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


FORMS = {
    "Fortran order": np.asfortranarray,
    "every other column of a wider array": strided,
    "rows backwards twice": lambda X: X[::-1].copy()[::-1],
    "not aligned": unaligned,
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "read-only": read_only,
    "list of lists": lambda X: X.tolist(),
    "tuple of arrays": tuple,
    "objects": lambda X: X.astype(object),
    "matrix in CSR": scipy.sparse.csr_matrix,
    "array in CSR": scipy.sparse.csr_array,
    "CSC": scipy.sparse.csc_matrix,
    "COO": scipy.sparse.coo_matrix,
    "long double": lambda X: X.astype(np.longdouble),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_array_gives_the_same_fit_and_predictions(fitted, form):
    model, X, y = fitted
    given = FORMS[form](X)
    # Sums over sparse entries run in another order.
    rtol = 1e-6 if scipy.sparse.issparse(given) else 0.0
    same_fit(model, given, y, rtol)
    assert np.array_equal(model.predict(given), model.predict(X))
    assert np.allclose(model.predict_proba(given), model.predict_proba(X), rtol=1e-12, atol=1e-12)
    assert np.allclose(model.decision_function(given), model.decision_function(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64", "bool", "float16", "float32"])
def test_every_type_of_number_is_its_value(rng, dtype):
    X = rng.integers(0, 2 if dtype == "bool" else 5, size=(80, 4)).astype(dtype)
    y = (X.astype(float) @ [1, -1, 1, 0] + rng.normal(size=80) > 0).astype(int)
    model = linsep.LogisticRegression().fit(X.astype(float), y)
    # Rows of float32 are widened as they are read, exactly, but by another route.
    same_fit(model, X, y, rtol=1e-9)
    assert np.array_equal(model.predict(X), model.predict(X.astype(float)))
    assert np.allclose(model.predict_proba(X), model.predict_proba(X.astype(float)), rtol=1e-12)


def test_memory_mapped_rows(fitted, tmp_path):
    model, X, y = fitted
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    same_fit(model, mapped, y)
    assert np.array_equal(model.predict(mapped), model.predict(X))


def test_input_is_not_changed(two_classes):
    X, y = two_classes
    sparse = scipy.sparse.csr_matrix(X)
    kept_X, kept_y, kept_sparse = X.copy(), y.copy(), sparse.copy()
    for standardize in (False, True):
        linsep.LogisticRegression(standardize=standardize).fit(X, y).predict(X)
        linsep.LogisticRegression(standardize=standardize).fit(sparse, y).predict(sparse)
    assert np.array_equal(X, kept_X) and np.array_equal(y, kept_y)
    assert np.array_equal(sparse.data, kept_sparse.data) and np.array_equal(sparse.indices, kept_sparse.indices)


# -- sparse matrices -------------------------------------------------------------------------------------------------------


@pytest.fixture
def sparse(rng):
    X = scipy.sparse.random(100, 30, density=0.2, random_state=6, format="csr")
    y = (np.asarray(X @ rng.normal(size=30)) + 0.1 * rng.normal(size=100) > 0).astype(int)
    return X, y


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [np.float64, np.float32, np.int64])
def test_types_of_sparse_indices_and_values(sparse, index, value):
    X, y = sparse
    X = X.copy()
    X.data = np.ceil(4 * X.data)
    model = linsep.LogisticRegression().fit(X, y)
    given = X.astype(value)
    given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    same_fit(model, given, y, rtol=1e-12)
    assert np.array_equal(model.predict_proba(given), model.predict_proba(X))


def test_sparse_and_dense_are_the_same(sparse):
    X, y = sparse
    model = linsep.LogisticRegression(tol=1e-10).fit(X, y)
    same_fit(model, X.toarray(), y, rtol=1e-4)
    assert np.allclose(model.predict_proba(X), model.predict_proba(X.toarray()), atol=1e-12)


def test_unsorted_indices_duplicates_and_stored_zeros(sparse):
    X, y = sparse
    model = linsep.LogisticRegression().fit(X, y)
    starts, indices, data = [0], [], []
    for row in range(X.shape[0]):
        part = slice(X.indptr[row], X.indptr[row + 1])
        # Backwards, every entry as two halves, and a zero.
        indices += [*X.indices[part][::-1], *X.indices[part], 7]
        data += [*(X.data[part][::-1] / 2), *(X.data[part] / 2), 0.0]
        starts.append(len(data))
    given = scipy.sparse.csr_matrix((data, indices, starts), X.shape)
    before = given.indices.copy()
    same_fit(model, given, y, rtol=1e-6)
    assert np.allclose(model.predict_proba(given), model.predict_proba(X), atol=1e-12)
    assert np.array_equal(given.indices, before), "the caller's matrix was sorted in place"


def test_an_empty_row_is_the_intercept(sparse):
    X, y = sparse
    model = linsep.LogisticRegression().fit(X, y)
    assert model.decision_function(scipy.sparse.csr_matrix((1, 30))).tolist() == model.intercept_.tolist()


# -- frames ----------------------------------------------------------------------------------------------------------------

NAMES = ["height", "width", "age", "mass"]


def frames(X):
    import pandas
    import polars
    import pyarrow

    return {
        "pandas": pandas.DataFrame(X, columns=NAMES),
        "pandas with an index": pandas.DataFrame(X, columns=NAMES, index=np.arange(len(X))[::-1] * 3),
        "pandas of many types": pandas.DataFrame(X, columns=NAMES).astype({"age": "Float64"}),
        "polars": polars.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)}),
        "pyarrow": pyarrow.table({name: X[:, j] for j, name in enumerate(NAMES)}),
        "pyarrow in pieces": pyarrow.concat_tables(
            [pyarrow.table({name: part[:, j] for j, name in enumerate(NAMES)}) for part in (X[:50], X[50:])]
        ),
    }


KINDS = ["pandas", "pandas with an index", "pandas of many types", "polars", "pyarrow", "pyarrow in pieces"]


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_numbers_are_matrices_with_names(fitted, kind):
    model, X, y = fitted
    frame = frames(X)[kind]
    named = linsep.LogisticRegression().fit(frame, y)
    assert np.allclose(named.coef_, model.coef_, rtol=1e-12)
    assert named.feature_names_in_.tolist() == NAMES
    assert "height" in named.summary()
    # Any frame with these columns will do.
    for other in frames(X).values():
        assert np.allclose(named.predict_proba(other), model.predict_proba(X), rtol=1e-12)


def people(pandas):
    rng = np.random.default_rng(6)
    n = 150
    frame = pandas.DataFrame({
        "age": rng.integers(18, 80, n),
        "town": rng.choice(["Ulm", "Köln", "Wien"], n),
        "size": pandas.Categorical(rng.choice(["S", "M", "L"], n), categories=["S", "M", "L", "XL"], ordered=True),
        "member": rng.random(n) < 0.5,
        "income": rng.normal(3000, 800, n),
    })
    score = (frame["age"] - 45) / 20 + (frame["town"] == "Ulm") * 1.5 + (frame["size"] == "L") - frame["member"] * 1.0
    return frame, np.where(score + rng.normal(size=n) > 0.3, "buys", "leaves")


def test_text_columns_are_encoded():
    import pandas

    frame, y = people(pandas)
    model = linsep.LogisticRegression(standardize=True).fit(frame, y)
    names = model.model_.feature_names
    assert any("Ulm" in name for name in names) and any("size" in name and "M" in name for name in names)
    assert model.n_features_in_ == 5
    assert model.coef_.shape[1] == len(names) > 5
    assert model.score(frame, y) > 0.7
    # The town matters: a row is moved by it alone.
    rows = frame.iloc[[0, 0]].copy()
    rows["town"] = ["Ulm", "Wien"]
    scores = model.decision_function(rows)
    assert scores[0] != scores[1]


def test_text_columns_are_the_same_from_every_library():
    import pandas
    import polars
    import pyarrow

    frame, y = people(pandas)
    plain = frame.astype({"size": str})
    model = linsep.LogisticRegression(standardize=True).fit(plain, y)
    others = [
        polars.DataFrame({name: plain[name].tolist() for name in plain}),
        pyarrow.table({name: plain[name].tolist() for name in plain}),
        plain.astype({"town": "category"}),
        plain.astype({"town": object}),
        plain.iloc[::-1].iloc[::-1],
    ]
    for other in others:
        found = linsep.LogisticRegression(standardize=True).fit(other, y)
        assert np.allclose(found.predict_proba(other), model.predict_proba(plain), atol=1e-8), type(other)
        assert np.allclose(model.predict_proba(other), model.predict_proba(plain), atol=1e-12), type(other)


def test_a_level_that_was_not_seen_is_named():
    import pandas

    frame, y = people(pandas)
    model = linsep.LogisticRegression(standardize=True).fit(frame, y)
    strange = frame.iloc[:3].copy()
    strange["town"] = "Atlantis"
    with pytest.raises(ValueError, match="Atlantis"):
        model.predict(strange)


def test_missing_cells_of_a_frame_are_named():
    import pandas

    frame, y = people(pandas)
    for column, gap in (("town", None), ("income", np.nan)):
        broken = frame.copy()
        broken.loc[7, column] = gap
        with pytest.raises(ValueError, match=f"(?s)NaN|missing|{column}"):
            linsep.LogisticRegression().fit(broken, y)


def test_object_columns_of_numbers_are_numbers(fitted):
    import pandas

    model, X, y = fitted
    frame = pandas.DataFrame(X.astype(object), columns=NAMES)
    assert np.allclose(linsep.LogisticRegression().fit(frame, y).coef_, model.coef_, rtol=1e-9)


@pytest.mark.parametrize("column", [
    lambda pandas, n: pandas.date_range("2026-01-01", periods=n), lambda pandas, n: pandas.to_timedelta(np.arange(n), "s"),
    lambda pandas, n: np.full(n, 1j), lambda pandas, n: [[1, 2]] * n, lambda pandas, n: [{"a": 1}] * n,
], ids=["times", "spans of time", "complex", "lists", "dicts"])
def test_columns_that_are_neither_numbers_nor_text_are_refused(fitted, column):
    import pandas

    _, X, y = fitted
    frame = pandas.DataFrame(X, columns=NAMES)
    frame["odd"] = column(pandas, len(y))
    with pytest.raises((ValueError, TypeError), match="odd"):
        linsep.LogisticRegression().fit(frame, y)


def test_names_are_checked_at_prediction(fitted):
    import pandas

    _, X, y = fitted
    frame = frames(X)["pandas"]
    model = linsep.LogisticRegression().fit(frame, y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[NAMES[::-1]])
    with pytest.raises(ValueError, match="(?s)unseen at fit time.*weight.*missing.*mass"):
        model.predict(frame.rename(columns={"mass": "weight"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        linsep.LogisticRegression().fit(X, y).predict(frame)
    with pytest.raises(TypeError, match="string names"):
        linsep.LogisticRegression().fit(pandas.DataFrame(X, columns=["a", "b", 3, 4]), y)


# -- labels ----------------------------------------------------------------------------------------------------------------


def label_kinds(codes):
    import pandas
    import polars
    import pyarrow

    words = np.array(["no", "yes"])[codes]
    return {
        "int8": (codes.astype(np.int8), [0, 1]),
        "uint64": (codes.astype(np.uint64), [0, 1]),
        "negative": (2 * codes - 1, [-1, 1]),
        "far apart": (codes * (2**62) - 5, [-5, 2**62 - 5]),
        "bool": (codes == 1, [False, True]),
        "float": (codes.astype(float) + 1, [1.0, 2.0]),
        "list of numbers": (codes.tolist(), [0, 1]),
        "text": (words, ["no", "yes"]),
        "objects": (words.astype(object), ["no", "yes"]),
        "list of text": (words.tolist(), ["no", "yes"]),
        "pandas": (pandas.Series(words), ["no", "yes"]),
        "category": (pandas.Series(words, dtype="category"), ["no", "yes"]),
        "nullable integers": (pandas.Series(codes, dtype="Int64"), [0, 1]),
        "polars": (polars.Series(words), ["no", "yes"]),
        "pyarrow": (pyarrow.array(words.tolist()), ["no", "yes"]),
        "umlauts and spaces": (np.array(["nein, nö", "ja\t„doch“"])[codes], ["ja\t„doch“", "nein, nö"]),
    }


@pytest.mark.parametrize("kind", [
    "int8", "uint64", "negative", "far apart", "bool", "float", "list of numbers", "text", "objects", "list of text",
    "pandas", "category", "nullable integers", "polars", "pyarrow", "umlauts and spaces",
])
def test_every_type_of_label_comes_back(fitted, kind):
    model, X, codes = fitted
    y, classes = label_kinds(codes)[kind]
    found = linsep.LogisticRegression().fit(X, y)
    assert found.classes_.tolist() == classes
    predicted = found.predict(X)
    assert predicted.dtype == found.classes_.dtype
    expected = model.predict(X)
    if classes[0] == "ja\t„doch“":
        expected = 1 - expected
    assert np.array_equal(predicted, found.classes_[expected])
    assert found.score(X, y) == model.score(X, codes)
    if isinstance(y, np.ndarray) and y.dtype.kind in "iufb":
        assert predicted.dtype == y.dtype


def test_a_column_of_labels_is_flattened_with_a_warning(fitted):
    model, X, y = fitted
    with pytest.warns(UserWarning, match="1d array was expected"):
        same_fit(model, X, y[:, None])


@pytest.mark.parametrize("y, message", [
    (lambda y: y + 0.5, "continuous"),
    (lambda y: np.where(y == 0, np.nan, 1.0), "NaN"),
    (lambda y: np.where(y == 0, np.inf, 1.0), "infinity"),
    (lambda y: np.zeros(len(y)), "class"),
    (lambda y: y[:-1], "inconsistent numbers of samples"),
    (lambda y: np.column_stack([y, y]), "1d"),
    (lambda y: None, "y"),
    (lambda y: [None, *["a"] * (len(y) - 1)], "NaN|None|missing"),
    (lambda y: np.array(["1", *[1] * (len(y) - 1)], dtype=object), "both written '1'"),
    (lambda y: [{}] * len(y), "label type"),
    (lambda y: y.astype(complex), "label type"),
    (lambda y: [], "inconsistent|empty|0"),
], ids=["fractions", "NaN", "infinity", "one class", "too short", "two columns", "None", "a None", "mixed", "dicts", "complex",
        "empty"])
def test_bad_labels_are_refused(fitted, y, message):
    _, X, good = fitted
    with pytest.raises(ValueError, match=f"(?i){message}"):
        linsep.LogisticRegression().fit(X, y(good))


# -- weights ---------------------------------------------------------------------------------------------------------------

WEIGHTED = {
    "logistic": lambda: linsep.LogisticRegression(lam=0.01, tol=1e-11),
    "svm": lambda: linsep.LinearSVC(lam=0.01, tol=1e-10),
    "lda": lambda: linsep.LinearDiscriminantAnalysis(),
    "qda": lambda: linsep.QuadraticDiscriminantAnalysis(),
    "least squares": lambda: linsep.LeastSquaresClassifier(),
    "naive Bayes": lambda: linsep.GaussianNB(),
}


@pytest.mark.parametrize("kind", WEIGHTED)
def test_a_weight_of_k_is_k_copies_and_zero_is_absence(rng, three_classes, kind):
    X, y = three_classes
    counts = rng.integers(0, 4, len(y))
    weighted = WEIGHTED[kind]().fit(X, y, sample_weight=counts)
    copied = WEIGHTED[kind]().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    scores = "decision_function" if hasattr(weighted, "decision_function") else "predict_log_proba"
    assert np.allclose(getattr(weighted, scores)(X), getattr(copied, scores)(X), rtol=1e-4, atol=1e-4)


def test_scale_of_weights_matters_to_C_and_not_to_lam(fitted):
    _, X, y = fitted
    s = np.full(len(y), 3.0)
    assert np.allclose(linsep.LogisticRegression(C=1.0).fit(X, y, s).coef_, linsep.LogisticRegression(C=3.0).fit(X, y).coef_, atol=1e-4)
    lam = linsep.LogisticRegression(lam=0.1)
    assert np.allclose(lam.fit(X, y, s).coef_, linsep.LogisticRegression(lam=0.1).fit(X, y).coef_, atol=1e-6)


def test_class_weights_are_weights_of_rows(fitted):
    _, X, y = fitted
    s = np.where(y == 1, 3.0, 0.5)
    by_class = linsep.LogisticRegression(class_weight={0: 0.5, 1: 3.0}, tol=1e-11).fit(X, y)
    by_row = linsep.LogisticRegression(tol=1e-11).fit(X, y, sample_weight=s)
    assert np.allclose(by_class.coef_, by_row.coef_, atol=1e-5)
    words = np.array(["no", "yes"])[y]
    named = linsep.LogisticRegression(class_weight={"no": 0.5, "yes": 3.0}, tol=1e-11).fit(X, words)
    assert np.allclose(named.coef_, by_row.coef_, atol=1e-5)


def test_balanced_classes(fitted):
    _, X, y = fitted
    counts = np.bincount(y)
    s = (len(y) / (2 * counts))[y]
    balanced = linsep.LogisticRegression(class_weight="balanced", tol=1e-11).fit(X, y)
    assert np.allclose(balanced.coef_, linsep.LogisticRegression(tol=1e-11).fit(X, y, s).coef_, atol=1e-5)


@pytest.mark.parametrize("weights, message", [
    (lambda n: -np.ones(n), "negative"),
    (lambda n: np.full(n, np.nan), "NaN"),
    (lambda n: np.full(n, np.inf), "infinity"),
    (lambda n: np.ones(n - 1), "sample_weight"),
    (lambda n: np.ones((n, 1)), "1D"),
    (lambda n: np.zeros(n), "zero"),
    (lambda n: ["heavy"] * n, "float|number"),
], ids=["negative", "NaN", "infinity", "too short", "two dimensions", "all zero", "text"])
def test_bad_weights_are_refused(fitted, weights, message):
    _, X, y = fitted
    with pytest.raises(ValueError, match=f"(?i){message}"):
        linsep.LogisticRegression().fit(X, y, sample_weight=weights(len(y)))


@pytest.mark.parametrize("class_weight", ["heavy", {7: 1.0}, [1.0, 2.0], {0: -1.0}, {0: np.nan}, {0: "x"}])
def test_bad_class_weights_are_refused(fitted, class_weight):
    _, X, y = fitted
    with pytest.raises((ValueError, TypeError)):
        linsep.LogisticRegression(class_weight=class_weight).fit(X, y)


# -- what is refused -------------------------------------------------------------------------------------------------------


def spoiled(X, value):
    X = np.array(X)
    X[3, 2] = value
    return X


@pytest.mark.parametrize("bad, message", [
    (lambda X: spoiled(X, np.nan), "NaN"),
    (lambda X: spoiled(X, np.inf), "inf"),
    (lambda X: spoiled(X.astype(np.float32), np.nan), "NaN"),
    (lambda X: scipy.sparse.csr_matrix(spoiled(X, np.nan)), "NaN"),
    (lambda X: np.asfortranarray(spoiled(X, -np.inf)), "inf"),
    (lambda X: X[:, 0], "2D array"),
    (lambda X: X[None], "dim"),
    (lambda X: 3.0, "2D array"),
    (lambda X: X[:0], "0 sample"),
    (lambda X: X[:, :0], "0 feature"),
    (lambda X: X.astype(complex), "(?i)complex"),
    (lambda X: X.astype(str), "text|number"),
    (lambda X: [["a"] * 4] * len(X), "text|number|convert"),
    (lambda X: [[1.0], [1.0, 2.0]], "inhomogeneous|sequence|shape"),
    (lambda X: X.astype("datetime64[s]"), "time"),
    (lambda X: None, "."),
    (lambda X: "rows", "."),
    (lambda X: {"a": 1}, "."),
], ids=["NaN", "infinity", "NaN in float32", "NaN in CSR", "minus infinity", "1-D", "3-D", "scalar", "no rows", "no columns", "complex",
        "text", "list of text", "ragged", "times", "None", "a string", "a dict"])
def test_bad_features_are_refused(fitted, bad, message):
    model, X, y = fitted
    given = bad(X)
    for call in (lambda: linsep.LogisticRegression().fit(given, y), lambda: model.predict(given), lambda: model.predict_proba(given)):
        with pytest.raises((ValueError, TypeError), match=message):
            call()


def test_where_a_nan_is_is_said(fitted):
    _, X, y = fitted
    with pytest.raises(ValueError, match="NaN") as caught:
        linsep.LogisticRegression().fit(spoiled(X, np.nan), y)
    assert "column `x2` of row 3 is NaN" in str(caught.value)


def test_another_number_of_features_is_refused(fitted):
    model, X, y = fitted
    for given in (X[:, :3], np.column_stack([X, X]), scipy.sparse.csr_matrix(X[:, :3])):
        for method in ("predict", "predict_proba", "decision_function"):
            with pytest.raises(ValueError, match="features"):
                getattr(model, method)(given)


def test_sparse_matrices_with_false_indices_are_refused(sparse):
    X, y = sparse
    for index in (30, -1, 2**30):
        broken = X.copy()
        broken.indices[5] = index
        with pytest.raises(ValueError):
            linsep.LogisticRegression().fit(broken, y)


def test_before_the_fit_nothing_is_known(fitted):
    from sklearn.exceptions import NotFittedError

    _, X, y = fitted
    model = linsep.LogisticRegression()
    for call in (
        lambda: model.predict(X), lambda: model.predict_proba(X), lambda: model.decision_function(X), model.summary,
        lambda: model.save("never"), lambda: model.verify(X, y), lambda: model.distance(X),
    ):
        with pytest.raises(linsep.NotFittedError):
            call()
        with pytest.raises(NotFittedError):
            call()
    assert not hasattr(model, "coef_") and not hasattr(model, "classes_")


@pytest.mark.parametrize("parameters, message", [
    ({"C": 0.0}, "C"), ({"C": -1.0}, "C"), ({"C": np.nan}, "C"), ({"C": "1"}, "C"), ({"C": 2.0, "lam": 0.1}, "C.*lam"),
    ({"lam": -0.1}, "lam"), ({"lam": np.inf}, "lam"), ({"tol": 0.0}, "tol"), ({"tol": -1}, "tol"), ({"tol": np.nan}, "tol"),
    ({"max_iter": -2}, "max_iter"), ({"max_iter": 1.5}, "max_iter"), ({"l1_ratio": 1.1}, "l1_ratio"), ({"l1_ratio": -0.1}, "l1_ratio"),
    ({"solver": "magic"}, "solver"), ({"solver": 3}, "solver"), ({"n_jobs": 0}, "n_jobs"),
    ({"solver": "newton", "l1_ratio": 1.0}, "newton|smooth|lasso"), ({"time_limit": -1.0}, "time"), ({"time_limit": np.nan}, "time"),
    ({"random_state": -1}, "random_state|seed"), ({"random_state": "x"}, "random_state|seed|int"),
])
def test_bad_parameters_are_refused_at_the_fit(fitted, parameters, message):
    _, X, y = fitted
    model = linsep.LogisticRegression(**parameters)
    with pytest.raises(ValueError, match=f"(?s){message}"):
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            pytest.fail("nobody interrupted")


def test_unknown_parameters_are_type_errors():
    with pytest.raises(TypeError, match="strength"):
        linsep.LogisticRegression(strength=3)
    with pytest.raises(ValueError, match="strength"):
        linsep.LogisticRegression().set_params(strength=3)


def test_what_is_no_table_gets_its_own_sentence():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    y = [0, 1, 0, 1]
    for series in (pd.Series([1.0, 2.0, 3.0, 4.0]), pl.Series([1.0, 2.0, 3.0, 4.0])):
        with pytest.raises(ValueError, match=r"X.to_frame\(\)"):
            linsep.LogisticRegression().fit(series, y)
    with pytest.raises(TypeError, match=r"X.collect\(\)"):
        linsep.LogisticRegression().fit(pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}).lazy(), y)


@pytest.mark.parametrize("parameters", [{"standardize": "no"}, {"fit_intercept": "yes"}, {"n_jobs": "all"}])
def test_text_does_not_count_as_true(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        linsep.LogisticRegression(**parameters).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_infinity_is_not_called_nan_and_help_is_kept():
    with pytest.raises(linsep.LinsepError, match="infinity") as caught:
        linsep.LogisticRegression().fit([[0.0], [np.inf], [2.0]], [0, 1, 0])
    assert "NaN" not in str(caught.value) and caught.value.help
