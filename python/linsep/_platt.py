"""Probabilities of pairs of classes by Platt's scaling, and of all classes by coupling the pairs.

Scores of rows that a fit did not see, from five folds, give for each pair a logistic function ``1/(1 + exp(A z + B))``
by maximum likelihood with Platt's targets ``(n₊+1)/(n₊+2)`` and ``1/(n₋+2)``, which has an optimum on all data. Wu, Lin
and Weng (2004), second method: probabilities p of all classes minimise ``Σ_ij (r_ji p_i − r_ij p_j)²`` for the
probabilities r of pairs.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from . import _input
from ._fit import seed

#: As LIBSVM has it.
_FOLDS = 5


class Platt:
    """Scaling of the pair scores of a machine."""

    def __init__(self, machine: Any, X: Any, y: Any, sample_weight: Any) -> None:
        labels = _input.labels(y, _rows(X), type(machine).__name__)
        codes = labels.codes.astype(np.int64)
        weights = _input.weights(sample_weight, codes.size)
        self.n_classes = labels.classes.size
        self.pairs = list(combinations(range(self.n_classes), 2))
        scores = _held_out_scores(machine, X, np.asarray(labels.classes)[codes], codes, weights)
        self.slopes = [_scaling(scores, codes, at, pair) for at, pair in enumerate(self.pairs)]

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes from the scores of the pairs."""
        of_pairs = np.column_stack(
            [1.0 / (1.0 + np.exp(-(slope * scores[:, at] + intercept))) for at, (slope, intercept) in enumerate(self.slopes)]
        )
        if self.n_classes == 2:
            return np.column_stack([1.0 - of_pairs[:, 0], of_pairs[:, 0]])
        # No pair is certain, so that the system below is regular.
        of_pairs = of_pairs.clip(1e-7, 1.0 - 1e-7)
        return np.array([_couple(self.n_classes, self.pairs, row) for row in of_pairs])


def _rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _held_out_scores(machine: Any, X: Any, y: np.ndarray, codes: np.ndarray, weights: Any) -> np.ndarray:
    """Scores of all rows by machines that were fitted without them."""
    fold = np.empty(codes.size, np.int64)
    draw = np.random.default_rng(seed(machine))
    for k in range(codes.max() + 1):
        rows = draw.permutation(np.flatnonzero(codes == k))
        fold[rows] = np.arange(rows.size) % _FOLDS
    params = {**machine.get_params(deep=False), "probability": "deprecated"}
    found = np.zeros((codes.size, max(1, math.comb(int(codes.max()) + 1, 2))))
    for k in range(_FOLDS):
        out = np.flatnonzero(fold == k)
        rest = np.flatnonzero(fold != k)
        if not out.size or np.unique(codes[rest]).size <= codes.max():
            continue
        inner = type(machine)(**params).fit(_pick(machine, X, rest, rest), y[rest], None if weights is None else weights[rest])
        found[out] = inner._pair_scores(_pick(machine, X, out, rest))
    return found


def _pick(machine: Any, X: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Some rows of any kind of features; of a precomputed kernel with the columns of the rows that are fitted."""
    if machine._is_pairwise():
        return np.asarray(X)[np.ix_(rows, columns)]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[at] for at in rows]


def _scaling(scores: np.ndarray, codes: np.ndarray, at: int, pair: tuple[int, int]) -> tuple[float, float]:
    """Slope and intercept of the log-odds of the second class of a pair."""
    from .linear import LogisticRegression

    rows = np.flatnonzero(np.isin(codes, pair))
    z, second = scores[rows, at : at + 1], codes[rows] == pair[1]
    target = np.where(second, (second.sum() + 1.0) / (second.sum() + 2.0), 1.0 / ((~second).sum() + 2.0))
    # A target between 0 and 1 is a row of either class, with weights.
    fit = LogisticRegression(C=math.inf).fit(
        np.vstack([z, z]), np.repeat([0, 1], rows.size), np.concatenate([1.0 - target, target])
    )
    return float(fit.coef_[0, 0]), float(fit.intercept_[0])


def _couple(n_classes: int, pairs: list[tuple[int, int]], row: np.ndarray) -> np.ndarray:
    """The minimiser of ``½ pᵀQp`` on the simplex: a linear system with one multiplier."""
    r = np.zeros((n_classes, n_classes))
    for (i, j), second in zip(pairs, row):
        r[j, i], r[i, j] = second, 1.0 - second
    q = -r * r.T
    np.fill_diagonal(q, (r.T**2).sum(axis=1))
    system = np.block([[q, np.ones((n_classes, 1))], [np.ones((1, n_classes)), np.zeros((1, 1))]])
    found = np.linalg.solve(system, np.append(np.zeros(n_classes), 1.0))[:n_classes].clip(0.0)
    return found / found.sum()
