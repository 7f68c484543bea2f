"""Linear classifiers that minimise a risk: a loss, a penalty and a solver that proves how close it came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._base import Decision, Estimator, Probabilities, WritableWeights
from ._fit import Training, seed
from ._habits import DEPRECATED, logistic_combination, logistic_penalty, svm_combination
from ._lazy import available_if, fitted_attribute
from ._online import Online, normalised, rate_of
from ._parts import InParts
from ._penalty import flag, gap_of, not_negative, one_of, params_of, penalty, positive, tol_of, whole, yes_no
from ._policies import keep

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from typing_extensions import Unpack
    from ._policies import Policies
    from .inference import Inference

#: scikit-learn's names of solvers; those of its own algorithms mean whatever suits best, the optimum being the same.
_SOLVERS = {
    "auto": "auto",
    "newton": "newton",
    "newton-cholesky": "newton",
    "newton-cg": "newton-cg",
    "row-newton": "row-newton",
    "lbfgs": "lbfgs",
    "gradient-descent": "gradient-descent",
    "fixed-step": "fixed-step",
    "proximal-newton": "proximal-newton",
    "interior-point": "interior-point",
    "dual-cd": "dual-cd",
    "svrg": "svrg",
    "sgd": "sgd",
    "liblinear": "auto",
    "sag": "auto",
    "saga": "auto",
}
#: Solvers that prove nothing without a penalty, and scikit-learn's default among them.
_NEED_A_PENALTY = ("newton-cg", "lbfgs")
_INTERCEPTS = {True: "free", False: "none"}


def _risk(
    estimator: Any, loss: str, said_penalty: Any, algorithm: str, intercept: str | None = None, gap: Any = None
) -> dict[str, Any]:
    """Settings of a risk minimiser that several estimators share."""
    settings = {
        "loss": loss,
        "penalty": said_penalty,
        "intercept": intercept or _INTERCEPTS[flag(estimator.fit_intercept, "fit_intercept")],
        "standardize": yes_no(estimator.standardize),
        "algorithm": algorithm,
        "tolerance": gap_of(estimator.tol) if gap is None else positive(gap, "tol"),
        "max_iterations": whole(estimator.max_iter, "max_iter", least=0),
    }
    if algorithm == "svrg":
        settings["stochastic"] = {"batch": 1, "step": None, "seed": seed(estimator)}
    return settings


def _common_params(settings: dict[str, Any]) -> dict[str, Any]:
    """Parameters that several estimators share, from settings."""
    return {
        "fit_intercept": settings["intercept"] != "none",
        "standardize": settings["standardize"] == "yes",
        "tol": tol_of(settings["tolerance"]),
        "max_iter": settings["max_iterations"],
    }


class LogisticRegression(WritableWeights, Probabilities, Decision, Estimator):
    """Logistic regression; softmax for more than two classes.

    Minimises ``Σ s·loss/Σs + λ[(1−α)/2 ‖W‖² + α‖W‖₁]`` with ``λ = 1/(C Σs)`` and ``α = l1_ratio``, which is
    scikit-learn's objective divided by ``C Σs``, and proves by a dual point how far it is from the minimum.

    Parameters
    ----------
    penalty : {'l1', 'l2', 'elasticnet', None}, default='deprecated'
        scikit-learn's former way to say ``l1_ratio`` and ``C=np.inf``; it warns.
    C : float, default=1.0
        Inverse strength of the penalty; ``np.inf`` is maximum likelihood, with the proof that it exists.
    l1_ratio : float, default=0.0
        Share α of the lasso: 0 is ridge, 1 is the lasso.
    dual : bool, default=False
        No effect but that solvers by scikit-learn's names refuse what they refuse there: which problem is solved follows from
        the data.
    lam : float, optional
        λ itself, instead of ``C``.
    tol : float, default=1e-4
        Stop when the relative duality gap is at most ``tol²`` (not below 1e-12 unless ``tol`` is): coefficients are then
        about as good as by scikit-learn's ``tol``, which bounds gradients.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
        No effect: the intercept is not penalised.
    class_weight : dict or 'balanced', optional
    random_state : int, optional
        Seed of stochastic solvers.
    solver : str, default='auto'
        ``'newton'`` (``'newton-cholesky'``), ``'newton-cg'``, ``'row-newton'``, ``'lbfgs'``, ``'gradient-descent'``,
        ``'fixed-step'``, ``'proximal-newton'``, ``'svrg'``; ``'liblinear'``, ``'sag'`` and ``'saga'`` are taken as
        ``'auto'``, and without a penalty ``'newton-cg'`` and ``'lbfgs'`` are, too. Combinations with ``dual``, ``l1_ratio`` and
        several classes that scikit-learn refuses for a solver are refused under its name.
    max_iter : int, optional
        Limit of iterations; by default what suits the solver. 0 gives weights and intercepts of zero, the start.
    verbose : bool or callable, default=0
        Show progress, or call this with a dictionary at every step.
    warm_start : bool, default=False
        Start from the last fit.
    n_jobs : int, optional
        Threads; by default all, or ``LINSEP_NUM_THREADS``. The result does not depend on it.
    standardize : bool, default=False
        Whether the penalty acts on standardised columns; ``coef_`` is in the units of the columns anyway.
    time_limit : float, optional
        Seconds after which to stop with what there is.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the value of the objective, and the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: ``tol`` bounds the distance to the optimum, not a gradient; ``solver`` and ``max_iter`` are chosen by the problem; several classes are always softmax, for every solver
    and penalty; ``C=np.inf`` on separable data raises `linsep.NoOptimumError` with the separating direction, because
    maximum likelihood does not exist there; without ``random_state`` fits are repeatable; ``n_jobs`` has an effect.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = LogisticRegression(C=10.0).fit(X, [0, 0, 1, 0, 1, 1])
    >>> model.predict([[0.5], [4.5]]).tolist()
    [0, 1]
    >>> model.certificate_["kind"], model.certificate_["relative_gap"] < 1e-8
    ('duality_gap', True)
    """

    def __init__(
        self,
        penalty: Any = DEPRECATED,
        *,
        C: Any = 1.0,
        l1_ratio: Any = 0.0,
        dual: Any = False,
        lam: Any = None,
        tol: Any = 1e-4,
        fit_intercept: Any = True,
        intercept_scaling: Any = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: Any = "auto",
        max_iter: Any = None,
        verbose: Any = 0,
        warm_start: Any = False,
        n_jobs: Any = None,
        standardize: Any = False,
        time_limit: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.lam = lam
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.time_limit = time_limit
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        algorithm = one_of(self.solver, "solver", _SOLVERS)
        cost, share = logistic_penalty(self, fitting=training is not None)
        said_penalty = penalty(self, share, cost)
        if training is not None:
            logistic_combination(self.solver, share, said_penalty == "none", self.dual, training.n_classes)
        if said_penalty == "none" and algorithm in _NEED_A_PENALTY:
            algorithm = "auto"
        return _risk(self, "logistic", said_penalty, algorithm)

    @property
    def _keeps_precision(self) -> bool:  # type: ignore[override]
        return self.solver != "liblinear"

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        found = params_of(settings["penalty"])
        if settings["loss"] != "logistic" or found is None:
            return None
        return {**_common_params(settings), **found, "solver": settings["algorithm"]}

    def inference(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Inference:
        """Standard errors, tests and intervals of the rows that this model was fitted on; see `linsep.infer`.

        Only of maximum likelihood: the coefficients of a penalised fit have a bias that nobody knows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        **options
            Of `linsep.infer`: ``level``, ``interval``, ``covariance``, ``tests`` and others.

        Returns
        -------
        Inference
        """
        from .inference import infer

        if np.isfinite(self.C) or self.lam is not None or self.class_weight is not None:
            raise _core.LinsepError(
                "standard errors are those of maximum likelihood without class weights\n  help: fit with C=inf"
            )
        return infer(X, y, fit_intercept=self.fit_intercept, sample_weight=sample_weight, **options)

    @fitted_attribute
    def n_iter_(self) -> np.ndarray:
        """Iterations of the solver."""
        least = 0 if self.max_iter == 0 else 1
        return np.array([max(least, self.model_.iterations)], dtype=np.int32)


class LinearSVC(WritableWeights, Decision, Estimator):
    """Linear support vector machine: hinge or squared hinge with a ridge (or a lasso).

    Minimises ``Σ s·loss/Σs + λ/2 ‖w‖²`` with ``λ = 1/(C Σs)``, which is scikit-learn's objective divided by ``C Σs``,
    for two classes; of more, each against the rest, and the largest score decides.

    Parameters
    ----------
    penalty : {'l2', 'l1'}, default='l2'
        A ridge, or the lasso (squared hinge only).
    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
    dual : bool or 'auto', default='auto'
        No effect but that combinations which LIBLINEAR refuses are refused: which problem is solved follows from the data.
    C : float, default=1.0
        Inverse strength of the penalty.
    l1_ratio : float, optional
        Share of the lasso, in place of ``penalty``; 0 is the ridge, 1 is the lasso (squared hinge only).
    lam : float, optional
        λ itself, instead of ``C``.
    tol : float, default=1e-4
        Stop when the relative duality gap is at most ``tol²`` (not below 1e-12 unless ``tol`` is): coefficients are then
        about as good as by scikit-learn's ``tol``, which bounds gradients.
    fit_intercept : bool, default=True
    penalise_intercept : bool, default=False
        Penalise the intercept like a weight, as LIBLINEAR and scikit-learn's ``LinearSVC`` do.
    intercept_scaling : float, default=1
        No effect: the intercept is free, or penalised like a weight.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        Crammer and Singer fit all classes at once, by the hinge whatever ``loss`` says.
    class_weight : dict or 'balanced', optional
    random_state : int, optional
    solver : str, default='auto'
        ``'interior-point'``, ``'dual-cd'``; for the squared hinge also ``'newton'``, ``'newton-cg'``, ``'lbfgs'`` …
    max_iter : int, optional
    verbose : bool or callable, default=0
    warm_start : bool, default=False
        Starts from the earlier weights: for the squared hinge by a solver of the primal problem, as ``'newton-cg'``.
    n_jobs : int, optional
    standardize : bool, default=False
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    support_
        Rows of the support vectors (hinge).
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the value of the objective, and the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: the intercept is free; ``penalise_intercept=True`` gives LIBLINEAR's
    objective. ``tol`` bounds the distance to the optimum.

    Examples
    --------
    >>> from linsep import LinearSVC
    >>> X = [[0.0, 0.0], [1.0, 0.5], [3.0, 3.0], [4.0, 2.5]]
    >>> model = LinearSVC(loss="hinge").fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[3.5, 3.5]]).tolist()
    ['high']
    >>> model.support_.tolist()
    [1, 2]
    """

    _keeps_precision = False

    def __init__(
        self,
        penalty: Any = "l2",
        loss: Any = "squared_hinge",
        *,
        dual: Any = "auto",
        C: Any = 1.0,
        l1_ratio: Any = None,
        lam: Any = None,
        tol: Any = 1e-4,
        fit_intercept: Any = True,
        penalise_intercept: Any = False,
        intercept_scaling: Any = 1,
        multi_class: Any = "ovr",
        class_weight: Any = None,
        random_state: Any = None,
        solver: Any = "auto",
        max_iter: Any = None,
        verbose: Any = 0,
        warm_start: Any = False,
        n_jobs: Any = None,
        standardize: Any = False,
        time_limit: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.C = C
        self.l1_ratio = l1_ratio
        self.lam = lam
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalise_intercept = penalise_intercept
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.time_limit = time_limit
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        loss = one_of(self.loss, "loss", {"hinge": "hinge", "squared_hinge": "squared-hinge"})
        algorithm = one_of(self.solver, "solver", _SOLVERS)
        share = one_of(self.penalty, "penalty", {"l2": 0.0, "l1": 1.0})
        if self.l1_ratio is not None:
            share = self.l1_ratio
        if training is not None and training.n_classes > 2 and self.multi_class == "crammer_singer":
            loss, share = "hinge", 0.0
        elif self.l1_ratio is None:
            svm_combination(self.penalty, self.loss, self.dual)
        intercept = "penalised" if self.penalise_intercept and self.fit_intercept else None
        return _risk(self, loss, penalty(self, share), algorithm, intercept)

    def _scheme(self, n_classes: int) -> dict[str, str]:
        ways = {"ovr": {"multiclass": "linear-machine"}, "crammer_singer": {"multiclass": "joint"}}
        return one_of(self.multi_class, "multi_class", ways)

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        found = params_of(settings["penalty"])
        if settings["loss"] not in ("hinge", "squared-hinge") or found is None:
            return None
        return {
            **_common_params(settings),
            **found,
            "loss": settings["loss"].replace("-", "_"),
            "penalise_intercept": settings["intercept"] == "penalised",
            "solver": settings["algorithm"],
        }

    @fitted_attribute
    def support_(self) -> np.ndarray:
        """Rows with a positive multiplier in any of the fits, rising."""
        parts = [rows for _, rows, _ in self.model_.support()]
        if not parts:
            raise AttributeError("support_ is only available for loss='hinge' (and 'dual-cd' of the squared hinge)")
        return np.unique(np.concatenate(parts))


class LeastSquaresClassifier(InParts, WritableWeights, Decision, Estimator):
    """Least squares on class targets: ±1 for two classes, one-hot for more; in closed form, with the rank reported.

    Minimises ``Σ s ½‖t − z‖²/Σs + λ/2 ‖W‖²``.

    Parameters
    ----------
    lam : float, default=0.0
        λ; 0 is plain least squares.
    fit_intercept : bool, default=True
    targets : {'auto', 'plus-minus', 'zero-one'}, default='auto'
        Targets of two classes; ``'zero-one'`` halves the scores.
    solver : {'auto', 'cholesky', 'qr', 'gradient-descent'}, default='auto'
    tol : float, default=1e-8
        Relative gap at which gradient descent stops.
    max_iter : int, default=10000
        Steps of gradient descent.
    class_weight : dict or 'balanced', optional
    standardize : bool, default=False
    n_jobs : int, optional
    verbose : bool or callable, default=0
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        The residual of the normal equations, why the fit ended, the value of the objective, the library's model.

    Notes
    -----
    scikit-learn has no such class; its ``RidgeClassifier(alpha=0)`` is the nearest. Without a penalty dependent columns
    get no weight and are named in ``summary()``.

    Examples
    --------
    >>> from linsep import LeastSquaresClassifier
    >>> model = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist()
    ([[0.8]], [-1.2])
    """

    _method = "least-squares"

    _sums_prove_all = False

    def __init__(
        self,
        *,
        lam: Any = 0.0,
        fit_intercept: Any = True,
        targets: Any = "auto",
        solver: Any = "auto",
        tol: Any = 1e-8,
        max_iter: Any = 10_000,
        class_weight: Any = None,
        standardize: Any = False,
        n_jobs: Any = None,
        verbose: Any = 0,
        time_limit: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.targets = targets
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        lam = not_negative(self.lam, "lam")
        words = ("auto", "cholesky", "qr", "gradient-descent")
        return {
            "targets": one_of(self.targets, "targets", {w: w for w in ("auto", "plus-minus", "zero-one")}),
            "penalty": {"ridge": lam} if lam > 0 else "none",
            "intercept": _INTERCEPTS[flag(self.fit_intercept, "fit_intercept")],
            "standardize": yes_no(self.standardize),
            "solver": one_of(self.solver, "solver", {w: w for w in words}),
            "tolerance": positive(self.tol, "tol"),
            "max_iterations": whole(self.max_iter, "max_iter") or 10_000,
        }

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        found = params_of(settings["penalty"])
        if found is None or not set(found) <= {"lam", "C"} or found.get("C", np.inf) != np.inf:
            return None
        return {
            **_common_params(settings),
            "tol": settings["tolerance"],
            "lam": found.get("lam", 0.0),
            "targets": settings["targets"],
            "solver": settings["solver"],
        }


class RidgeClassifier(InParts, WritableWeights, Decision, Estimator):
    """Least squares on class targets with a ridge.

    Minimises ``Σ s ½‖t − z‖² + alpha/2 ‖W‖²``; in closed form, or for many columns by conjugate gradients.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; ``λ = alpha/Σs``.
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        No effect: the features are never written to.
    max_iter : int, optional
    tol : float, default=1e-4
        An iterative solver stops when the relative gap is at most ``tol²``.
    class_weight : dict or 'balanced', optional
    solver : {'auto', 'cholesky', 'qr'}, default='auto'
        scikit-learn's ``'svd'``, ``'lsqr'``, ``'sparse_cg'``, ``'sag'``, ``'saga'`` and ``'lbfgs'`` are taken as
        ``'auto'``: the optimum is the same.
    positive : bool, default=False
        Weights that may not be negative are not to be had; ``True`` is an error.
    random_state : int, optional
        No effect: nothing is drawn.
    standardize : bool, default=False
    n_jobs : int, optional
    verbose : bool or callable, default=0
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the value of the objective divided by Σs, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: the targets of more than two classes are one-hot, not ±1, so that scores
    and weights are half of scikit-learn's (and intercepts ``(1 + theirs)/2``), with the same decisions.

    Examples
    --------
    >>> from linsep import RidgeClassifier
    >>> model = RidgeClassifier(alpha=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.coef_.round(4).tolist()
    [[0.6667]]
    """

    _method = "least-squares"
    _SOLVERS = {
        **{word: word for word in ("auto", "cholesky", "qr")},
        **{word: "auto" for word in ("svd", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")},
    }
    #: More columns than this, and products with the matrix are cheaper than its Gram matrix.
    _MANY = 2_000

    _sums_prove_all = False

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: Any = True,
        copy_X: Any = True,
        max_iter: Any = None,
        tol: Any = 1e-4,
        class_weight: Any = None,
        solver: Any = "auto",
        positive: Any = False,
        random_state: Any = None,
        standardize: Any = False,
        n_jobs: Any = None,
        verbose: Any = 0,
        time_limit: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        keep(self, policies)

    def _is_wide(self, training: Training) -> bool:
        return training.cols > self._MANY and self.alpha > 0

    def _method_for(self, training: Training) -> str:
        return "risk" if self._is_wide(training) else "least-squares"

    def _settings(self, training: Training) -> dict[str, Any]:
        alpha = not_negative(self.alpha, "alpha")
        # By its price and not by λ = alpha/Σs: pairs of classes have fewer rows.
        said_penalty = {"ridge_cost": 1.0 / alpha} if alpha > 0 else "none"
        if self._is_wide(training):
            self._closed_form(said_penalty)
            return _risk(self, "squared", said_penalty, "auto")
        return self._closed_form(said_penalty)

    def _part_settings(self, data: Training) -> dict[str, Any]:
        return self._closed_form({"ridge_cost": 1.0 / self.alpha} if not_negative(self.alpha, "alpha") else "none")

    def _closed_form(self, said_penalty: Any) -> dict[str, Any]:
        if self.positive:
            raise ValueError("positive=True is not to be had: the closed form has weights of either sign")
        solver = one_of(self.solver, "solver", self._SOLVERS)
        settings = {
            "penalty": said_penalty,
            "intercept": _INTERCEPTS[flag(self.fit_intercept, "fit_intercept")],
            "standardize": yes_no(self.standardize),
            "solver": solver,
            "tolerance": gap_of(self.tol),
        }
        limit = whole(self.max_iter, "max_iter")
        return settings if limit is None else {**settings, "max_iterations": limit}


class SGDClassifier(Online, WritableWeights, Probabilities, Decision, Estimator):
    """What stochastic gradient descent minimises, solved to ``tol``; drawn rows where they are asked for; rows in parts.

    Minimises ``Σ s·loss/Σs + alpha [(1−r)/2 ‖W‖² + r‖W‖₁]`` with r = 0 for ``penalty='l2'`` and 1 for ``'l1'``, to ``tol`` in
    relative gap, by the solvers of `LinearSVC` and `LogisticRegression`, which arrive sooner. ``eta0``, ``batch_size`` or
    ``average`` ask for steps by drawn rows, with averaging (not of the hinge, and not with a lasso); the certificate says how
    far they came. ``partial_fit`` is scikit-learn's recursion.

    Parameters
    ----------
    loss : {'log_loss', 'hinge', 'squared_hinge', 'squared_error'}, default='log_loss'
    penalty : {'l2', 'l1', 'elasticnet', None}, default='l2'
    alpha : float, default=1e-4
        λ of the penalty.
    l1_ratio : float, default=0.15
        Share r of the lasso in ``penalty='elasticnet'``.
    fit_intercept : bool, default=True
    max_iter : int, default=100
        Epochs of steps by drawn rows.
    tol : float, default=1e-3
        Stop when the relative duality gap is at most this; ``None`` is 1e-8.
    shuffle : bool, default=True
        No effect: rows are drawn.
    epsilon : float, default=0.1
        No effect: it belongs to losses for regression.
    verbose : bool or callable, default=0
    n_jobs : int, optional
    random_state : int, optional
    learning_rate : {'optimal', 'constant', 'invscaling', 'adaptive'}, default='optimal'
        Of ``partial_fit``; the steps of ``fit`` always decrease.
    eta0 : float, optional
        The first step, by drawn rows in ``fit``; by default by the curvature.
    power_t : float, default=0.5
        The exponent of ``'invscaling'``.
    early_stopping : bool, default=False
        No effect: the gap says when to stop.
    validation_fraction : float, default=0.1
        No effect, as ``early_stopping``.
    n_iter_no_change : int, default=5
        No effect, as ``early_stopping``.
    average : bool or int, default=False
        Asks for steps by drawn rows, whose solutions are always averaged.
    batch_size : int, default=1
        Rows of a step.
    class_weight : dict or 'balanced', optional
    warm_start : bool, default=False
    standardize : bool, default=False
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the value of the objective, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: the default loss is the logistic one; the gap decides when to stop; more than
    two classes of ``'log_loss'`` are softmax, not one against the rest. ``partial_fit`` is scikit-learn's: one pass by
    ``learning_rate``, one class against the rest, and nothing is proved. For a solution rather than a sketch use
    `LogisticRegression`, which is usually faster as well.

    Examples
    --------
    >>> from linsep import SGDClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5]] * 25
    >>> model = SGDClassifier(alpha=0.01, random_state=1).fit(X, [0, 0, 1, 1] * 25)
    >>> model.predict([[3.0, 3.0]]).tolist()
    [1]
    """

    _LOSSES = {"log_loss": "logistic", "hinge": "hinge", "squared_hinge": "squared-hinge", "squared_error": "squared"}
    #: The relative gap of ``tol=None``, which means as far as it goes.
    _FAR = 1e-8

    def __init__(
        self,
        loss: Any = "log_loss",
        *,
        penalty: Any = "l2",
        alpha: Any = 1e-4,
        l1_ratio: Any = 0.15,
        fit_intercept: Any = True,
        max_iter: Any = 100,
        tol: Any = 1e-3,
        shuffle: Any = True,
        verbose: Any = 0,
        epsilon: Any = 0.1,
        n_jobs: Any = None,
        random_state: Any = None,
        learning_rate: Any = "optimal",
        eta0: Any = None,
        power_t: Any = 0.5,
        early_stopping: Any = False,
        validation_fraction: Any = 0.1,
        n_iter_no_change: Any = 5,
        class_weight: Any = None,
        warm_start: Any = False,
        average: Any = False,
        batch_size: Any = 1,
        standardize: Any = False,
        time_limit: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.batch_size = batch_size
        self.standardize = standardize
        self.time_limit = time_limit
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        loss = one_of(self.loss, "loss", self._LOSSES)
        shares = {"l2": 0.0, "l1": 1.0, "elasticnet": self.l1_ratio}
        share = 0.0 if self.penalty is None else one_of(self.penalty, "penalty", shares)
        alpha = positive(self.alpha, "alpha")
        if not 0 <= share <= 1:
            raise ValueError(f"l1_ratio must be a number between 0 and 1; got {self.l1_ratio!r}")
        said_penalty: Any = {"ridge": alpha}
        if self.penalty is None:
            said_penalty = "none"
        elif share > 0:
            said_penalty = {"elastic_net": {"l1_ratio": float(share), "lambda": alpha}}
        asked = self.eta0 is not None or self.batch_size != 1 or bool(self.average)
        drawn = asked and loss != "hinge" and said_penalty == {"ridge": alpha}
        settings = _risk(self, loss, said_penalty, "sgd" if drawn else "auto", gap=self._FAR if self.tol is None else self.tol)
        if not drawn:
            # Epochs are not iterations of those solvers.
            return {**settings, "max_iterations": None}
        settings["stochastic"] = {
            "batch": whole(self.batch_size, "batch_size") or 1,
            "step": None if self.eta0 is None else positive(self.eta0, "eta0"),
            "seed": seed(self),
        }
        return settings

    def _scheme(self, n_classes: int) -> dict[str, str]:
        return {} if self.loss in ("log_loss", "squared_error") else {"multiclass": "linear-machine"}

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        names = {name: loss for loss, name in cls._LOSSES.items()}
        if settings["algorithm"] != "sgd" or settings["loss"] not in names or "ridge" not in settings["penalty"]:
            return None
        drawn = settings.get("stochastic", {"batch": 1, "step": None, "seed": 0})
        return {
            **_common_params(settings),
            "tol": settings["tolerance"],
            "loss": names[settings["loss"]],
            "alpha": settings["penalty"]["ridge"],
            "batch_size": drawn["batch"],
            "eta0": drawn["step"],
            "random_state": drawn["seed"],
        }

    _weighted = ("fit", "partial_fit", "score")

    def _online_settings(self) -> dict[str, Any]:
        self._settings(None)
        rate, eta0 = rate_of(self)
        shares = {None: 0.0, "l2": 0.0, "l1": 1.0, "elasticnet": self.l1_ratio}
        return {
            "loss": one_of(self.loss, "loss", {name: name for name in self._LOSSES}),
            "rate": rate,
            "alpha": positive(self.alpha, "alpha"),
            "l1_ratio": float(shares[self.penalty]),
            "penalised": self.penalty is not None,
            "eta0": eta0,
            "power": float(self.power_t),
            "fit_intercept": flag(self.fit_intercept, "fit_intercept"),
        }

    def _has_proba(self) -> bool:
        return self.loss == "log_loss" or self._is_calibrated()

    @available_if(_has_proba)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        if self._is_online() and self.classes_.size > 2:
            return normalised(self.decision_function(X))
        return super().predict_proba(X)

    @available_if(_has_proba)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Their logarithms.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        if self._is_online() and self.classes_.size > 2:
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))
        return super().predict_log_proba(X)
