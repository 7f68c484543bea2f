"""Naive Bayes: columns that are independent within a class."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input
from ._base import DensityAttributes, Estimator, LinearAttributes, Probabilities
from ._counts import ByCounts, checked_counts
from ._errors import warn
from ._fit import NO_SETS, Training, run, training
from ._gaussian import checked_priors
from ._lazy import fitted_attribute
from ._parts import InParts, fit_whole, take
from ._penalty import not_negative, one_of
from ._policies import keep

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack
    from ._policies import Policies


class _NaiveBayes(DensityAttributes, Probabilities, Estimator):
    """What all families have in common."""

    _method = "naive-bayes"
    class_prior: Any

    def _family(self, family: str, training: Training | None, **more: Any) -> dict[str, Any]:
        return {"numbers": family, "priors": self._class_priors(training), **more}

    def _class_priors(self, training: Training | None) -> list[float] | None:
        given = self.class_prior
        n_classes = training.n_classes if training is not None else None
        if given is None and n_classes is not None and not getattr(self, "fit_prior", True):
            return [1.0 / n_classes] * n_classes
        return checked_priors(given, n_classes)

    def _marginals(self, family: str) -> list[dict[str, Any]]:
        """The distributions of one family, in the order of the columns."""
        found = self._density["density"]["marginals"]
        return sorted((m for m in found if m["family"] == family), key=lambda m: m["columns"][0])

    def _parameter(self, family: str, name: str, constant: float | None = None) -> np.ndarray:
        """A parameter of one-column families, class by class; of a column that is constant, its value."""
        found = np.full((self.classes_.size, self.model_.n_features), np.nan)
        for marginal in self._marginals(family):
            found[:, marginal["columns"][0]] = marginal[name]
        for marginal in self._marginals("constant"):
            found[:, marginal["columns"][0]] = marginal["value"] if constant is None else constant
        return found

    @fitted_attribute
    def class_prior_(self) -> np.ndarray:
        """Prior probabilities of the classes."""
        if self.__dict__.get("_by_counts", False):
            return self._as_given(self._counted_priors())
        return self._as_given(np.array(self._density["priors"]))

    @fitted_attribute
    def class_log_prior_(self) -> np.ndarray:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    @fitted_attribute
    def class_count_(self) -> np.ndarray:
        """Weight of the training rows of each class."""
        return self._counted_weights() if self.__dict__.get("_by_counts", False) else self.model_.class_counts()

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the joint probabilities (or densities) of the row and each class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        given = self._given(X)
        if given.is_table:
            raise ValueError("predict_joint_log_proba takes numbers")
        _input.check_finite(given.x)
        return self._joint(given.x)

    def _joint(self, x: Any) -> np.ndarray:
        raise NotImplementedError


class _Summed(InParts, _NaiveBayes):
    """Families that are fitted by sums of single columns, whole or in parts."""

    _weighted = ("fit", "partial_fit", "score")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, conformal: Any = None, conformal_by: Any = "rows", conformal_share: Any = 0.2) -> Self:
        """Fits the classifier; see `Estimator.fit`. `partial_fit` may add rows.

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
        sets = (conformal, conformal_by, conformal_share)
        data = training(self, X, y, sample_weight, sets)
        if data.features.is_table or sets != NO_SETS:
            return run(self, X, y, sample_weight, sets)
        fit_whole(self, data)
        return self


class GaussianNB(_Summed):
    """Naive Bayes with normal columns.

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        Prior probabilities; by default the observed shares.
    var_smoothing : float, default=1e-9
        Share of an overall variance that is added to all variances.
    smoothing_of : {'largest', 'own'}, default='largest'
        Whose: the largest of all columns, as in scikit-learn; or each column's own, so that units do not matter.
    shared : bool, default=False
        One variance of a column for all classes, which makes the scores linear.
    n_jobs : int, optional

    Attributes
    ----------
    classes_, theta_, var_, epsilon_, class_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn; ``epsilon_`` is 0 for ``smoothing_of='own'``.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: columns that are the same in all rows decide nothing; weights count in the
    largest variance. Divisors are ``n_k``, as there.

    Examples
    --------
    >>> from linsep import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> model.theta_.tolist(), model.predict([[3.0]]).tolist()
    ([[1.0], [6.0]], [0])
    """

    def __init__(self, *, priors: Any = None, var_smoothing: Any = 1e-9, smoothing_of: Any = "largest", shared: Any = False, n_jobs: Any = None, **policies: Unpack[Policies]) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.smoothing_of = smoothing_of
        self.shared = shared
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        smoothing = not_negative(self.var_smoothing, "var_smoothing")
        family = "gaussian-shared" if self.shared else "gaussian"
        of = one_of(self.smoothing_of, "smoothing_of", {"largest": "largest", "own": "own"})
        return self._family(family, training, variance_smoothing=smoothing, divisor="mle", smoothed_by=of)

    def _class_priors(self, training: Training | None) -> list[float] | None:
        return checked_priors(self.priors, training.n_classes if training is not None else None)

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] not in ("gaussian", "gaussian-shared") or settings["overrides"]:
            return None
        return {
            "priors": settings["priors"],
            "var_smoothing": settings["variance_smoothing"],
            "smoothing_of": settings["smoothed_by"],
            "shared": settings["numbers"] == "gaussian-shared",
        }

    @fitted_attribute
    def theta_(self) -> np.ndarray:
        """Mean of every column in every class."""
        return self._as_given(self._parameter("gaussian", "mean"))

    @fitted_attribute
    def var_(self) -> np.ndarray:
        """Variance of every column in every class."""
        return self._as_given(self._parameter("gaussian", "variance", constant=0.0) + self._added_to_constant())

    def _added_to_constant(self) -> np.ndarray:
        """What smoothing would add to the variances of columns that are the same in all rows."""
        found = np.zeros(self.model_.n_features)
        if self.smoothing_of == "largest" and "_running" in self.__dict__:
            for marginal in self._marginals("constant"):
                found[marginal["columns"][0]] = self.epsilon_
        return found

    @fitted_attribute
    def epsilon_(self) -> float:
        """What smoothing added to all variances."""
        if self.smoothing_of != "largest":
            return 0.0
        return float(self.var_smoothing * self._sums().overall_variances().max())

    def _joint(self, x: Any) -> np.ndarray:
        rows, variances = _input.to_dense(x), np.asarray(self.var_, float)
        found = np.empty((len(rows), self.classes_.size))
        for k, (mean, variance) in enumerate(zip(np.asarray(self.theta_, float), variances)):
            used = variance > 0
            squares = (rows[:, used] - mean[used]) ** 2 / variance[used]
            found[:, k] = -0.5 * (squares.sum(axis=1) + np.log(2 * np.pi * variance[used]).sum())
        return found + np.log(self.class_prior_)


class BernoulliNB(ByCounts, LinearAttributes, _Summed):
    """Naive Bayes with columns of zeros and ones.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing: ``p = (N₁ + α)/(n + 2α)``. With an array predictions follow from the counts, and there is no model to save
        or to prove.
    force_alpha : bool, default=True
        Whether an ``alpha`` below 1e-10 is taken at its word; else it is raised to that, with a warning.
    binarize : float or None, default=0.0
        Numbers above this are 1, others 0; ``None`` takes the columns as they are.
    fit_prior : bool, default=True
        Observed shares as prior probabilities; else equal ones.
    class_prior : array of shape (n_classes,), optional
    n_jobs : int, optional

    Attributes
    ----------
    classes_, feature_log_prob_, feature_count_, class_log_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn; ``coef_`` and ``intercept_`` of the linear scores.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: with ``binarize=None`` other numbers than 0 and 1 are an error. A saved model
    knows nothing of ``binarize``: the command expects zeros and ones.

    Examples
    --------
    >>> from linsep import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 0]], [0, 0, 1, 1])
    >>> model.predict_proba([[1, 0]]).round(4).tolist()
    [[0.75, 0.25]]
    """

    # Few columns of zeros and ones cannot tell blobs apart.
    _poor_score = True
    _alpha_by_column = True

    def __init__(self, *, alpha: Any = 1.0, force_alpha: Any = True, binarize: Any = 0.0, fit_prior: Any = True, class_prior: Any = None, n_jobs: Any = None, **policies: Unpack[Policies]) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return self._family("bernoulli", training, smoothing=self._smoothing(training))

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] != "bernoulli" or settings["overrides"]:
            return None
        return {"alpha": settings["smoothing"], "binarize": None, "class_prior": settings["priors"]}

    def _takes_raw(self) -> bool:
        return self.binarize is None

    def _prepare(self, given: _input.Features, fitting: bool) -> _input.Features:
        if self.binarize is None:
            return given
        if given.is_table:
            table = _core.as_table(given.x, given.names or []).binarized(float(self.binarize))
            if fitting:
                self._binarized = True
            return _input.Features(table, given.rows, given.cols, given.names, is_table=True)
        x = given.x
        if isinstance(x, tuple):
            if self.binarize < 0:
                raise ValueError("Cannot binarize a sparse matrix with threshold < 0")
            starts, indices, values, cols = x
            _input.check_finite(x)
            before, after = values, (values > self.binarize).astype(np.float64)
            x = (starts, indices, after, cols)
        else:
            _input.check_finite(x)
            before, after = x, (x > self.binarize).astype(np.float64)
            x = after
        if fitting:
            self._binarized = not np.array_equal(before, after)
        return _input.Features(x, given.rows, given.cols, given.names, is_sparse=given.is_sparse)

    def save(self, path: Any) -> None:
        """Writes the model file of the command; warns where it was fitted on other numbers than zeros and ones.

        Parameters
        ----------
        path : str or path
        """
        self._fitted()
        if self.__dict__.get("_binarized", False):
            warn(f"the file knows nothing of binarize={self.binarize!r}: its model expects zeros and ones")
        super().save(path)

    @fitted_attribute
    def feature_log_prob_(self) -> np.ndarray:
        """Logarithms of the probabilities of 1."""
        if self._is_counted:
            alpha = self._check_alpha(quiet=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.log(self.feature_count_ + alpha) - np.log(self.class_count_[:, None] + 2 * alpha)
        found = self._parameter("bernoulli", "p")
        with np.errstate(divide="ignore"):
            return np.log(found)

    @fitted_attribute
    def feature_count_(self) -> np.ndarray:
        """Sums of every column in every class."""
        return self._sums().totals()

    def _joint(self, x: Any) -> np.ndarray:
        ones = self.feature_log_prob_
        with np.errstate(divide="ignore"):
            zeros = np.log1p(-np.exp(ones))
        return _input.times(x, (ones - zeros).T) + zeros.sum(axis=1) + self.class_log_prior_


class MultinomialNB(ByCounts, LinearAttributes, _Summed):
    """Naive Bayes with counts of several kinds of thing, such as words.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Smoothing: ``θ_j = (N_j + α_j)/(N + Σα)``. With an array predictions follow from the counts, and there is no model to
        save or to prove.
    force_alpha : bool, default=True
        Whether an ``alpha`` below 1e-10 is taken at its word; else it is raised to that, with a warning.
    fit_prior : bool, default=True
    class_prior : array of shape (n_classes,), optional
    n_jobs : int, optional

    Attributes
    ----------
    classes_, feature_log_prob_, feature_count_, class_log_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn; ``coef_`` and ``intercept_`` of the linear scores.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    ``feature_log_prob_`` is kept up to 100,000 columns.

    Examples
    --------
    >>> from linsep import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0], [3, 1], [0, 2], [1, 4]], ["a", "a", "b", "b"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['a', 'b']
    """

    _positive_only = True
    # Shares of two columns cannot tell blobs apart.
    _poor_score = True
    _alpha_by_column = True

    def __init__(self, *, alpha: Any = 1.0, force_alpha: Any = True, fit_prior: Any = True, class_prior: Any = None, n_jobs: Any = None, **policies: Unpack[Policies]) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return self._family("multinomial", training, smoothing=self._smoothing(training))

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] != "multinomial" or settings["overrides"]:
            return None
        return {"alpha": settings["smoothing"], "class_prior": settings["priors"]}

    @fitted_attribute
    def feature_log_prob_(self) -> np.ndarray:
        """Logarithms of the shares of the columns in every class."""
        if self._is_counted:
            smoothed = self.feature_count_ + self._check_alpha(quiet=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
        found = np.full((self.classes_.size, self.n_features_in_), np.nan)
        for marginal in self._marginals("multinomial"):
            with np.errstate(divide="ignore"):
                found[:, marginal["columns"]] = np.log(marginal["shares"])
        return found

    @fitted_attribute
    def feature_count_(self) -> np.ndarray:
        """Sums of every column in every class."""
        return self._sums().totals()

    def _joint(self, x: Any) -> np.ndarray:
        checked_counts(x, type(self).__name__)
        return _input.times(x, self.feature_log_prob_.T) + self.class_log_prior_


class PoissonNB(LinearAttributes, _Summed):
    """Naive Bayes with columns of counts.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing: α rows of the overall mean are added to every class.
    fit_prior : bool, default=True
    class_prior : array of shape (n_classes,), optional
    n_jobs : int, optional

    Attributes
    ----------
    classes_, rate_, class_prior_, class_count_, n_features_in_, feature_names_in_
        ``rate_`` is the mean of every column in every class; ``coef_`` and ``intercept_`` of the linear scores.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    scikit-learn has no Poisson naive Bayes. Features must be whole numbers from 0.

    Examples
    --------
    >>> from linsep import PoissonNB
    >>> model = PoissonNB(alpha=0.0).fit([[0], [2], [5], [7]], [0, 0, 1, 1])
    >>> model.rate_.tolist(), model.predict([[3]]).tolist()
    ([[1.0], [6.0]], [1])
    """

    _positive_only = True
    _whole_numbers = True

    def __init__(self, *, alpha: Any = 1.0, fit_prior: Any = True, class_prior: Any = None, n_jobs: Any = None, **policies: Unpack[Policies]) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return self._family("poisson", training, smoothing=not_negative(self.alpha, "alpha"))

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] != "poisson" or settings["overrides"]:
            return None
        return {"alpha": settings["smoothing"], "class_prior": settings["priors"]}

    @fitted_attribute
    def rate_(self) -> np.ndarray:
        """Mean of every column in every class."""
        return self._parameter("poisson", "rate")

    def _joint(self, x: Any) -> np.ndarray:
        rows = _input.to_dense(x)
        # ln x! by the sum of logarithms up to the largest count.
        steps = np.concatenate([[0.0], np.log(np.arange(1, int(rows.max()) + 1))]).cumsum()
        factorials = steps[rows.astype(np.int64)].sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            logs = np.log(self.rate_)
        return rows @ logs.T - self.rate_.sum(axis=1) - factorials + self.class_log_prior_


class CategoricalNB(ByCounts, InParts, _NaiveBayes):
    """Naive Bayes with columns of categories.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing: ``p_l = (N_l + α)/(n + αL)`` for a column of L levels.
    force_alpha : bool, default=True
        Whether an ``alpha`` below 1e-10 is taken at its word; else it is raised to that, with a warning.
    fit_prior : bool, default=True
    class_prior : array of shape (n_classes,), optional
    min_categories : int or array of shape (n_features,), optional
        Levels that a column of whole numbers has at least: 0, 1, … up to this.
    n_jobs : int, optional

    Attributes
    ----------
    classes_, feature_log_prob_, category_count_, n_categories_, class_log_prior_, class_count_, n_features_in_,
    feature_names_in_
        As in scikit-learn: ``feature_log_prob_`` and ``category_count_`` are lists with an array of shape (n_classes,
        n_categories) for each column.
    categories_
        The levels of each column, as text.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: frames of text are taken as they are, and their levels are those that occur;
    fractions are an error; a level that was not known in training is an error that names it.

    Examples
    --------
    >>> from linsep import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 0], [1, 1], [2, 0]], ["a", "a", "b", "b"])
    >>> model.predict([[0, 0], [2, 1]]).tolist()
    ['a', 'b']
    """

    _positive_only = True
    _whole_numbers = True
    _takes_sparse = False
    _poor_score = True

    _weighted = ("fit", "partial_fit", "score")

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: Any = True, fit_prior: Any = True, class_prior: Any = None, min_categories: Any = None, n_jobs: Any = None
    , **policies: Unpack[Policies]) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return self._family("categorical", training, smoothing=self._smoothing(training))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, conformal: Any = None, conformal_by: Any = "rows", conformal_share: Any = 0.2) -> Self:
        """Fits the classifier; see `Estimator.fit`. `partial_fit` may add rows, and levels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        conformal, conformal_by, conformal_share
            As in `Estimator.fit`.

        Returns
        -------
        self
        """
        sets = (conformal, conformal_by, conformal_share)
        given = _input.features(X, sparse=False, owner=type(self).__name__)
        if not given.is_table:
            self._codes(given.x)
        data = training(self, X, y, sample_weight, sets)
        if data.features.is_table or sets != NO_SETS:
            return run(self, X, y, sample_weight, sets)
        fit_whole(self, data)
        return self

    def _add_part(self, data: Training, first: bool) -> None:
        settings = json.dumps(self._settings(data))
        codes = self._codes(data.features.x)
        counted = LevelCounts(data.n_classes, data.cols) if first else self._running.copy()
        counted.grow(self._least_levels(data.cols))
        counted.add(codes, data.labels.codes, data.weights)
        names = data.features.names or [f"x{j}" for j in range(data.cols)]
        take(self, counted, data, lambda: counted.model(settings, data.labels, names))
        # Only after a frame do predictions need one.
        self.__dict__["_from_table"] = False

    def _not_to_verify(self) -> str | None:
        if all(counts.any(axis=0).all() for counts in self._running.counts):
            return None
        return (
            "the model has levels that no row has, and verify knows of the rows only\n"
            "  help: without min_categories, and with levels 0, 1, 2 … that all occur, it can be verified"
        )

    def _least_levels(self, cols: int) -> np.ndarray:
        if self.min_categories is None:
            return np.zeros(cols, np.int64)
        found = np.asarray(self.min_categories)
        if found.dtype.kind not in "iu":
            raise ValueError(f"'min_categories' should have integral type. Got {found.dtype} instead.")
        if found.ndim and found.shape != (cols,):
            raise ValueError(f"'min_categories' should have shape ({cols},): one number for each column; got {found.shape}")
        return np.broadcast_to(found, (cols,)).astype(np.int64)

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] != "categorical" or settings["overrides"]:
            return None
        return {"alpha": settings["smoothing"], "class_prior": settings["priors"]}

    def _takes_raw(self) -> bool:
        return False

    def _codes(self, x: np.ndarray) -> np.ndarray:
        """Levels of arrays, which are whole numbers from 0."""
        _input.check_finite(x)
        if (x < 0).any():
            raise ValueError("Negative values in data passed to CategoricalNB (input X): levels are numbers from 0")
        if (x != np.floor(x)).any():
            # scikit-learn takes them for whole numbers without a word.
            raise ValueError("levels must be whole numbers, or text in a frame")
        return x.astype(np.int64)

    def _prepare(self, given: _input.Features, fitting: bool) -> _input.Features:
        if given.is_table:
            return given
        from ._table import from_columns

        rows = self._codes(given.x)
        names = given.names or [f"x{j}" for j in range(given.cols)]
        columns = []
        for j in range(given.cols):
            levels, codes = np.unique(rows[:, j], return_inverse=True)
            columns.append((codes.astype(np.int64), [str(level) for level in levels]))
        return _input.Features(from_columns(names, columns), given.rows, given.cols, names, is_table=True)

    def _joint(self, x: Any) -> np.ndarray:
        raise NotImplementedError

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the joint probabilities of the row and each class, of whole numbers.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        self._given(X)
        rows = self._codes(_input.features(X, owner=type(self).__name__).x)
        for j, logs in enumerate(self.feature_log_prob_):
            if rows[:, j].max() >= logs.shape[1]:
                raise ValueError(f"column {j} has the level {rows[:, j].max()}, which was not known in training")
        found = np.tile(self.class_log_prior_, (len(rows), 1))
        for j, logs in enumerate(self.feature_log_prob_):
            found += logs[:, rows[:, j]].T
        return found

    @fitted_attribute
    def _ordered(self) -> list[tuple[list[str], np.ndarray]]:
        """Levels and shares of every column; levels that are numbers in their order, not in that of their spelling."""
        if self._is_counted:
            return [self._counted_shares(counts) for counts in self._running.counts]
        spelled = self.model_.feature_names
        found = []
        for name, marginal in zip(self.model_.input_names, self._marginals("categorical")):
            levels = [spelled[j][len(name) + 1 :] for j in marginal["columns"]]
            order = list(range(len(levels)))
            if all(level.isdecimal() for level in levels):
                order = sorted(order, key=lambda at: int(levels[at]))
            found.append(([levels[at] for at in order], np.array(marginal["shares"])[:, order]))
        return found

    def _counted_shares(self, counts: np.ndarray) -> tuple[list[str], np.ndarray]:
        alpha, levels = self._check_alpha(quiet=True), counts.shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return [str(level) for level in range(levels)], (counts + alpha) / (self.class_count_[:, None] + alpha * levels)

    @fitted_attribute
    def categories_(self) -> list[list[str]]:
        """Levels of every column, in the order of ``category_log_prob_``."""
        return [levels for levels, _ in self._ordered]

    @fitted_attribute
    def feature_log_prob_(self) -> list[np.ndarray]:
        """Logarithms of the shares of the levels in every class, column by column."""
        with np.errstate(divide="ignore"):
            return [np.log(shares) for _, shares in self._ordered]

    @property
    def category_log_prob_(self) -> list[np.ndarray]:
        """Another name of ``feature_log_prob_``."""
        return self.feature_log_prob_

    @fitted_attribute
    def category_count_(self) -> list[np.ndarray]:
        """Weight of the rows of every class with each level, column by column."""
        if "_running" in self.__dict__:
            return [counts.copy() for counts in self._running.counts]
        # (N + α)/(n + αL), solved for N.
        weights, alpha = self.class_count_[:, None], json.loads(self.model_.settings)["smoothing"]
        return [shares * (weights + alpha * shares.shape[1]) - alpha for _, shares in self._ordered]

    @fitted_attribute
    def n_categories_(self) -> np.ndarray:
        """Levels of every column."""
        return np.array([len(levels) for levels, _ in self._ordered])


class LevelCounts:
    """How often each level of each column occurs in each class; levels are whole numbers from 0."""

    def __init__(self, n_classes: int, cols: int) -> None:
        self.weights = np.zeros(n_classes)
        self.rows = 0
        #: One array of shape (n_classes, n_levels) for each column.
        self.counts = [np.zeros((n_classes, 0)) for _ in range(cols)]

    def copy(self) -> LevelCounts:
        """Counts of their own, so that rows that are refused leave no trace."""
        found = LevelCounts(self.weights.size, 0)
        found.weights, found.rows = self.weights.copy(), self.rows
        found.counts = [counts.copy() for counts in self.counts]
        return found

    def grow(self, least: np.ndarray) -> None:
        """Gives each column so many levels at least."""
        for j, counts in enumerate(self.counts):
            more = int(least[j]) - counts.shape[1]
            if more > 0:
                self.counts[j] = np.hstack([counts, np.zeros((self.weights.size, more))])

    def add(self, levels: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> None:
        """Counts rows."""
        n_classes = self.weights.size
        largest = levels.max(axis=0)
        if largest.max() >= _MOST_LEVELS:
            raise ValueError(f"{largest.max()} is no level of a column: numbers from 0 to {_MOST_LEVELS} are")
        self.grow(largest + 1)
        self.rows += len(levels)
        self.weights += np.bincount(codes, weights=weights, minlength=n_classes)
        for j, counts in enumerate(self.counts):
            width = counts.shape[1]
            place = codes.astype(np.int64) * width + levels[:, j]
            counts += np.bincount(place, weights=weights, minlength=n_classes * width).reshape(counts.shape)

    def model(self, settings: str, labels: _input.Labels, names: list[str]) -> _core.Model:
        """The model of these counts; the library has levels in the order of their spelling."""
        spelled = [[str(level) for level in range(counts.shape[1])] for counts in self.counts]
        orders = [sorted(range(len(levels)), key=levels.__getitem__) for levels in spelled]
        return _core.fit_levels(
            settings,
            labels.names,
            names,
            [[levels[at] for at in order] for levels, order in zip(spelled, orders)],
            self.weights,
            np.ascontiguousarray(np.hstack([counts[:, order] for counts, order in zip(self.counts, orders)])),
            self.rows,
            target_is_text=labels.are_text,
        )


#: A larger number in a column of levels is an identifier, not a level; chosen, so that nobody runs out of memory.
_MOST_LEVELS = 1_000_000


class MixedNB(_NaiveBayes):
    """Naive Bayes whose columns have families of their own; text columns of frames are categorical.

    Parameters
    ----------
    families : dict, optional
        Families of single columns by name or number: ``'gaussian'``, ``'gaussian-shared'``, ``'bernoulli'``,
        ``'poisson'``, ``'multinomial'``, ``'exponential'``, ``'geometric'``, ``'gamma'``, ``'binomial:N'``.
    default : str, default='gaussian'
        Family of the other columns of numbers.
    alpha : float, default=1.0
        Smoothing of counts and levels.
    var_smoothing : float, default=1e-9
        Share of a column's overall variance that is added to Gaussian variances.
    divisor : {'unbiased', 'mle'}, default='mle'
        Of Gaussian variances.
    fit_prior : bool, default=True
    class_prior : array of shape (n_classes,), optional
    n_jobs : int, optional

    Attributes
    ----------
    classes_, class_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn's naive Bayes classifiers.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    scikit-learn has no mixed naive Bayes.

    Examples
    --------
    >>> from linsep import MixedNB
    >>> X = [[0.1, 0], [0.3, 1], [2.0, 5], [2.5, 7]]
    >>> model = MixedNB(families={1: "poisson"}).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.2, 0], [2.2, 6]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        *,
        families: Any = None,
        default: Any = "gaussian",
        alpha: Any = 1.0,
        var_smoothing: Any = 1e-9,
        divisor: Any = "mle",
        fit_prior: Any = True,
        class_prior: Any = None,
        n_jobs: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.families = families
        self.default = default
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.divisor = divisor
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        overrides = [[self._column(column, training), family] for column, family in (self.families or {}).items()]
        return self._family(
            str(self.default),
            training,
            overrides=overrides,
            smoothing=not_negative(self.alpha, "alpha"),
            variance_smoothing=not_negative(self.var_smoothing, "var_smoothing"),
            divisor=self.divisor,
        )

    @staticmethod
    def _column(column: Any, training: Training | None) -> str:
        if isinstance(column, str):
            return column
        names = training.features.names if training else None
        if names is not None:
            return names[column]
        # Columns of sparse matrices have no names; the library counts them from 1.
        return str(column + 1) if training and training.features.is_sparse else f"x{column}"

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        return {
            "families": {name: family for name, family in settings["overrides"]} or None,
            "default": settings["numbers"],
            "alpha": settings["smoothing"],
            "var_smoothing": settings["variance_smoothing"],
            "divisor": settings["divisor"],
            "class_prior": settings["priors"],
        }
