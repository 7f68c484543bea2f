"""Several classes from fits of two."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _input
from ._base import Decision, Estimator, LinearAttributes
from ._fit import fitted, threads, training, warn_unless_converged
from ._penalty import one_of
from ._policies import keep

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack
    from ._policies import Policies

_TIES = {"scores": "scores", "first": "first", "undetermined": "undetermined"}


class _Wrapper(LinearAttributes, Decision, Estimator):
    """Fits the inner estimator's method on two classes at a time."""

    estimator: Any
    estimator_: Estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, conformal: Any = None, conformal_by: Any = "rows", conformal_share: Any = 0.2) -> Self:
        """Fits a classifier for every pair, or for every class against the rest.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        conformal, conformal_by, conformal_share
            As in `Estimator.fit`.

        Returns
        -------
        self
        """
        inner = self.estimator
        if not isinstance(inner, Estimator) or isinstance(inner, _Wrapper):
            raise TypeError(
                f"{type(self).__name__} wraps estimators of linsep, not {type(inner).__name__}; scikit-learn's wrapper"
                " of the same name takes any"
            )
        inner = type(inner)(**inner.get_params(deep=False))
        scheme = self._ways()
        data = training(inner, X, y, sample_weight, (conformal, conformal_by, conformal_share), owner=self)
        self._adopt(fitted(inner, data, scheme, owner=self), data)
        self.estimator_ = inner
        warn_unless_converged(self)
        return self

    def _ways(self) -> dict[str, str]:
        raise NotImplementedError

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return getattr(self.estimator, "_takes_sparse", True)

    @property
    def _positive_only(self) -> bool:  # type: ignore[override]
        return getattr(self.estimator, "_positive_only", False)

    @property
    def _whole_numbers(self) -> bool:  # type: ignore[override]
        return getattr(self.estimator, "_whole_numbers", False)

    @property
    def _fine(self) -> tuple[str, ...]:  # type: ignore[override]
        return getattr(self.estimator, "_fine", ())

    def _is_pairwise(self) -> bool:
        return bool(getattr(self.estimator, "_is_pairwise", bool)())

    def _takes_raw(self) -> bool:
        return self.estimator._takes_raw()

    def _prepare(self, given: _input.Features, fitting: bool) -> _input.Features:
        return self.estimator._prepare(given, fitting)


class OneVsOneClassifier(_Wrapper):
    """A classifier for every pair of classes, which vote.

    Parameters
    ----------
    estimator : estimator of linsep
    vote : {'majority', 'unanimity', 'scores'}, default='majority'
        The class that wins most pairs, all of its pairs, or has the largest sum of scores.
    ties : {'scores', 'first', 'undetermined'}, default='scores'
        What decides where the vote does not: sums of scores, the order of the classes, or nothing: then `predict` gives
        `None`. (For ``vote='scores'`` only equal sums can tie.)
    n_jobs : int, optional

    Attributes
    ----------
    classes_, estimator_, coef_, intercept_, n_features_in_, feature_names_in_
        ``coef_`` has a row for every pair ``(i, j)``, ``i < j``; positive scores speak for ``j``.
    certificate_, stop_, objective_, model_
        Of the worst fit, of all fits, summed over the fits, and the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: it wraps estimators of linsep only, whose fits are one model with one file
    and one certificate; there is no list ``estimators_`` and no ``partial_fit``.

    Examples
    --------
    >>> from linsep import LogisticRegression, OneVsOneClassifier
    >>> X = [[0.0], [1.0], [4.0], [5.0], [9.0], [10.0]]
    >>> model = OneVsOneClassifier(LogisticRegression()).fit(X, [0, 0, 1, 1, 2, 2])
    >>> model.predict([[0.0], [4.5], [11.0]]).tolist()
    [0, 1, 2]
    """

    def __init__(self, estimator: Any, *, vote: Any = "majority", ties: Any = "scores", n_jobs: Any = None, **policies: Unpack[Policies]) -> None:
        self.estimator = estimator
        self.vote = vote
        self.ties = ties
        self.n_jobs = n_jobs
        keep(self, policies)

    def _ways(self) -> dict[str, str]:
        vote = one_of(self.vote, "vote", {w: w for w in ("majority", "unanimity", "scores")})
        ties = one_of(self.ties, "ties", _TIES)
        # Equal sums cannot be told apart by sums.
        return {
            "multiclass": "one-vs-one",
            "vote": vote,
            "ties": "first" if vote == "scores" and ties == "scores" else ties,
        }

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """What the vote counts: pairs won, with the sums of scores to break ties, or the sums alone.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        if self.vote != "scores" or "model_" not in self.__dict__ or self.classes_.size == 2:
            return super().decision_function(X)
        model, x = self._ask(X)
        scores = model.scores(x, threads(self))
        sums = np.zeros((scores.shape[0], self.classes_.size))
        for at, (i, j) in enumerate(combinations(range(self.classes_.size), 2)):
            sums[:, i] -= scores[:, at]
            sums[:, j] += scores[:, at]
        return sums


class OneVsRestClassifier(_Wrapper):
    """A classifier for every class against the rest.

    Parameters
    ----------
    estimator : estimator of linsep
    ties : {'scores', 'first', 'undetermined'}, default='scores'
        Where no class is positive, or several are: the largest score, the first class, or nothing: then `predict` gives
        `None`.
    n_jobs : int, optional
    verbose : bool or callable, default=0

    Attributes
    ----------
    classes_, estimator_, coef_, intercept_, n_features_in_, feature_names_in_
        ``coef_`` has a row for every class.
    certificate_, stop_, objective_, model_
        Of the worst fit, of all fits, summed over the fits, and the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: it wraps estimators of linsep only, whose fits are one model with one file
    and one certificate; there is no list ``estimators_``, no ``predict_proba`` (scikit-learn's rescales numbers that
    are no probabilities of these classes) and no multi-label target.

    Examples
    --------
    >>> from linsep import LogisticRegression, OneVsRestClassifier
    >>> X = [[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [5.0, 1.0], [0.0, 9.0], [1.0, 10.0]]
    >>> model = OneVsRestClassifier(LogisticRegression()).fit(X, [0, 0, 1, 1, 2, 2])
    >>> model.predict([[0.0, 0.5], [4.5, 0.5], [0.5, 9.5]]).tolist()
    [0, 1, 2]
    """

    def __init__(self, estimator: Any, *, ties: Any = "scores", n_jobs: Any = None, verbose: Any = 0, **policies: Unpack[Policies]) -> None:
        self.estimator = estimator
        self.ties = ties
        self.n_jobs = n_jobs
        self.verbose = verbose
        keep(self, policies)

    def _ways(self) -> dict[str, str]:
        return {"multiclass": "one-vs-rest", "ties": one_of(self.ties, "ties", _TIES)}
