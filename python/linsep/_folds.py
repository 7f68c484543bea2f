"""Which rows are learned from and which are held out, as scikit-learn's users say it."""

from __future__ import annotations

from typing import Any

import numpy as np

Split = tuple[np.ndarray, np.ndarray]


def stratified(codes: np.ndarray, folds: int) -> np.ndarray:
    """The fold of every row as scikit-learn's ``StratifiedKFold`` deals them without shuffling."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    # Classes in the order in which they appear.
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    order = rank[inverse.ravel()]
    counts = np.bincount(order)
    if folds < 2:
        raise ValueError(f"k-fold cross-validation requires at least one train/test split by setting cv=2 or more, got cv={folds}.")
    if np.all(counts < folds):
        raise ValueError(f"n_splits={folds} cannot be greater than the number of members in each class.")
    dealt = np.sort(order)
    shares = np.array([np.bincount(dealt[at::folds], minlength=counts.size) for at in range(folds)])
    found = np.empty(order.size, dtype=np.int64)
    for code in range(counts.size):
        found[order == code] = np.arange(folds).repeat(shares[:, code])
    return found


def splits(cv: Any, codes: np.ndarray, default: int = 5) -> list[Split]:
    """Pairs of training and test rows: of a number of folds, of anything with ``split``, or of an iterable of pairs."""
    if cv is None:
        cv = default
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        fold = stratified(codes, int(cv))
        return [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(int(cv))]
    if hasattr(cv, "split") and not isinstance(cv, str):
        return [(np.asarray(a), np.asarray(b)) for a, b in cv.split(np.zeros((codes.size, 1)), codes)]
    try:
        found = [(_rows(a, codes.size), _rows(b, codes.size)) for a, b in cv]
    except (TypeError, ValueError):
        raise ValueError(
            f"Expected cv as an integer, cross-validation object (from sklearn.model_selection) or an iterable. Got {cv!r}."
        ) from None
    if not found:
        raise ValueError("cv has no folds")
    return found


def _rows(said: Any, rows: int) -> np.ndarray:
    found = np.asarray(said)
    return np.flatnonzero(found) if found.dtype == bool and found.size == rows else found


def take(x: Any, rows: np.ndarray) -> Any:
    """Some rows of what the extension takes: a matrix, or CSR arrays."""
    if isinstance(x, np.ndarray):
        return x[rows]
    starts, indices, values, cols = x
    starts = np.asarray(starts)
    counts = (starts[1:] - starts[:-1])[rows]
    new = np.zeros(rows.size + 1, dtype=np.int64)
    np.cumsum(counts, out=new[1:])
    at = np.repeat(starts[:-1][rows] - new[:-1], counts) + np.arange(new[-1])
    return new, indices[at], values[at], cols


def product(x: Any, weights: np.ndarray) -> np.ndarray:
    """``x @ weights.T`` of the same."""
    if isinstance(x, np.ndarray):
        return x @ weights.T
    starts, indices, values, cols = x
    from scipy.sparse import csr_matrix

    return csr_matrix((values, indices, starts), shape=(len(starts) - 1, cols)) @ weights.T
