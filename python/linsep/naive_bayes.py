"""Naive Bayes: columns that are independent within a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _input
from ._base import DensityAttributes, Estimator, LinearAttributes, Probabilities
from ._errors import warn
from ._fit import Training
from ._gaussian import checked_priors
from ._lazy import fitted_attribute
from ._penalty import not_negative


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
        return np.array(self._density["priors"])

    @fitted_attribute
    def class_log_prior_(self) -> np.ndarray:
        """Their logarithms."""
        return np.log(self.class_prior_)


class GaussianNB(_NaiveBayes):
    """Naive Bayes with normal columns.

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        Prior probabilities; by default the observed shares.
    var_smoothing : float, default=1e-9
        Share of a column's overall variance that is added to its variances.
    shared : bool, default=False
        One variance of a column for all classes, which makes the scores linear.
    n_jobs : int, optional

    Attributes
    ----------
    classes_, theta_, var_, class_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: ``var_smoothing`` is a share of the column's own variance, not of the
    largest one, so that the units of a column do not matter; there is no ``partial_fit``. Divisors are ``n_k``, as
    there.

    Examples
    --------
    >>> from linsep import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> model.theta_.tolist(), model.predict([[3.0]]).tolist()
    ([[1.0], [6.0]], [0])
    """

    def __init__(self, *, priors=None, var_smoothing=1e-9, shared=False, n_jobs=None):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.shared = shared
        self.n_jobs = n_jobs

    def _settings(self, training: Training | None) -> dict[str, Any]:
        smoothing = not_negative(self.var_smoothing, "var_smoothing")
        family = "gaussian-shared" if self.shared else "gaussian"
        return self._family(family, training, variance_smoothing=smoothing, divisor="mle")

    def _class_priors(self, training: Training | None) -> list[float] | None:
        return checked_priors(self.priors, training.n_classes if training is not None else None)

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] not in ("gaussian", "gaussian-shared") or settings["overrides"]:
            return None
        return {
            "priors": settings["priors"],
            "var_smoothing": settings["variance_smoothing"],
            "shared": settings["numbers"] == "gaussian-shared",
        }

    @fitted_attribute
    def theta_(self) -> np.ndarray:
        """Mean of every column in every class."""
        return self._parameter("gaussian", "mean")

    @fitted_attribute
    def var_(self) -> np.ndarray:
        """Variance of every column in every class."""
        return self._parameter("gaussian", "variance", constant=0.0)


class BernoulliNB(LinearAttributes, _NaiveBayes):
    """Naive Bayes with columns of zeros and ones.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing: ``p = (N₁ + α)/(n + 2α)``.
    binarize : float or None, default=0.0
        Numbers above this are 1, others 0; ``None`` takes the columns as they are.
    fit_prior : bool, default=True
        Observed shares as prior probabilities; else equal ones.
    class_prior : array of shape (n_classes,), optional
    n_jobs : int, optional

    Attributes
    ----------
    classes_, feature_log_prob_, class_log_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn; ``coef_`` and ``intercept_`` of the linear scores.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: with ``binarize=None`` other numbers than 0 and 1 are an error; no
    ``force_alpha``, as ``alpha=0`` is taken at its word, and no ``partial_fit``. A saved model knows nothing of
    ``binarize``: the command expects zeros and ones.

    Examples
    --------
    >>> from linsep import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 0]], [0, 0, 1, 1])
    >>> model.predict_proba([[1, 0]]).round(4).tolist()
    [[0.75, 0.25]]
    """

    # Few columns of zeros and ones cannot tell blobs apart.
    _poor_score = True

    def __init__(self, *, alpha=1.0, binarize=0.0, fit_prior=True, class_prior=None, n_jobs=None):
        self.alpha = alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return self._family("bernoulli", training, smoothing=not_negative(self.alpha, "alpha"))

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] != "bernoulli" or settings["overrides"]:
            return None
        return {"alpha": settings["smoothing"], "binarize": None, "class_prior": settings["priors"]}

    def _takes_raw(self) -> bool:
        return self.binarize is None

    def _prepare(self, given: _input.Features, fitting: bool) -> _input.Features:
        if self.binarize is None or given.is_table:
            return given
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

    def save(self, path) -> None:
        """Writes the model file of the command; warns where it was fitted on other numbers than zeros and ones.

        Parameters
        ----------
        path : str or path
        """
        if self.__dict__.get("_binarized", False):
            warn(f"the file knows nothing of binarize={self.binarize!r}: its model expects zeros and ones")
        super().save(path)

    @fitted_attribute
    def feature_log_prob_(self) -> np.ndarray:
        """Logarithms of the probabilities of 1."""
        return np.log(self._parameter("bernoulli", "p"))


class MultinomialNB(LinearAttributes, _NaiveBayes):
    """Naive Bayes with counts of several kinds of thing, such as words.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing: ``θ_j = (N_j + α)/(N + αd)``.
    fit_prior : bool, default=True
    class_prior : array of shape (n_classes,), optional
    n_jobs : int, optional

    Attributes
    ----------
    classes_, feature_log_prob_, class_log_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn; ``coef_`` and ``intercept_`` of the linear scores.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: no ``force_alpha``, as ``alpha=0`` is taken at its word, and no
    ``partial_fit``. ``feature_log_prob_`` is kept up to 100,000 columns.

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

    def __init__(self, *, alpha=1.0, fit_prior=True, class_prior=None, n_jobs=None):
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return self._family("multinomial", training, smoothing=not_negative(self.alpha, "alpha"))

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] != "multinomial" or settings["overrides"]:
            return None
        return {"alpha": settings["smoothing"], "class_prior": settings["priors"]}

    @fitted_attribute
    def feature_log_prob_(self) -> np.ndarray:
        """Logarithms of the shares of the columns in every class."""
        found = np.full((self.classes_.size, self.n_features_in_), np.nan)
        for marginal in self._marginals("multinomial"):
            found[:, marginal["columns"]] = np.log(marginal["shares"])
        return found


class PoissonNB(LinearAttributes, _NaiveBayes):
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

    def __init__(self, *, alpha=1.0, fit_prior=True, class_prior=None, n_jobs=None):
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

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


class CategoricalNB(_NaiveBayes):
    """Naive Bayes with columns of categories.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing: ``p_l = (N_l + α)/(n + αL)`` for a column of L levels.
    fit_prior : bool, default=True
    class_prior : array of shape (n_classes,), optional
    n_jobs : int, optional

    Attributes
    ----------
    classes_, category_log_prob_, n_categories_, class_log_prior_, class_count_, n_features_in_, feature_names_in_
        As in scikit-learn: ``category_log_prob_`` is a list with an array of shape (n_classes, n_categories) for each
        column.
    categories_
        The levels of each column, as text.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: frames of text are taken as they are; in arrays of whole numbers the
    levels of a column are the numbers that occur, in rising order, not all from 0 to the largest, so there is no
    ``min_categories``; a level that was not seen in training is an error that names it.

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

    def __init__(self, *, alpha=1.0, fit_prior=True, class_prior=None, n_jobs=None):
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return self._family("categorical", training, smoothing=not_negative(self.alpha, "alpha"))

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["numbers"] != "categorical" or settings["overrides"]:
            return None
        return {"alpha": settings["smoothing"], "class_prior": settings["priors"]}

    def _takes_raw(self) -> bool:
        return False

    def _prepare(self, given: _input.Features, fitting: bool) -> _input.Features:
        if given.is_table:
            return given
        x = given.x
        _input.check_finite(x)
        if (x < 0).any():
            raise ValueError("Negative values in data passed to CategoricalNB (input X): levels are numbers from 0")
        if (x != np.floor(x)).any():
            # scikit-learn takes them for whole numbers without a word.
            raise ValueError("levels must be whole numbers, or text in a frame")
        from ._table import from_columns

        names = given.names or [f"x{j}" for j in range(given.cols)]
        columns = []
        for j in range(given.cols):
            levels, codes = np.unique(x[:, j], return_inverse=True)
            columns.append((codes.astype(np.int64), [str(int(level)) for level in levels]))
        return _input.Features(from_columns(names, columns), given.rows, given.cols, names, is_table=True)

    @fitted_attribute
    def _ordered(self) -> list[tuple[list[str], np.ndarray]]:
        """Levels and shares of every column; levels that are numbers in their order, not in that of their spelling."""
        spelled = self.model_.feature_names
        found = []
        for name, marginal in zip(self.model_.input_names, self._marginals("categorical")):
            levels = [spelled[j][len(name) + 1 :] for j in marginal["columns"]]
            order = list(range(len(levels)))
            if all(level.isdecimal() for level in levels):
                order = sorted(order, key=lambda at: int(levels[at]))
            found.append(([levels[at] for at in order], np.array(marginal["shares"])[:, order]))
        return found

    @fitted_attribute
    def categories_(self) -> list[list[str]]:
        """Levels of every column, in the order of ``category_log_prob_``."""
        return [levels for levels, _ in self._ordered]

    @fitted_attribute
    def category_log_prob_(self) -> list[np.ndarray]:
        """Logarithms of the shares of the levels in every class, column by column."""
        return [np.log(shares) for _, shares in self._ordered]

    @fitted_attribute
    def n_categories_(self) -> np.ndarray:
        """Levels of every column."""
        return np.array([len(levels) for levels, _ in self._ordered])


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
        families=None,
        default="gaussian",
        alpha=1.0,
        var_smoothing=1e-9,
        divisor="mle",
        fit_prior=True,
        class_prior=None,
        n_jobs=None,
    ):
        self.families = families
        self.default = default
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.divisor = divisor
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

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
