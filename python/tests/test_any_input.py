"""Any shape, type, order and stride means its C-contiguous float64 copy; garbage is refused, never a crash."""

import warnings

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import linsep

quickly = settings(
    max_examples=60, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

DTYPES = [np.float64, np.float32, np.float16, np.int8, np.int64, np.uint16, np.bool_, np.dtype(">f8"), np.dtype(">i4"), np.object_]


@some.composite
def laid_out(draw):
    """Small whole numbers in any layout: type, order, strides, alignment, direction."""
    rows, cols = draw(some.integers(6, 40)), draw(some.integers(1, 6))
    seed = draw(some.integers(0, 10**6))
    values = np.random.default_rng(seed).integers(0, 2, size=(rows, cols)) * np.arange(1, cols + 1)
    dtype = np.dtype(draw(some.sampled_from(DTYPES)))
    step, shift = draw(some.integers(1, 3)), draw(some.integers(0, 2))
    room = np.zeros((rows * step + shift, cols * step + shift), dtype, order=draw(some.sampled_from("CF")))
    view = room[shift : shift + rows * step : step, shift : shift + cols * step : step]
    view[...] = values.astype(dtype)
    if draw(some.booleans()):
        view = view[::-1, ::-1]
    if draw(some.booleans()):
        view = view.view()
        view.flags.writeable = False
    return view


@quickly
@given(laid_out())
def test_layout_changes_nothing(X):
    plain = np.array(X, dtype=np.float64, order="C")
    y = np.arange(len(X)) % 2
    fitted, expected = linsep.LogisticRegression().fit(X, y), linsep.LogisticRegression().fit(plain, y)
    # `coef_` has the precision of X, the model has its own.
    assert np.allclose(fitted.model_.coef(), expected.coef_, rtol=1e-8, atol=1e-10)
    assert np.array_equal(expected.predict(X), expected.predict(plain))
    assert np.allclose(expected.predict_proba(X), expected.predict_proba(plain), rtol=1e-12)


@quickly
@given(laid_out(), some.sampled_from(["csr", "csc", "coo", "lil"]), some.booleans())
def test_sparse_layout_changes_nothing(X, form, wide):
    plain = np.array(X, dtype=np.float64, order="C")
    y = np.arange(len(X)) % 2
    sparse = scipy.sparse.coo_array(plain).asformat(form)
    if wide and form in ("csr", "csc"):
        sparse.indices, sparse.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    # A gap g leaves √(2g/λ) of the weights open.
    model = linsep.LogisticRegression(tol=1e-12).fit(plain, y)
    assert np.allclose(model.predict_proba(sparse), model.predict_proba(plain), rtol=1e-12)
    again = linsep.LogisticRegression(tol=1e-12).fit(sparse, y)
    assert np.allclose(again.predict_proba(plain), model.predict_proba(plain), atol=1e-4)


garbage_cells = some.one_of(
    some.none(), some.booleans(), some.integers(), some.floats(), some.text(max_size=3), some.binary(max_size=3), some.complex_numbers(),
)
garbage_arrays = arrays.arrays(
    dtype=some.one_of(arrays.scalar_dtypes(), arrays.boolean_dtypes(), arrays.nested_dtypes(max_leaves=3)),
    shape=arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)
garbage = some.one_of(
    garbage_arrays, some.lists(some.lists(garbage_cells, max_size=4), max_size=6), garbage_cells, some.lists(garbage_cells, max_size=6),
    some.dictionaries(some.text(max_size=2), garbage_cells, max_size=3),
)

ESTIMATORS = [
    "LogisticRegression", "LinearSVC", "SVC", "RidgeClassifier", "LeastSquaresClassifier", "Perceptron", "PocketPerceptron", "KernelPerceptron",
    "SGDClassifier", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "GaussianBayes", "GaussianNB", "BernoulliNB",
    "MultinomialNB", "PoissonNB", "CategoricalNB", "MixedNB", "HardMarginSVC",
]


@settings(quickly, max_examples=150)
@given(some.sampled_from(ESTIMATORS), garbage, garbage, some.one_of(some.none(), garbage))
def test_garbage_is_a_value_error_or_a_type_error(name, X, y, sample_weight):
    model = getattr(linsep, name)()
    how = {} if sample_weight is None or name == "KernelPerceptron" else {"sample_weight": sample_weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y, **how)
        except (ValueError, TypeError):
            return
        # What is taken must be usable.
        assert len(model.predict(X)) == len(X)


@settings(quickly, max_examples=150)
@given(garbage)
def test_garbage_at_prediction(X):
    model = linsep.LogisticRegression().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in (model.predict, model.predict_proba, model.decision_function):
            try:
                found = method(X)
            except (ValueError, TypeError):
                continue
            assert len(found) == len(X)


@settings(quickly, max_examples=100)
@given(
    some.sampled_from(ESTIMATORS), some.integers(2, 12), some.integers(1, 4), some.integers(2, 4),
    some.sampled_from([0.0, 1e-300, 1.0, 1e8, 1e150, 1e300]), some.integers(0, 10**6),
)
def test_extreme_numbers_give_an_answer_or_a_value_error(name, rows, cols, classes, scale, seed):
    rng = np.random.default_rng(seed)
    X = np.abs(np.round(rng.normal(size=(rows, cols)) * 2)) * scale
    y = rng.integers(0, classes, rows)
    model = getattr(linsep, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = model.fit(X, y).predict(X)
        except ValueError:
            return
    assert set(found) <= set(y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_two_rows_are_enough_or_refused(name):
    model = getattr(linsep, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = model.fit([[1.0], [3.0]], ["a", "b"]).predict([[1.0], [3.0]])
        except ValueError as refused:
            assert str(refused)
            return
    assert set(found) <= {"a", "b"}


def comes_back(labels, tmp_path_factory):
    """Labels are sorted as Python sorts them, predicted, and the same after a file and a pickle."""
    import pickle

    y = labels * 6
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    model = linsep.LinearDiscriminantAnalysis().fit(X, np.array(y, dtype=object if isinstance(labels[0], str) else np.int64))
    assert model.classes_.tolist() == sorted(labels)
    path = tmp_path_factory.mktemp("labels") / "model.json"
    model.save(path)
    for again in (linsep.load(path), pickle.loads(pickle.dumps(model))):
        assert again.classes_.tolist() == model.classes_.tolist()
        assert again.predict(X).tolist() == model.predict(X).tolist()


@quickly
@given(labels=some.lists(some.text(max_size=4), min_size=2, max_size=6, unique=True))
def test_any_text_is_a_label(labels, tmp_path_factory):
    comes_back(labels, tmp_path_factory)


@quickly
@given(labels=some.lists(some.integers(-(2**63), 2**63 - 1), min_size=2, max_size=6, unique=True))
def test_whole_numbers_of_any_size_are_labels(labels, tmp_path_factory):
    comes_back(labels, tmp_path_factory)


@quickly
@given(names=some.lists(some.text(max_size=4), min_size=2, max_size=4, unique=True))
def test_any_text_is_the_name_of_a_column(names, tmp_path_factory):
    import pandas

    X = np.random.default_rng(0).normal(size=(20, len(names)))
    frame = pandas.DataFrame(X, columns=names)
    model = linsep.LogisticRegression().fit(frame, np.arange(20) % 2)
    path = tmp_path_factory.mktemp("names") / "model.json"
    model.save(path)
    again = linsep.load(path)
    if "feature_names_in_" in vars(again):
        assert again.feature_names_in_.tolist() == names
        assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
