"""Coefficients that somebody changed after the fit: predictions follow them, proofs and files do not exist for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _input


def assign(estimator: Any, name: str, value: Any) -> None:
    """Puts other numbers in the place of fitted ones."""
    fitted = getattr(estimator, name)
    given = np.array(value, dtype=np.float64)
    if given.shape != fitted.shape:
        raise ValueError(f"{name} has the shape {fitted.shape}, and cannot become one of the shape {given.shape}")
    estimator.__dict__["_kept_attributes"][name] = given


def changed(estimator: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """``coef_`` and ``intercept_`` where they are not those of the fit, in an array of one's own or in place."""
    own = estimator.__dict__
    kept = own.get("_kept_attributes")
    if not kept or not ("coef_" in kept or "intercept_" in kept):
        return None
    if "model_" not in own or not estimator._writable:
        return None
    coef, intercept = dense(estimator.coef_), estimator.intercept_
    same = np.array_equal(coef, estimator._fitted_coef()) and np.array_equal(intercept, estimator._fitted_intercept())
    return None if same else (np.asarray(coef), np.asarray(intercept))


def kept(estimator: Any) -> dict[str, Any]:
    """Coefficients that a pickle has to keep: changed or sparse ones. All others come from the model."""
    found = estimator.__dict__["_kept_attributes"]
    own = {name: found[name] for name in estimator._writable if name in found}
    sparse = hasattr(own.get("coef_"), "toarray")
    return own if sparse or changed(estimator) is not None else {}


def dense(coef: Any) -> np.ndarray:
    """``coef_`` after `sparsify`, too."""
    return coef.toarray() if hasattr(coef, "toarray") else coef


def scores(estimator: Any, X: Any, weights: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Scores of rows by such coefficients, one column for two classes."""
    given = estimator._given(X)
    if given.is_table:
        raise ValueError("coef_ was changed after a fit on a frame with text columns: fit again to predict")
    _input.check_finite(given.x)
    coef, intercept = weights
    return _input.times(given.x, coef.T) + intercept


def classes(estimator: Any, X: Any, weights: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The class that has the largest of these scores."""
    found = scores(estimator, X, weights)
    place = (found[:, 0] > 0).astype(np.int64) if found.shape[1] == 1 else found.argmax(axis=1)
    return estimator.classes_[place]


def log_probabilities(scores: np.ndarray) -> np.ndarray:
    """Logarithms of the logistic function of one score, or of the softmax of several."""
    if scores.shape[1] == 1:
        z = scores[:, 0]
        return -np.column_stack([np.logaddexp(0.0, z), np.logaddexp(0.0, -z)])
    return log_shares(scores)


def log_shares(scores: np.ndarray) -> np.ndarray:
    """Logarithms of the softmax of a row's scores."""
    top = scores.max(axis=1, keepdims=True)
    return scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))


def refuse(estimator: Any, what: str) -> None:
    """An error where the model of the fit is asked for something that its coefficients no longer are."""
    if changed(estimator) is not None:
        raise _core.LinsepError(
            f"{what} is about the fit, and coef_ or intercept_ was changed since\n  help: fit again"
        )
