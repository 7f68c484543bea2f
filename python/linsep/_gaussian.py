"""What scikit-learn's keywords ask of Gaussian classes: priors, covariances by other estimators, errors by its names."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _input
from ._errors import warn
from ._fit import Training

#: Priors may add up to one but for this, and are scaled then.
_NEARLY_ONE = 1e-6


class SingularCovarianceError(_core.LinsepError, np.linalg.LinAlgError):
    """A covariance cannot be inverted; the message says of which class, and why."""


def checked_priors(said: Any, n_classes: int | None, rescale: bool = False, fitting: bool = True) -> list[float] | None:
    """Prior probabilities; with `rescale` they need not add up to one, which is said then."""
    if said is None:
        return None
    found = np.asarray(said, dtype=float)
    if found.ndim != 1 or (n_classes is not None and found.size != n_classes):
        raise ValueError(f"Number of priors must match number of classes: {n_classes} numbers, not {said!r}")
    if (found < 0).any() or not np.isfinite(found).all():
        raise ValueError("Priors must be non-negative: priors must be non-negative numbers")
    total = found.sum()
    if abs(total - 1.0) > _NEARLY_ONE:
        if not rescale or total == 0:
            raise ValueError(f"The sum of the priors should be 1, and it is {total}")
        if fitting:
            warn(f"The priors do not sum to 1 but to {total}. Renormalizing")
    return (found / total).tolist() if total != 1.0 else found.tolist()


def dense_rows(training: Training, owner: str) -> np.ndarray:
    """The features as a matrix, for what only numpy can do."""
    if training.features.is_table:
        raise ValueError(f"{owner} takes numbers; give the text columns as numbers, or leave them out")
    rows = _input.to_dense(training.features.x)
    _input.check_finite(rows)
    return rows


def estimated(estimator: Any, training: Training, owner: str) -> list[np.ndarray]:
    """The covariance of each class by an estimator of scikit-learn's kind: `fit`, then ``covariance_``."""
    if training.weights is not None or training.class_weight is not None:
        raise ValueError("covariance_estimator knows nothing of weights: leave sample_weight out")
    rows = dense_rows(training, "covariance_estimator")
    found = []
    for k in range(training.n_classes):
        estimator.fit(rows[training.labels.codes == k])
        if not hasattr(estimator, "covariance_"):
            raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute, which {owner} needs")
        found.append(np.asarray(estimator.covariance_, dtype=float))
    return found


def empirical(training: Training) -> list[np.ndarray]:
    """The covariance of each class with the divisor ``Σs``."""
    rows = dense_rows(training, "reg_param")
    weights = np.ones(len(rows)) if training.weights is None else training.weights
    found = []
    for k in range(training.n_classes):
        of_class = training.labels.codes == k
        found.append(np.atleast_2d(np.cov(rows[of_class].T, aweights=weights[of_class], bias=True)))
    return found


def known(training: Training, covariance: dict[str, Any]) -> dict[str, Any]:
    """Given covariances in the words of the model file."""
    names = training.features.names or [f"x{j}" for j in range(training.cols)]
    return {"features": names, "classes": training.labels.names, "covariance": covariance}


def explained(error: Exception, training: Training, solver: Any) -> Exception:
    """A failed fit of one covariance for each class, by the class whose covariance is singular, if one is."""
    if training.features.is_table:
        return error
    rows = _input.to_dense(training.features.x)
    if not np.isfinite(rows).all():
        return error
    for k, label in enumerate(training.labels.classes.tolist()):
        of_class = rows[training.labels.codes == k]
        if len(of_class) == 1:
            return _core.LinsepError(f"y has only 1 sample in class {label}, and a covariance needs two. {error}")
        if np.linalg.matrix_rank(of_class - of_class.mean(axis=0)) < training.cols:
            few = len(of_class) <= training.cols and solver == "svd"
            hint = f" When using `solver='svd'` a class needs more than {training.cols} rows, one has {len(of_class)}."
            return SingularCovarianceError(
                f"The covariance matrix of class {label} is not full rank.{hint if few else ''} {error}"
            )
    return error
