"""Naive Bayes of counts where the library has no model: one class, classes without rows, a smoothing for each column.

The library fits two classes or more, each with rows, and one smoothing for all columns. Counts alone say as much as
scikit-learn predicts in the other cases; there is no certificate then, and no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _input
from ._errors import warn
from ._fit import Training
from ._penalty import not_negative
from ._weights import log_shares

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray

#: Smoothing below this is raised to it where ``force_alpha`` is false, as in scikit-learn.
_LEAST_ALPHA = 1e-10


class ByCounts:
    """Predictions from counts where there is no model; put in front of a naive Bayes estimator."""

    classes_: np.ndarray
    alpha: Any
    force_alpha: Any
    _counts_suffice = True
    #: Whether ``alpha`` may be an array.
    _alpha_by_column = False

    def _check_alpha(self, cols: int | None = None, quiet: bool = False) -> Any:
        """The smoothing, which is not less than 1e-10 unless `force_alpha` says so: a number, or one for each column."""
        if np.ndim(self.alpha) == 0 or not self._alpha_by_column:
            alpha: Any = not_negative(self.alpha, "alpha")
        else:
            alpha = np.asarray(self.alpha, dtype=np.float64)
            cols = self.n_features_in_ if cols is None else cols  # type: ignore[attr-defined]
            if alpha.shape != (cols,):
                raise ValueError(
                    f"When alpha is an array, it should contains `n_features`. Got {alpha.size} elements instead of {cols}."
                )
            if not (alpha >= 0).all() or not np.isfinite(alpha).all():
                raise ValueError("All values in alpha must be greater than 0.")
        if np.min(alpha) >= _LEAST_ALPHA or self.force_alpha:
            return alpha
        if not quiet:
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {_LEAST_ALPHA:.1e}; force_alpha=True keeps"
                " it"
            )
        return np.maximum(alpha, _LEAST_ALPHA)

    def _smoothing(self, training: Training | None) -> float:
        """The smoothing in the words of the model file, which has one number; of several the counts take care."""
        alpha = self._check_alpha(training.cols if training is not None else None)
        return float(alpha) if np.ndim(alpha) == 0 else 1.0

    def _no_model(self, data: Training) -> str:
        """Why the library has no model of counts in which every class has rows; empty where it has one."""
        if data.n_classes == 1:
            return f"there is one class only, {data.labels.classes.tolist()[0]!r}"
        return "alpha is an array, and a model has one number" if np.ndim(self.alpha) else ""

    @property
    def _is_counted(self) -> bool:
        return self.__dict__.get("_by_counts", False)

    def _log_joint(self, X: Any) -> np.ndarray:
        """Logarithms of the joint probabilities; of classes without a prior probability minus infinity."""
        with np.errstate(invalid="ignore"):
            found = self.predict_joint_log_proba(X)  # type: ignore[attr-defined]
        found[:, ~(self.class_prior_ > 0)] = -np.inf  # type: ignore[attr-defined]
        return found

    def _predict(self, X: Any) -> np.ndarray:
        if not self._is_counted:
            return super()._predict(X)  # type: ignore[misc]
        return self.classes_[self._log_joint(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes; 0 of classes without rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        if not self._is_counted:
            return super().predict_proba(X)  # type: ignore[misc]
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities, which stay finite where a probability is too small for a number.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        if not self._is_counted:
            return super().predict_log_proba(X)  # type: ignore[misc]
        return log_shares(self._log_joint(X))

    def _counted_weights(self) -> np.ndarray:
        weights = self._running.weights  # type: ignore[attr-defined]
        return np.array(weights() if callable(weights) else weights)

    def _counted_priors(self) -> np.ndarray:
        """Prior probabilities: given, equal, or the shares of the rows."""
        counts = self._counted_weights()
        if self.class_prior is not None:  # type: ignore[attr-defined]
            return np.asarray(self.class_prior, dtype=float)  # type: ignore[attr-defined]
        if not self.fit_prior:  # type: ignore[attr-defined]
            return np.full(counts.size, 1.0 / counts.size)
        return counts / counts.sum()


def checked_counts(x: Any, owner: str) -> Any:
    """Features that are finite and not negative."""
    _input.check_finite(x)
    values = x[2] if isinstance(x, tuple) else x
    if (values < 0).any():
        raise ValueError(f"Negative values in data passed to {owner} (input X)")
    return x
