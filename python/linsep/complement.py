"""Naive Bayes by the counts of all other classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input
from ._base import Estimator, Probabilities
from ._counts import checked_counts
from ._errors import warn
from ._fit import Training, training
from ._lazy import fitted_attribute, forget
from ._penalty import flag, not_negative
from ._sklearn import UNCHANGED
from ._weights import log_shares

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from typing_extensions import Self

#: Smoothing below this is raised to it where ``force_alpha`` is false, as in scikit-learn.
_LEAST_ALPHA = 1e-10


class ComplementNB(Probabilities, Estimator):
    """Naive Bayes of counts, each class by the words of all others (Rennie and others, ICML 2003).

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing of the counts.
    force_alpha : bool, default=True
        Whether an ``alpha`` below 1e-10 is taken at its word; else it is raised to that, with a warning.
    fit_prior : bool, default=True
        No effect but on ``class_log_prior_``: with two classes or more priors do not enter.
    class_prior : array of shape (n_classes,), optional
        No effect, as ``fit_prior``.
    norm : bool, default=False
        Divide the weights of each class by their sum.
    n_jobs : int, optional

    Attributes
    ----------
    classes_, feature_log_prob_, feature_count_, feature_all_, class_log_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn.
    model_
        The library's model: planes that are stated, whose file the command reads.

    Notes
    -----
    A rule without a likelihood: it is a linear score of counts, and there is nothing to prove. Probabilities are
    scikit-learn's, shares of scores that are no log-odds.

    Examples
    --------
    >>> from linsep import ComplementNB
    >>> model = ComplementNB().fit([[2, 0, 1], [3, 1, 0], [0, 2, 2], [1, 3, 4]], ["a", "a", "b", "b"])
    >>> model.predict([[4, 0, 0], [0, 1, 3]]).tolist()
    ['a', 'b']
    """

    _positive_only = True
    _poor_score = True
    # Of one class there is no model, and the counts say all there is.
    _counts_suffice = True
    _weighted = ("fit", "partial_fit", "score")

    def __init__(self, *, alpha: Any = 1.0, force_alpha: Any = True, fit_prior: Any = True, class_prior: Any = None, norm: Any = False, n_jobs: Any = None) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Counts; `partial_fit` may add rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of numbers of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return self._count(training(self, X, y, sample_weight), None)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Adds the counts of rows to those so far.

        Parameters
        ----------
        X : array, sparse matrix or frame of numbers of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,), optional
            All classes that will occur; needed at the first call.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        from ._parts import _part

        before = self.__dict__.get("_running")
        return self._count(_part(self, X, y, classes, sample_weight), before)

    def set_partial_fit_request(self, *, classes: Any = UNCHANGED, sample_weight: Any = UNCHANGED) -> Self:
        """Says whether ``partial_fit`` asks a router for ``classes`` and ``sample_weight``.

        Returns
        -------
        self
        """
        return self._request("partial_fit", sample_weight, classes=classes)

    def _count(self, data: Training, before: Any) -> Self:
        if data.features.is_table:
            raise ValueError("ComplementNB takes counts, and a text column has none: encode it first")
        x = checked_counts(data.features.x, type(self).__name__)
        weights = np.ones(data.features.rows) if data.weights is None else data.weights
        by_class = np.zeros((data.features.rows, data.n_classes))
        by_class[np.arange(data.features.rows), data.labels.codes] = weights
        counts = _input.times(_transposed(x), by_class).T if isinstance(x, tuple) else by_class.T @ x
        rows = by_class.sum(axis=0)
        if before is not None:
            counts, rows = counts + before[0], rows + before[1]
        planes = self._planes(counts)
        if self.class_prior is not None and len(self.class_prior) != data.n_classes:
            raise ValueError("Number of priors must match number of classes.")
        if data.n_classes == 1:
            return self._one_class(data, (counts, rows))
        flat = planes[1:] - planes[:1] if data.n_classes == 2 else planes
        names = data.features.names or [f"x{j}" for j in range(data.cols)]
        model = _core.stated(
            flat.tolist(), [0.0] * len(flat), data.labels.names, names, log_odds=True, target_is_text=data.labels.are_text
        )
        self._adopt(model, data)
        self.__dict__["_running"] = (counts, rows)
        return self

    def _one_class(self, data: Training, sums: Any) -> Self:
        forget(self)
        own = self.__dict__
        for name in ("model_", "_fast", "feature_names_in_"):
            own.pop(name, None)
        own.update(_by_counts=True, _running=sums, classes_=data.labels.classes, n_features_in_=data.cols)
        own["_waiting"] = f"there is one class only, {data.labels.classes.tolist()[0]!r}"
        if data.features.names is not None:
            own["feature_names_in_"] = np.array(data.features.names, dtype=object)
        return self

    def _predict(self, X: Any) -> np.ndarray:
        if not self.__dict__.get("_by_counts", False):
            return super()._predict(X)
        return self.classes_[self.predict_joint_log_proba(X).argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return log_shares(self.predict_joint_log_proba(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def _planes(self, counts: np.ndarray) -> np.ndarray:
        """Weights of every class: the rarer a word in the other classes, the more it speaks for this one."""
        alpha = np.asarray(not_negative(self.alpha, "alpha") if np.ndim(self.alpha) == 0 else self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != (counts.shape[1],):
            raise ValueError(
                f"When alpha is an array, it should contains `n_features`. Got {alpha.size} elements instead of"
                f" {counts.shape[1]}."
            )
        if alpha.min() < 0:
            raise ValueError("All values in alpha must be greater than 0.")
        if alpha.min() < _LEAST_ALPHA and not self.force_alpha:
            warn(f"alpha too small will result in numeric errors, setting alpha = {_LEAST_ALPHA:.1e}; force_alpha=True keeps it")
            alpha = np.maximum(alpha, _LEAST_ALPHA)
        others = counts.sum(axis=0) + alpha - counts
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(others / others.sum(axis=1, keepdims=True))
            found = logs / logs.sum(axis=1, keepdims=True) if flag(self.norm, "norm") else -logs
        if not np.isfinite(found).all():
            raise _core.LinsepError("a word occurs in no other class, and its weight is infinite\n  help: give a positive alpha")
        return found

    @fitted_attribute
    def feature_count_(self) -> np.ndarray:
        """Sums of every column in every class."""
        return self._running[0]

    @fitted_attribute
    def feature_all_(self) -> np.ndarray:
        """Sums of every column."""
        return self._running[0].sum(axis=0)

    @fitted_attribute
    def class_count_(self) -> np.ndarray:
        """Weight of the training rows of each class."""
        return self._running[1]

    @fitted_attribute
    def class_log_prior_(self) -> np.ndarray:
        """Logarithms of the priors, which do not enter."""
        if self.class_prior is not None:
            return np.log(np.asarray(self.class_prior, dtype=np.float64))
        if not self.fit_prior:
            return np.full(self.classes_.size, -np.log(self.classes_.size))
        with np.errstate(divide="ignore"):
            return np.log(self.class_count_) - np.log(self.class_count_.sum())

    @fitted_attribute
    def feature_log_prob_(self) -> np.ndarray:
        """Weights of every column for every class."""
        return self._planes(self._running[0])

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The scores of the classes, which scikit-learn calls so.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        given = self._given(X)
        _input.check_finite(given.x)
        found = _input.times(given.x, self.feature_log_prob_.T)
        return found + self.class_log_prior_ if self.classes_.size == 1 else found

    def verify(self, X: Any, y: Any, sample_weight: Any = None, refit: Any = False) -> dict[str, Any]:
        """There is nothing to verify.

        Raises
        ------
        LinsepError
        """
        raise _core.LinsepError("the scores of ComplementNB are stated by the counts: nothing was minimised, nothing is claimed")


def _transposed(x: Any) -> Any:
    """Sparse features by column, as the rows of another matrix."""
    from scipy.sparse import csr_matrix

    starts, indices, values, cols = x
    turned = csr_matrix((values, indices, starts), shape=(len(starts) - 1, cols)).T.tocsr()
    return turned.indptr, turned.indices, turned.data, turned.shape[1]
