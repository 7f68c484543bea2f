"""Gaussian classes: one covariance for all, one each, or a sphere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input
from ._base import Decision, DensityAttributes, Estimator, LinearAttributes, Probabilities, WritableWeights
from ._fit import Training, fitted, training, warn_unless_converged
from ._gaussian import checked_priors, empirical, estimated, explained, known
from ._lazy import available_if, fitted_attribute
from ._parts import InParts
from ._penalty import not_negative, one_of, yes_no
from ._policies import keep

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack
    from ._policies import Policies


def _shrinkage(said: Any) -> Any:
    if said is None:
        return "none"
    if isinstance(said, str) and said == "auto":
        return "ledoit_wolf"
    if isinstance(said, (int, float, np.number)) and 0 <= said <= 1:
        return {"fixed": float(said)}
    raise ValueError(f"shrinkage must be None, 'auto' or a number from 0 to 1; got {said!r}")


def _shrinkage_param(said: Any) -> Any:
    return {"none": None, "ledoit_wolf": "auto"}[said] if isinstance(said, str) else said["fixed"]


class _GaussianClasses(DensityAttributes, Probabilities, Decision, Estimator):
    """What the three have in common."""

    _method = "gaussian"
    divisor: str
    shrinkage: Any
    priors: Any
    #: Whether priors that do not add up to one are scaled, which is said.
    _rescales_priors = False

    def _check_solver(self, solvers: tuple[str, ...], refused: str) -> None:
        """scikit-learn's rules about what goes with what, where its own solvers are named."""
        one_of(self.solver, "solver", {word: word for word in ("auto", *solvers)})
        given = self.covariance_estimator
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver: leave solver out")
        if self.solver == "svd" and given is not None:
            raise ValueError(refused)
        if given is not None and self.shrinkage not in (None, 0):
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )

    def _gaussian(self, shape: str, training: Training | None) -> dict[str, Any]:
        # Shrinkage towards the identity asks in which units: those of standardised columns where it is learned, as in
        # scikit-learn. Without shrinkage it makes no difference.
        return {
            "shape": shape,
            "divisor": one_of(self.divisor, "divisor", {"unbiased": "unbiased", "mle": "mle"}),
            "shrinkage": _shrinkage(self.shrinkage),
            "priors": checked_priors(
                self.priors, training.n_classes if training else None, self._rescales_priors, training is not None
            ),
            "standardize": yes_no(self.shrinkage is None or isinstance(self.shrinkage, str)),
        }

    @classmethod
    def _gaussian_params(cls, settings: dict[str, Any]) -> dict[str, Any]:
        return {
            "divisor": settings["divisor"],
            "shrinkage": _shrinkage_param(settings["shrinkage"]),
            "priors": settings["priors"],
        }

    @fitted_attribute
    def means_(self) -> np.ndarray:
        """Mean of every class."""
        return self._as_given(np.array(self._density["density"]["means"]))

    @fitted_attribute
    def priors_(self) -> np.ndarray:
        """Prior probabilities of the classes."""
        return np.array(self._density["priors"])

    def _covariance(self) -> Any:
        covariance = self._density["density"]["covariance"]
        if "spherical" in covariance:
            return covariance["spherical"] * np.eye(self.means_.shape[1])
        if "shared" in covariance:
            return np.array(covariance["shared"])
        return [np.array(matrix) for matrix in covariance["own"]]


class _GaussianParts(InParts):
    """Rows in parts; estimators of covariances, ``reg_param`` and ``shrinkage='auto'`` need all rows at once."""

    covariance_estimator: Any
    shrinkage: Any

    def _sums_are_enough(self) -> bool:
        return self.covariance_estimator is None and self.shrinkage != "auto" and not getattr(self, "reg_param", 0)

    @available_if(_sums_are_enough)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to those seen so far; the model is that of all of them.

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
            While the rows are not enough there is no model, and predictions say what they wait for.
        """
        return super().partial_fit(X, y, classes, sample_weight)


class LinearDiscriminantAnalysis(_GaussianParts, WritableWeights, _GaussianClasses):
    """Gaussian classes with one covariance: linear scores, probabilities, and a projection that tells classes apart.

    Parameters
    ----------
    solver : {'auto', 'svd', 'lsqr', 'eigen'}, default='auto'
        There is one way to fit; the others are for scikit-learn's rules: ``'svd'`` takes no shrinkage and keeps
        ``covariance_`` only with ``store_covariance``, ``'lsqr'`` has no `transform`, ``'eigen'`` does not subtract the
        overall mean in it.
    shrinkage : float or 'auto', optional
        Share by which the covariance is moved towards a multiple of the identity; ``'auto'`` is Ledoit and Wolf's.
    priors : array of shape (n_classes,), optional
        Prior probabilities; by default the observed shares.
    n_components : int, optional
        Dimensions that `transform` keeps; by default ``min(n_classes − 1, n_features)``.
    store_covariance : bool, default=False
        Whether ``covariance_`` exists for ``solver='svd'``; it always does for the others.
    tol : float, default=1e-4
        Directions whose spread is less than this share of the largest are left out of `transform`.
    covariance_estimator : estimator, optional
        Something with `fit` and ``covariance_``, for each class; the covariances are averaged by the priors, and the model
        holds the result as given.
    divisor : {'mle', 'unbiased'}, default='mle'
        ``Σs`` or ``Σs − K``.
    n_jobs : int, optional

    Attributes
    ----------
    classes_, coef_, intercept_, means_, priors_, covariance_, scalings_, xbar_, explained_variance_ratio_,
    n_features_in_
        As in scikit-learn.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: ``sample_weight`` is taken; a singular covariance is not inverted somehow:
    columns that are constant or copies of others are named in ``summary()`` and get no weight, and where that is not the
    reason it is an error that says which columns; Ledoit and Wolf's shrinkage is learned from all rows about their class
    means, not class by class.

    Examples
    --------
    >>> from linsep import LinearDiscriminantAnalysis
    >>> X = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    >>> model = LinearDiscriminantAnalysis(divisor="unbiased").fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist()
    ([[5.0]], [-17.5])
    """

    _rescales_priors = True

    _sums_prove_all = False

    def __init__(
        self,
        solver: Any = "auto",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: Any = None,
        store_covariance: Any = False,
        tol: Any = 1e-4,
        covariance_estimator: Any = None,
        *,
        divisor: Any = "mle",
        n_jobs: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.divisor = divisor
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        self._check_solver(
            ("svd", "lsqr", "eigen"), "covariance estimator is not supported with svd: solver='lsqr' and 'eigen' take one"
        )
        not_negative(self.tol, "tol")
        if training is None:
            return self._gaussian("shared", training)
        if training.features.rows <= training.n_classes:
            raise ValueError("The number of samples must be more than the number of classes, to learn a covariance from")
        settings = self._part_settings(training)
        if self.covariance_estimator is not None:
            found = estimated(self.covariance_estimator, training, type(self).__name__)
            counts = np.bincount(training.labels.codes, minlength=training.n_classes)
            priors = settings["priors"] or (counts / counts.sum()).tolist()
            shared = sum(prior * one for prior, one in zip(priors, found))
            settings["known"] = known(training, {"shared": shared.tolist()})
        return settings

    def _part_settings(self, training: Training) -> dict[str, Any]:
        most = min(training.n_classes - 1, training.cols)
        if self.n_components is not None and not 1 <= self.n_components <= most:
            raise ValueError(f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}, nor less than 1")
        return self._gaussian("shared", training)

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        return cls._gaussian_params(settings) if settings["shape"] == "shared" else None

    @fitted_attribute
    def covariance_(self) -> np.ndarray:
        """The covariance of every class."""
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError("covariance_ is kept for solver='svd' only with store_covariance=True")
        return self._as_given(self._covariance())

    @fitted_attribute
    def xbar_(self) -> np.ndarray:
        """The overall mean by the priors."""
        return self.priors_ @ self.means_

    @fitted_attribute
    def _projection(self) -> tuple[np.ndarray, np.ndarray]:
        """Directions in which the classes have unit covariance and the means spread most, with the spreads."""
        values, vectors = np.linalg.eigh(self._covariance())
        kept = values > values[-1] * 1e-12
        whitening = vectors[:, kept] / np.sqrt(values[kept])
        means = np.sqrt(self.priors_)[:, None] * ((self.means_ - self.xbar_) @ whitening)
        _, spread, directions = np.linalg.svd(means, full_matrices=False)
        rank = max(1, int((spread > self.tol * spread[0]).sum()))
        return whitening @ directions[:rank].T, spread[:rank] ** 2

    @fitted_attribute
    def scalings_(self) -> np.ndarray:
        """Directions of `transform`, one a column."""
        return self._projection[0]

    @fitted_attribute
    def explained_variance_ratio_(self) -> np.ndarray:
        """Shares of the spread between classes that the kept directions have."""
        spread = self._projection[1]
        return (spread / spread.sum())[: self._kept()]

    def _kept(self) -> int:
        most = self._projection[0].shape[1]
        return most if self.n_components is None else min(most, self.n_components)

    def transform(self, X: Any) -> Any:
        """Projects rows on the directions that tell the classes apart.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver: it is for the others")
        given = self._given(X)
        if given.is_table:
            raise ValueError("transform takes numbers; give the text columns as numbers, or leave them out")
        rows = _input.to_dense(given.x)
        if not np.isfinite(rows).all():
            raise ValueError("Input X contains NaN or infinity.")
        centred = rows if self.solver == "eigen" else rows - self.xbar_
        return self._wrapped(self._as_given((centred @ self.scalings_)[:, : self._kept()]), X)

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """`fit`, then `transform`.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that `transform` gives.

        Returns
        -------
        array of str
        """
        self._fitted()
        return np.array([f"lineardiscriminantanalysis{j}" for j in range(self._kept())], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return self._kept()

    #: scikit-learn wraps the output of these methods.
    _sklearn_auto_wrap_output_keys = {"transform"}

    def set_output(self, *, transform: Any = None) -> Self:
        """Says what `transform` gives: ``'default'``, ``'pandas'`` or ``'polars'``.

        Returns
        -------
        self
        """
        if transform is not None:
            self.__dict__.setdefault("_sklearn_output_config", {})["transform"] = transform
        return self

    def _wrapped(self, found: np.ndarray, X: Any) -> Any:
        import sys

        if "sklearn" not in sys.modules:
            return found
        from sklearn.utils._set_output import _wrap_data_with_container

        return _wrap_data_with_container("transform", found, X, self)


class QuadraticDiscriminantAnalysis(_GaussianParts, _GaussianClasses):
    """Gaussian classes, each with a covariance of its own: quadratic scores with probabilities.

    Parameters
    ----------
    solver : {'auto', 'svd', 'eigen'}, default='auto'
        There is one way to fit; the others are for scikit-learn's rules: ``'svd'`` takes no shrinkage, and both keep
        ``covariance_`` only with ``store_covariance``.
    shrinkage : float or 'auto', optional
        Share by which each covariance is moved towards a multiple of the identity; ``'auto'`` is Ledoit and Wolf's.
    priors : array of shape (n_classes,), optional
        Prior probabilities; by default the observed shares.
    reg_param : float, default=0.0
        r, for covariances ``(1−r)Σ_k + rI``, which the model then holds as given.
    store_covariance : bool, default=False
        Whether ``covariance_`` exists for ``solver='svd'`` and ``'eigen'``; it always does for ``'auto'``.
    tol : float, default=1e-4
        No effect: a covariance that cannot be inverted is an error.
    covariance_estimator : estimator, optional
        Something with `fit` and ``covariance_``, for each class; the model holds what it finds as given.
    divisor : {'mle', 'unbiased'}, default='mle'
        ``n_k`` or ``n_k − 1``.
    n_jobs : int, optional

    Attributes
    ----------
    classes_, means_, priors_, covariance_, rotations_, scalings_, n_features_in_
        As in scikit-learn.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: ``sample_weight`` is taken; a covariance that cannot be inverted is an
    error that names the class and the columns.

    Examples
    --------
    >>> from linsep import QuadraticDiscriminantAnalysis
    >>> X = [[-1.0], [0.0], [1.0], [-9.0], [0.0], [9.0]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, ["near", "near", "near", "far", "far", "far"])
    >>> model.predict([[0.5], [8.0]]).tolist()
    ['near', 'far']
    """

    def __init__(
        self,
        *,
        solver: Any = "auto",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: Any = 0.0,
        store_covariance: Any = False,
        tol: Any = 1e-4,
        covariance_estimator: Any = None,
        divisor: Any = "mle",
        n_jobs: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.divisor = divisor
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        self._check_solver(("svd", "eigen"), "covariance_estimator is not supported with solver='svd', but with 'eigen'")
        share = not_negative(self.reg_param, "reg_param")
        if share > 1:
            raise ValueError(f"reg_param must be a number from 0 to 1; got {self.reg_param!r}")
        if share and (self.shrinkage is not None or self.covariance_estimator is not None):
            raise ValueError("reg_param, shrinkage and covariance_estimator say the same thing in three ways: give one")
        settings = self._gaussian("own", training)
        if training is None or not share and self.covariance_estimator is None:
            return settings
        if share:
            covariances = [(1 - share) * one + share * np.eye(training.cols) for one in empirical(training)]
        else:
            covariances = estimated(self.covariance_estimator, training, type(self).__name__)
        return {**settings, "known": known(training, {"own": [one.tolist() for one in covariances]})}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, conformal: Any = None, conformal_by: Any = "rows", conformal_share: Any = 0.2) -> Self:
        """Fits a Gaussian for every class; see `Estimator.fit`.

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
        data = training(self, X, y, sample_weight, (conformal, conformal_by, conformal_share))
        try:
            model = fitted(self, data)
        except _core.LinsepError as error:
            # An earlier fit is over, whether or not this one has come to something.
            self.__dict__.pop("model_", None)
            raise explained(error, data, self.solver) from error
        self._adopt(model, data)
        warn_unless_converged(self)
        return self

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        return cls._gaussian_params(settings) if settings["shape"] == "own" else None

    @fitted_attribute
    def covariance_(self) -> list[np.ndarray]:
        """The covariance of each class."""
        if self.solver != "auto" and not self.store_covariance:
            raise AttributeError(f"covariance_ is kept for solver={self.solver!r} only with store_covariance=True")
        return self._covariance()

    @fitted_attribute
    def _axes(self) -> list[tuple[np.ndarray, np.ndarray]]:
        found = [np.linalg.eigh(matrix) for matrix in self._covariance()]
        return [(values[::-1], vectors[:, ::-1]) for values, vectors in found]

    @fitted_attribute
    def scalings_(self) -> list[np.ndarray]:
        """Variances of each class along its axes, falling."""
        return [values for values, _ in self._axes]

    @fitted_attribute
    def rotations_(self) -> list[np.ndarray]:
        """The axes of each class, one a column."""
        return [vectors for _, vectors in self._axes]


class GaussianBayes(LinearAttributes, _GaussianClasses):
    """Gaussian classes in all three cases, with parameters estimated, given, or weighed against a prior.

    Parameters
    ----------
    covariance : {'shared', 'own', 'spherical'}, default='shared'
        One Σ for all classes, one each, or ``σ²I``.
    divisor : {'unbiased', 'mle'}, default='unbiased'
    shrinkage : float or 'auto', optional
    priors : array of shape (n_classes,), optional
        Prior probabilities; by default the observed shares.
    means : array of shape (n_classes, n_features), optional
        Known means.
    known_covariance : float, matrix or list of matrices, optional
        Known ``σ²``, Σ, or Σ of each class.
    mean_prior : tuple (mean, covariance), optional
        ``μ_k ~ N(mean, covariance)`` before the data; the means are then posterior means (MAP). ``mean`` is one vector,
        or one for each class.
    standardize : bool, default=False
        Whether ``σ²I`` is about standardised columns.
    n_jobs : int, optional

    Attributes
    ----------
    classes_, means_, priors_, covariance_, n_features_in_, feature_names_in_
        As in scikit-learn's discriminant analyses; ``coef_`` and ``intercept_`` unless ``covariance='own'``.
    certificate_, objective_, model_
        The residual of the defining equations, the negative log-likelihood of a row, the library's model.

    Notes
    -----
    scikit-learn has no such class; `LinearDiscriminantAnalysis` and `QuadraticDiscriminantAnalysis` are two of its
    cases.

    Examples
    --------
    >>> from linsep import GaussianBayes
    >>> X = [[0.0], [2.0], [5.0], [7.0]]
    >>> model = GaussianBayes(mean_prior=([3.0], [[1.0]])).fit(X, [0, 0, 1, 1])
    >>> model.means_.round(6).tolist()          # halfway between 1 and 3, and between 6 and 3
    [[2.0], [4.5]]
    """

    def __init__(
        self,
        *,
        covariance: Any = "shared",
        divisor: Any = "unbiased",
        shrinkage: Any = None,
        priors: Any = None,
        means: Any = None,
        known_covariance: Any = None,
        mean_prior: Any = None,
        standardize: Any = False,
        n_jobs: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.covariance = covariance
        self.divisor = divisor
        self.shrinkage = shrinkage
        self.priors = priors
        self.means = means
        self.known_covariance = known_covariance
        self.mean_prior = mean_prior
        self.standardize = standardize
        self.n_jobs = n_jobs
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        shape = one_of(self.covariance, "covariance", {w: w for w in ("shared", "own", "spherical")})
        settings = self._gaussian(shape, training)
        if shape == "spherical":
            settings["standardize"] = yes_no(self.standardize)
        known = self._known(shape)
        if known and training is not None:
            names = training.features.names or [f"x{j}" for j in range(training.cols)]
            settings["known"] = {"features": names, "classes": training.labels.names, **known}
        return settings

    def _known(self, shape: str) -> dict[str, Any]:
        known: dict[str, Any] = {}
        if self.means is not None:
            known["means"] = np.asarray(self.means, dtype=float).tolist()
        if self.known_covariance is not None:
            given = self.known_covariance
            known["covariance"] = {shape: float(given) if shape == "spherical" else np.asarray(given, float).tolist()}
        if self.mean_prior is not None:
            mean, covariance = self.mean_prior
            known["mean_prior"] = {
                "means": np.atleast_2d(np.asarray(mean, dtype=float)).tolist(),
                "covariance": np.atleast_2d(np.asarray(covariance, dtype=float)).tolist(),
            }
        return known

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        standardize = settings["shape"] == "spherical" and settings["standardize"] == "yes"
        return {**cls._gaussian_params(settings), "covariance": settings["shape"], "standardize": standardize}

    @fitted_attribute
    def covariance_(self) -> Any:
        """The covariance of the classes; a list of one each where they have their own."""
        return self._covariance()
