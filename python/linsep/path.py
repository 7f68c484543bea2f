"""Regularisation paths: one problem for many λ, each with its certificate."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _core, _input
from ._fit import thread_count
from ._penalty import one_of, positive, yes_no


class RegularizationPath:
    """Solutions from the largest λ down.

    Attributes
    ----------
    lambdas : array of shape (m,)
    Cs : array of shape (m,)
        ``1/(λ Σs)``.
    coefs : array of shape (m, n_scores, n_features)
    intercepts : array of shape (m, n_scores)
    objective, gap, nonzero, converged : arrays of shape (m,)
        Value of the objective, its proved relative gap, coefficients that are not zero, whether the tolerance was
        reached.
    classes : array
    """

    def __init__(self, found: dict[str, Any], classes: np.ndarray, total_weight: float) -> None:
        self.lambdas: np.ndarray = found["lambdas"]
        self.Cs: np.ndarray = 1.0 / (self.lambdas * total_weight)
        self.coefs: np.ndarray = found["coefs"]
        self.intercepts: np.ndarray = found["intercepts"]
        self.objective: np.ndarray = found["objective"]
        self.gap: np.ndarray = found["gap"]
        self.nonzero: np.ndarray = found["nonzero"]
        self.converged: np.ndarray = found["converged"]
        self.formula: str = found.get("formula", "")
        self.classes = classes

    def __len__(self) -> int:
        return len(self.lambdas)

    def __repr__(self) -> str:
        if not len(self):
            return "RegularizationPath(0 λ)"
        return f"RegularizationPath({len(self)} λ from {self.lambdas[0]:.4g} to {self.lambdas[-1]:.4g})"

    def _repr_html_(self) -> str:
        from ._html import table

        rows = [
            (f"λ {lam:.4g}", f"{count} not zero, objective {value:.8g}, gap {gap:.1e}")
            for lam, count, value, gap in zip(self.lambdas, self.nonzero, self.objective, self.gap)
        ]
        shown = rows if len(rows) <= 12 else [*rows[:6], ("…", ""), *rows[-6:]]
        return table(repr(self), [("minimised", self.formula), *shown])


def regularization_path(
    X: Any,
    y: Any,
    *,
    loss: Any = "logistic",
    l1_ratio: Any = 1.0,
    lambdas: Any = None,
    n_lambdas: Any = 100,
    ratio: Any = None,
    fit_intercept: Any = True,
    standardize: Any = False,
    tol: Any = 1e-8,
    sample_weight: Any = None,
    n_jobs: Any = None,
) -> RegularizationPath:
    """Solves a penalised problem for many λ, warm from one to the next.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    loss : {'logistic', 'squared_hinge', 'squared'}, default='logistic'
    l1_ratio : float, default=1.0
        Share of the lasso; 0 is a ridge.
    lambdas : array, optional
        Given λ; by default ``n_lambdas`` of them, from the smallest λ with no feature down to ``ratio`` times it.
    n_lambdas : int, default=100
    ratio : float, optional
    fit_intercept : bool, default=True
    standardize : bool, default=False
    tol : float, default=1e-8
    sample_weight : array of shape (n_samples,), optional
    n_jobs : int, optional

    Returns
    -------
    RegularizationPath

    Notes
    -----
    scikit-learn has ``l1_min_c`` and warm starts; it has no path of logistic regression that ends with proofs.

    Examples
    --------
    >>> from linsep import regularization_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.5], [1.5, 0.2], [0.5, 0.9]]
    >>> path = regularization_path(X, [0, 0, 1, 1, 0, 1], n_lambdas=5)
    >>> len(path), int(path.nonzero[0]), bool(path.converged.all())
    (5, 0, True)
    """
    given = _input.features(X, owner="regularization_path")
    if given.is_table:
        raise TypeError("a path takes matrices or frames of numbers")
    labels = _input.labels(y, given.rows, "regularization_path")
    weights = _input.weights(sample_weight, given.rows)
    words = {"logistic": "logistic", "squared_hinge": "squared-hinge", "squared": "squared"}
    settings = {
        "loss": one_of(loss, "loss", words),
        # The λ here is a place holder: the path sets its own.
        "penalty": {"elastic_net": {"l1_ratio": float(l1_ratio), "lambda": None}} if l1_ratio > 0 else "ridge_one",
        "intercept": "free" if fit_intercept else "none",
        "standardize": yes_no(standardize),
        "tolerance": positive(tol, "tol"),
    }
    found = _core.path(
        given.x,
        labels.codes,
        labels.names,
        json.dumps(settings),
        lambdas=None if lambdas is None else np.sort(np.asarray(lambdas, dtype=float))[::-1].tolist(),
        n_lambdas=int(n_lambdas),
        ratio=ratio,
        input_names=given.names,
        sample_weight=weights,
        n_threads=thread_count(n_jobs),
    )
    return RegularizationPath(found, labels.classes, given.rows if weights is None else float(weights.sum()))
