"""Two classes by other functions of a score: probit, complementary log-log, cauchit; and squared error of sigmoid outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._base import Decision, Estimator, Probabilities, WritableWeights
from ._fit import Training, seed
from ._lazy import available_if
from ._penalty import flag, gap_of, one_of, params_of, penalty, positive, tol_of, whole, yes_no

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray

_INTERCEPTS = {True: "free", False: "none"}


def steps_of(step: Any) -> tuple[float | None, Any]:
    """A step, or ``(step, 't')``, ``(step, 'sqrt(t)')`` or a list of steps, in the words of the model file."""
    if step is None:
        return None, "constant"
    ways = {"t": "harmonic", "sqrt(t)": "root"}
    if isinstance(step, tuple) and len(step) == 2 and isinstance(step[1], str):
        return positive(step[0], "step"), one_of(step[1], "step", ways)
    if isinstance(step, (list, tuple, np.ndarray)):
        return 1.0, {"listed": [positive(s, "step") for s in step]}
    return positive(step, "step"), "constant"


class LinkRegression(WritableWeights, Probabilities, Decision, Estimator):
    """Regression of two classes whose probability is another function of the score than the logistic one.

    Minimises ``−Σ s log P(y | z)/Σs + λ/2 ‖w‖²`` with ``λ = 1/(C Σs)``. Probit and cloglog are convex, and curvature on a ball
    about the solution proves how near it is to the minimum; cauchit is not, and a local minimum is claimed.

    Parameters
    ----------
    link : {'probit', 'cloglog', 'cauchit'}, default='probit'
        ``Φ(z)``, ``1 − exp(−e^z)`` or ``½ + atan(z)/π``; the logistic function is `LogisticRegression`.
    C : float, default=1.0
        Inverse strength of the penalty; ``np.inf`` is maximum likelihood, with the proof that it exists.
    lam : float, optional
        λ itself, instead of ``C``.
    tol : float, default=1e-4
        Stop when the relative gap is at most ``tol²``; of cauchit a gradient of that size.
    fit_intercept : bool, default=True
    class_weight : dict or 'balanced', optional
    max_iter : int, default=500
    verbose : bool or callable, default=0
    warm_start : bool, default=False
    n_jobs : int, optional
    standardize : bool, default=False
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn; ``coef_`` is of z.
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the value of the objective, the library's model.

    Notes
    -----
    ``decision_function`` is the log-odds of the second class, whose sign decides. Of more than two classes each is fitted against the
    rest, the largest z decides, and there are no probabilities.

    Examples
    --------
    >>> from linsep import LinkRegression
    >>> X = [[0.0]] * 4 + [[1.0]] * 4
    >>> model = LinkRegression("probit", C=float("inf")).fit(X, [0, 0, 0, 1, 0, 1, 1, 1])
    >>> model.predict_proba([[0.0], [1.0]])[:, 1].round(6).tolist()
    [0.25, 0.75]
    >>> model.certificate_["kind"]
    'curvature_ball'
    """

    _method = "link"
    _keeps_precision = False

    def __init__(
        self,
        link: Any = "probit",
        *,
        C: Any = 1.0,
        lam: Any = None,
        tol: Any = 1e-4,
        fit_intercept: Any = True,
        class_weight: Any = None,
        max_iter: Any = 500,
        verbose: Any = 0,
        warm_start: Any = False,
        n_jobs: Any = None,
        standardize: Any = False,
        time_limit: Any = None,
    ) -> None:
        self.link = link
        self.C = C
        self.lam = lam
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.time_limit = time_limit

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return {
            "link": one_of(self.link, "link", {"probit": "probit", "cloglog": "cloglog", "cauchit": "cauchit"}),
            "penalty": penalty(self),
            "intercept": _INTERCEPTS[flag(self.fit_intercept, "fit_intercept")],
            "standardize": yes_no(self.standardize),
            "tolerance": gap_of(self.tol),
            "max_iterations": whole(self.max_iter, "max_iter", least=0) or 500,
        }

    def _scheme(self, n_classes: int) -> dict[str, str]:
        return {"multiclass": "linear-machine"}

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        found = params_of(settings["penalty"])
        if found is None or settings["intercept"] == "penalised":
            return None
        return {
            **found,
            "link": settings["link"],
            "fit_intercept": settings["intercept"] != "none",
            "standardize": settings["standardize"] == "yes",
            "tol": tol_of(settings["tolerance"]),
            "max_iter": settings["max_iterations"],
        }

    def _has_proba(self) -> bool:
        return "classes_" not in self.__dict__ or len(self.classes_) == 2

    predict_proba = available_if(_has_proba)(Probabilities.predict_proba)

    @available_if(_has_proba)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, 2)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class SigmoidLeastSquares(WritableWeights, Decision, Estimator):
    """Least squares on the outputs of sigmoids: ``½(σ(z) − t)²`` with t = 0 or 1, which is not convex.

    Minimises ``Σ s ½(σ(z) − t)²/Σs + λ/2 ‖w‖²`` with ``λ = 1/(C Σs)`` from several starts, and claims a local minimum. Of more than two
    classes each has a sigmoid of its own, and the largest output decides.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty; ``np.inf`` is none.
    lam : float, optional
        λ itself, instead of ``C``.
    solver : {'newton', 'gauss-newton', 'gradient-descent', 'sgd'}, default='newton'
    step : float, (float, 't'), (float, 'sqrt(t)') or list of float, optional
        Step η of gradient descent along the gradient of the mean loss, from zero (or the last fit, with ``warm_start``); of ``'sgd'`` the
        first one. ``(0.5, 't')`` is 0.5/t, a list goes on with its last number. By default a line search, or the curvature.
    batch_size : int, default=1
        Rows of a step of ``'sgd'``.
    tol : float, default=1e-8
        A local minimum has a gradient of at most this, relative to the scales of the columns.
    max_iter : int, optional
    restarts : int, default=5
        Random starts beside zero, least squares and logistic regression.
    fit_intercept : bool, default=True
    class_weight : dict or 'balanced', optional
    random_state : int, optional
    verbose : bool or callable, default=0
    warm_start : bool, default=False
    n_jobs : int, optional
    standardize : bool, default=False
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        Gradient and smallest eigenvalue, why the fit ended, the value of the objective, the library's model.

    Notes
    -----
    scikit-learn has no such class. Of two classes the one output is the probability of the second as far as the fit is one; several
    outputs need not sum to one, so there is no ``predict_proba``.

    Examples
    --------
    >>> from linsep import SigmoidLeastSquares
    >>> X = [[0.0]] * 4 + [[1.0]] * 4
    >>> model = SigmoidLeastSquares(C=float("inf")).fit(X, [0, 0, 0, 1, 0, 1, 1, 1])
    >>> model.outputs([[0.0], [1.0]]).round(6).tolist()
    [[0.25], [0.75]]
    """

    _method = "sigmoid-ls"
    _keeps_precision = False

    def __init__(
        self,
        *,
        C: Any = 1.0,
        lam: Any = None,
        solver: Any = "newton",
        step: Any = None,
        batch_size: Any = 1,
        tol: Any = 1e-8,
        max_iter: Any = None,
        restarts: Any = 5,
        fit_intercept: Any = True,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: Any = 0,
        warm_start: Any = False,
        n_jobs: Any = None,
        standardize: Any = False,
        time_limit: Any = None,
    ) -> None:
        self.C = C
        self.lam = lam
        self.solver = solver
        self.step = step
        self.batch_size = batch_size
        self.tol = tol
        self.max_iter = max_iter
        self.restarts = restarts
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.time_limit = time_limit

    def _settings(self, training: Training | None) -> dict[str, Any]:
        names = ("newton", "gauss-newton", "gradient-descent", "sgd")
        algorithm = one_of(self.solver, "solver", {name: name for name in names})
        if self.step is not None and algorithm not in ("gradient-descent", "sgd"):
            raise ValueError("step is for solver='gradient-descent' and 'sgd'")
        step, steps = steps_of(self.step)
        return {
            "penalty": penalty(self),
            "intercept": _INTERCEPTS[flag(self.fit_intercept, "fit_intercept")],
            "standardize": yes_no(self.standardize),
            "algorithm": algorithm,
            "tolerance": positive(self.tol, "tol"),
            "max_iterations": whole(self.max_iter, "max_iter"),
            "restarts": whole(self.restarts, "restarts", least=0) or 0,
            "seed": seed(self),
            "batch": whole(self.batch_size, "batch_size") or 1,
            "step": step,
            "steps": steps,
        }

    def _scheme(self, n_classes: int) -> dict[str, str]:
        return {"multiclass": "linear-machine"}

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        found = params_of(settings["penalty"])
        if found is None or settings["intercept"] == "penalised":
            return None
        step, steps = settings.get("step"), settings.get("steps", "constant")
        if isinstance(steps, dict):
            step = [step * s for s in steps["listed"]]
        elif steps in ("harmonic", "root"):
            step = (step, "t" if steps == "harmonic" else "sqrt(t)")
        return {
            **found,
            "solver": settings["algorithm"],
            "step": step,
            "batch_size": settings.get("batch", 1),
            "tol": settings["tolerance"],
            "max_iter": settings["max_iterations"],
            "restarts": settings["restarts"],
            "random_state": settings["seed"],
            "fit_intercept": settings["intercept"] != "none",
            "standardize": settings["standardize"] == "yes",
        }

    def outputs(self, X: Any) -> np.ndarray:
        """The outputs σ(z), one column for two classes (that of the second) and else one a class; they need not sum to one.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        """
        z = np.asarray(self.decision_function(X))
        z = z.reshape(len(z), -1)
        return 0.5 * (1.0 + np.tanh(0.5 * z))
