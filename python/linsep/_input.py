"""Features, labels and weights as Python holds them, made ready for the extension.

Nothing is copied that need not be: C-contiguous arrays of float64 and float32 and CSR matrices with sorted indices are
lent as they are. Frames of numbers become one matrix; frames with text columns go to the library as tables, which
encodes them. No pass over the values looks for NaN or infinity: the library does that while it works.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from . import _core
from ._errors import conversion_warning, warn

_FLOATS = ("d", "f")


class Features:
    """What the extension takes, with its shape and the names of its columns."""

    # Written out: making a dataclass takes longer than importing the rest of this file.
    __slots__ = ("x", "rows", "cols", "names", "is_table", "is_sparse")

    def __init__(
        self,
        x: Any,
        rows: int,
        cols: int,
        names: list[str] | None = None,
        is_table: bool = False,
        is_sparse: bool = False,
    ) -> None:
        self.x = x
        self.rows = rows
        self.cols = cols
        self.names = names
        #: A table with text columns rather than a matrix.
        self.is_table = is_table
        self.is_sparse = is_sparse

    @property
    def dtype(self) -> type:
        """The precision of the numbers, which is that of what is learned from them."""
        values = self.x[2] if isinstance(self.x, tuple) else self.x
        return np.float32 if getattr(values, "dtype", None) == np.float32 else np.float64


def features(X: Any, *, sparse: bool = True, owner: str = "estimator") -> Features:
    """Features from anything that holds a table of numbers, or a frame."""
    if type(X) is np.ndarray:
        return _dense(X, None, owner)
    if _is_sparse(X):
        if not sparse:
            raise TypeError(
                f"Sparse data was passed for X, but dense data is required by {owner}. Use '.toarray()' to convert to a"
                " dense numpy array."
            )
        return _sparse(X, owner)
    _check_kind(X)
    names = column_names(X)
    if is_frame(X):
        return _frame(X, names, owner)
    if hasattr(X, "mask") and hasattr(X, "filled"):
        # Masked cells are missing; the library says where.
        X = X.astype(np.float64).filled(np.nan)
    return _dense(np.asarray(X), names, owner)


def _check_kind(X: Any) -> None:
    """Frames that are no table of rows and columns, by what they are called in pandas and polars."""
    kind = type(X).__name__
    if kind == "LazyFrame":
        raise TypeError("X is a LazyFrame, whose rows are not there yet: give X.collect()")
    if kind == "Series" and hasattr(X, "to_frame"):
        raise ValueError("Expected 2D array, got a Series instead: X.to_frame() is a table of one column")


def _dense(X: np.ndarray, names: list[str] | None, owner: str) -> Features:
    if X.ndim != 2:
        raise _wrong_dimensions(X)
    if X.dtype.char not in _FLOATS:
        X = _to_float(X)
    if not X.flags.c_contiguous or not X.flags.aligned or not X.dtype.isnative:
        X = np.require(X, dtype=X.dtype.newbyteorder("="), requirements=["C", "A"])
    rows, cols = X.shape
    _check_size(rows, cols, owner)
    return Features(X, rows, cols, names)


def _wrong_dimensions(X: np.ndarray) -> ValueError:
    if X.ndim > 2:
        return ValueError(f"Found array with dim {X.ndim}, while dim <= 2 is required.")
    shape = "scalar array" if X.ndim == 0 else "1D array"
    return ValueError(
        f"Expected 2D array, got {shape} instead:\narray={X}.\nReshape your data either using array.reshape(-1, 1) if"
        " your data has a single feature or array.reshape(1, -1) if it contains a single sample."
    )


def _to_float(X: np.ndarray) -> np.ndarray:
    kind = X.dtype.kind
    if kind == "c":
        raise ValueError(f"Complex data not supported\n{X}\n")
    if kind in "USV":
        raise ValueError(
            f"the features are text (dtype {X.dtype}), not numbers: convert them, or give a frame, whose text columns"
            " are encoded"
        )
    if kind in "mM":
        raise ValueError(f"the features are times (dtype {X.dtype}), not numbers: convert them first")
    # Objects are converted one by one, and what is no number is named by Python itself.
    return np.ascontiguousarray(X, dtype=np.float64)


def _check_size(rows: int, cols: int, owner: str) -> None:
    for count, what in ((rows, "sample"), (cols, "feature")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape=({rows}, {cols})) while a minimum of 1 is required by {owner}."
            )


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def _sparse(X: Any, owner: str) -> Features:
    csr = X.tocsr()
    if csr.ndim != 2:
        raise ValueError(f"Expected a 2D sparse matrix, got {csr.ndim}D instead.")
    rows, cols = csr.shape
    _check_size(rows, cols, owner)
    if csr.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{csr}\n")
    if csr.dtype.char not in _FLOATS:
        csr = csr.astype(np.float64)
    if not (csr.has_sorted_indices and csr.has_canonical_format):
        # `copy` because the caller's matrix must not change under his hands.
        csr = csr.copy()
        csr.sum_duplicates()
    parts = (
        np.ascontiguousarray(csr.indptr),
        np.ascontiguousarray(csr.indices),
        np.ascontiguousarray(csr.data),
        int(cols),
    )
    return Features(parts, rows, cols, is_sparse=True)


def is_frame(X: Any) -> bool:
    """Whether something has named columns, as frames have."""
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__") or hasattr(X, "iloc")


def column_names(X: Any) -> list[str] | None:
    """The names of the columns where all of them are text; an error where only some are."""
    columns = getattr(X, "columns", None)
    if hasattr(X, "column_names"):  # pyarrow: `columns` are the data
        columns = X.column_names
    if columns is None or isinstance(X, np.ndarray):
        return None
    names = list(columns)
    kinds = sorted({type(name).__name__ for name in names})
    texts = sum(isinstance(name, str) for name in names)
    if names and texts == len(names):
        return [str(name) for name in names]
    if texts:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has"
            f" {kinds} as feature name / column name types. If you want feature names to be stored and validated, you"
            " must convert them all to strings, by using X.columns = X.columns.astype(str) for example."
        )
    return None


def _frame(X: Any, names: list[str] | None, owner: str) -> Features:
    matrix = _frame_matrix(X)
    if matrix is not None:
        return _dense(matrix, names, owner)
    rows, cols = len(X), len(names or X.columns)
    _check_size(rows, cols, owner)
    return Features(_table(X, names), rows, cols, names, is_table=True)


def table(X: Any) -> Features | None:
    """A frame as a table, whatever its columns hold; `None` for what is no frame with names."""
    names = column_names(X) if is_frame(X) and not isinstance(X, np.ndarray) else None
    return None if names is None else Features(_table(X, names), len(X), len(names), names, is_table=True)


def _table(X: Any, names: list[str] | None) -> Any:
    """A table that the extension reads: by Arrow, or from pandas column by column."""
    if hasattr(X, "iloc"):
        from ._table import from_pandas

        return from_pandas(X, names)
    if hasattr(X, "__arrow_c_stream__"):
        return X
    raise TypeError(f"a frame of type {type(X).__name__} with text columns must have the Arrow interface")


def _frame_matrix(X: Any) -> np.ndarray | None:
    """The numbers of a frame as one matrix; `None` if some columns are not numbers."""
    if hasattr(X, "iloc"):  # pandas
        kinds = {dtype.kind for dtype in X.dtypes}
        if kinds <= set("f") and all(isinstance(dtype, np.dtype) for dtype in X.dtypes):
            return X.to_numpy()
        if kinds <= set("biuf") or _are_numbers(X):
            return X.to_numpy(dtype=np.float64, na_value=np.nan)
        return None
    if hasattr(X, "column_names"):  # pyarrow
        if all(_is_arrow_number(field.type) for field in X.schema):
            matrix = np.empty((X.num_rows, X.num_columns), order="F")
            for j, column in enumerate(X.columns):
                matrix[:, j] = column.to_numpy() if hasattr(column, "num_chunks") else column.to_numpy(False)
            return matrix
        return None
    if hasattr(X, "to_numpy") and hasattr(X, "dtypes"):  # polars
        if all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in X.dtypes):
            return X.to_numpy()
        return None
    if hasattr(X, "__array__") and not hasattr(X, "__arrow_c_stream__"):
        return np.asarray(X)
    return None


def _are_numbers(X: Any) -> bool:
    from ._table import are_numbers

    return all(are_numbers(X.iloc[:, j]) for j in range(X.shape[1]))


def _is_arrow_number(kind: Any) -> bool:
    return str(kind).startswith(("int", "uint", "float", "double", "halffloat"))


class Labels:
    """Classes in their order, the place of every label among them, and the names that the model file gives them."""

    __slots__ = ("classes", "codes", "names", "are_text")

    def __init__(self, classes: np.ndarray, codes: np.ndarray, names: list[str], are_text: bool) -> None:
        self.classes = classes
        self.codes = codes
        self.names = names
        self.are_text = are_text


def labels(y: Any, rows: int, owner: str = "estimator", least: int = 2) -> Labels:
    """Labels from any array, list or column, of so many classes at least."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None")
    y = _one_dimension(y)
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]")
    classes, codes = encode(y)
    if classes.size < least:
        raise ValueError(
            f"{owner} needs samples of at least 2 classes in the data, but the data contains only one class:"
            f" {classes.tolist()[0]!r}"
        )
    return Labels(classes, codes, *class_names(classes))


def _one_dimension(y: Any) -> np.ndarray:
    if _is_sparse(y):
        raise TypeError("Sparse data was passed for y, but dense data is required. Use '.toarray()' to convert it.")
    if hasattr(y, "__arrow_c_array__") and hasattr(y, "null_count"):  # pyarrow, which copies only if it is told to
        y = y.to_numpy(zero_copy_only=False)
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ),"
            " for example using ravel().",
            conversion_warning(),
        )
        return y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y


def encode(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, sorted, and the place of each label among them."""
    kind = y.dtype.kind
    if kind in "bi" or (kind == "u" and y.dtype.itemsize < 8):
        classes, codes = _core.encode(np.ascontiguousarray(y, dtype=np.int64))
        return classes.astype(y.dtype, copy=False), codes
    if kind == "f":
        classes, codes = _core.encode(np.ascontiguousarray(y, dtype=np.float64))
        return classes.astype(y.dtype, copy=False), codes
    if kind == "u":
        distinct, place = np.unique(y, return_inverse=True)
        return distinct, place.astype(np.uint32)
    if kind in "US":
        return _encode_text(y)
    if kind in "OT":
        return _encode_objects(y)
    if kind in "mM":
        if np.isnat(y).any():
            raise ValueError("Input y contains NaT.")
        moments, codes = _core.encode(np.ascontiguousarray(y).view(np.int64))
        return moments.view(y.dtype), codes
    raise ValueError(f"Unknown label type: labels of dtype {y.dtype}")


#: Up to so many distinct labels, comparing an array with each of them is faster than a dictionary.
_FEW = 16


def _encode_text(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels of fixed width, compared as arrays while there are few of them."""
    found: list[Any] = []
    codes = np.full(y.size, -1, np.int64)
    at = 0
    while len(found) < _FEW:
        is_new = codes[at:] < 0
        at += int(is_new.argmax())
        if codes[at] >= 0:
            break
        codes[y == y[at]] = len(found)
        found.append(y[at])
    if codes.min() < 0:
        return _encode_objects(y)
    order = sorted(range(len(found)), key=found.__getitem__)
    place = np.empty(len(found), np.uint32)
    place[order] = np.arange(len(found), dtype=np.uint32)
    return np.array([found[at] for at in order], dtype=y.dtype), place[codes]


def _encode_objects(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels that are no plain numbers: one dictionary, then a sort of the few that are distinct."""
    places: dict[Any, int] = {}
    try:
        seen = np.fromiter((places.setdefault(label, len(places)) for label in y.tolist()), np.int64, y.size)
    except TypeError:
        raise ValueError("Unknown label type: labels must be numbers or text") from None
    found = list(places)
    if any(label is None or label != label for label in found):
        raise ValueError("Input y contains NaN.")
    if not (all(isinstance(label, (str, bytes)) for label in found) and len({type(label) for label in found}) == 1):
        if all(isinstance(label, (bool, np.bool_)) for label in found):
            return encode(y.astype(np.bool_))
        if all(isinstance(label, (bool, int, np.integer, np.bool_)) for label in found):
            return encode(np.array([int(label) for label in y.tolist()], dtype=np.int64))
        if all(isinstance(label, (int, float, np.number)) for label in found):
            return encode(y.astype(np.float64))
        return _encode_mixed(found, seen)
    order = sorted(range(len(found)), key=found.__getitem__)
    place = np.empty(len(found), np.uint32)
    place[order] = np.arange(len(found), dtype=np.uint32)
    return np.array([found[at] for at in order], dtype=y.dtype), place[seen]


#: What labels may be beside each other, in the order of the classes.
_MIXED = (bool, int, float, str, bytes)


def _encode_mixed(found: list[Any], seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels of several types: truth values, then numbers, then text."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in found]
    odd = sorted({type(label).__name__ for label in plain if type(label) not in _MIXED})
    if odd:
        raise ValueError(f"Unknown label type: labels of type {', '.join(odd)} are neither numbers nor text")
    parts = [label for label in plain if isinstance(label, float) and label != int(label)]
    if parts:
        raise ValueError(f"Unknown label type: continuous. The label {parts[0]} is not a whole number")
    names = [label.decode() if isinstance(label, bytes) else str(label) for label in plain]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Unknown label type: two labels of different types are both written {twice!r}")

    def key(at: int) -> tuple[int, Any]:
        kind = _MIXED.index(type(plain[at]))
        return (1 if kind == 2 else kind, plain[at])

    order = sorted(range(len(plain)), key=key)
    place = np.empty(len(plain), np.uint32)
    place[order] = np.arange(len(plain), dtype=np.uint32)
    classes = np.empty(len(plain), dtype=object)
    classes[:] = [plain[at] for at in order]
    return classes, place[seen]


def label_types(classes: np.ndarray) -> list[str]:
    """What labels are, for the model file: a type of numpy, or one word for each of several types; none for int64 and text."""
    kind = classes.dtype.kind
    if classes.dtype == np.int64 or kind in "UT":
        return []
    if kind == "S":
        return [classes.dtype.str]
    if kind != "O":
        return [str(classes.dtype)]
    found = [type(label).__name__ for label in classes.tolist()]
    return [] if set(found) == {"str"} else found


def labels_from(names: list[str], types: list[str]) -> np.ndarray:
    """Labels from their names in a model file and what they are."""
    readers: dict[str, Any] = {
        "bool": lambda name: name == "True", "int": int, "float": float, "str": str, "bytes": str.encode,
    }
    if len(types) == len(names) and all(word in readers for word in types) and (len(set(types)) > 1 or types[0] in ("str", "bytes")):
        found = np.empty(len(names), dtype=object)
        found[:] = [readers[word](name) for word, name in zip(types, names)]
        return found
    dtype = np.dtype(types[0])
    if dtype.kind == "b":
        return np.array([name == "True" for name in names])
    if dtype.kind in "iu":
        return np.array([int(name) for name in names], dtype=dtype)
    if dtype.kind == "m":
        return np.array([int(name.split()[0]) for name in names], dtype=dtype)
    if dtype.kind == "S":
        return np.array([name.encode() for name in names], dtype=dtype)
    return np.array(names).astype(dtype)


def class_names(classes: np.ndarray) -> tuple[list[str], bool]:
    """Names of classes as a table spells them, and whether they are text."""
    if classes.dtype.kind in "iu":
        return [str(label) for label in classes.tolist()], False
    if classes.dtype.kind == "f":
        return [str(int(label)) for label in classes.tolist()], False
    return [label.decode() if isinstance(label, bytes) else str(label) for label in classes.tolist()], True


def codes_of(
    y: Any, classes: np.ndarray, rows: int, stranger: str = "y contains previously unseen labels: {}"
) -> np.ndarray:
    """The places of labels among known classes."""
    y = _one_dimension(y)
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]")
    found, codes = encode(y)
    known = {label: at for at, label in enumerate(classes.tolist())}
    unknown = [label for label in found.tolist() if label not in known]
    if unknown:
        raise ValueError(stranger.format(unknown))
    return np.array([known[label] for label in found.tolist()], np.uint32)[codes]


def check_finite(x: Any) -> None:
    """For what is changed before the library sees it, or would hide NaN and infinity from it."""
    what = not_finite(x)
    if what is not None:
        raise ValueError(f"Input X contains {what}.")


def flat(y: Any, rows: int) -> np.ndarray:
    """Labels to compare with, in one dimension."""
    found = _one_dimension(y)
    if len(found) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(found)}]")
    return found


def to_dense(x: Any) -> np.ndarray:
    """A dense matrix of what the extension takes."""
    if not isinstance(x, tuple):
        return x
    starts, indices, values, cols = x
    found = np.zeros((len(starts) - 1, cols))
    found[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), indices] = values
    return found


def times(x: Any, factors: np.ndarray) -> np.ndarray:
    """The product of what the extension takes with a dense matrix."""
    if not isinstance(x, tuple):
        return x @ factors
    # Sparse features come from scipy, so it is loaded already.
    from scipy.sparse import csr_matrix

    starts, indices, values, cols = x
    return np.asarray(csr_matrix((values, indices, starts), shape=(len(starts) - 1, cols)) @ factors)


def not_finite(x: Any) -> str | None:
    """``"NaN"`` or ``"infinity"`` where a matrix has one; asked only where a fit has failed."""
    values = x[2] if isinstance(x, tuple) else x
    if not isinstance(values, np.ndarray) or np.isfinite(values).all():
        return None
    return "NaN" if np.isnan(values).any() else f"infinity or a value too large for {values.dtype}"


def told(error: Exception, x: Any, estimator: Any) -> Exception:
    """An error of the library, with what scikit-learn would say of the features in front of it."""
    what = not_finite(x)
    if what is not None:
        return _again(error, f"Input X contains {what}. {error}")
    values = x[2] if isinstance(x, tuple) else x
    if estimator._positive_only and isinstance(values, np.ndarray) and bool((values < 0).any()):
        return _again(error, f"Negative values in data passed to {type(estimator).__name__} (input X): {error}")
    words = estimator._too_large(values) if isinstance(values, np.ndarray) else None
    return error if words is None else _again(error, f"{words}: {error}")


def _again(error: Exception, message: str) -> Exception:
    """The same error in more words, with its help."""
    found = _core.LinsepError(message)
    found.help = getattr(error, "help", None)
    return found


def weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Weights of rows as float64, or `None` where all are one."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        return np.full(rows, float(sample_weight))
    if hasattr(sample_weight, "to_numpy"):
        sample_weight = sample_weight.to_numpy()
    found = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if found.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {found.ndim}D array. Expected either a scalar value"
            f" or a 1D array of length {rows}."
        )
    if found.size != rows:
        raise ValueError(f"sample_weight.shape == {found.shape}, expected {(rows,)}!")
    if not np.isfinite(found).all():
        raise ValueError("Input sample_weight contains NaN or infinity.")
    if (found < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`")
    if not found.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return found


def class_weights(class_weight: Any, classes: np.ndarray) -> None | str | list[float]:
    """``None``, ``"balanced"`` or one factor per class; classes that a dictionary leaves out have the factor one."""
    if class_weight is None or isinstance(class_weight, str):
        return class_weight
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be a dictionary, 'balanced' or None, not {class_weight!r}")
    labels_ = classes.tolist()
    strangers = [label for label in class_weight if label not in labels_]
    if strangers and len(strangers) == len(class_weight):
        raise ValueError(f"The classes, {strangers}, of class_weight are not among the labels {labels_}")
    return [float(class_weight.get(label, 1.0)) for label in labels_]


def check_names(owner: str, fitted: list[str] | None, given: list[str] | None) -> None:
    """Names at prediction against names at fit, by scikit-learn's rules."""
    if fitted is None and given is None:
        return
    if fitted is None:
        warn(f"X has feature names, but {owner} was fitted without feature names")
    elif given is None:
        warn(f"X does not have valid feature names, but {owner} was fitted with feature names")
    elif fitted != given:
        raise ValueError(_names_differ(fitted, given))


def _names_differ(fitted: list[str], given: list[str]) -> str:
    def listed(names: list[str]) -> str:
        return "".join(f"- {name}\n" for name in names[:5]) + ("- ...\n" if len(names) > 5 else "")

    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    if unseen:
        message += "Feature names unseen at fit time:\n" + listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message
