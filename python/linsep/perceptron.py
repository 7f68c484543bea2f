"""The perceptron and its kin: searches for a plane, not minimisers of a risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Decision, Estimator, WritableWeights
from ._core import NotSeparableError
from ._errors import convergence_warning, warn
from ._fit import Training, fitted, seed, training, warn_unless_converged
from ._online import Online
from ._penalty import flag, one_of, positive, whole, yes_no
from ._policies import keep

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from typing_extensions import Self, Unpack
    from ._policies import Policies


class _PerceptronBase(WritableWeights, Decision, Estimator):
    _method = "perceptron"
    eta0: Any
    shuffle: Any
    max_iter: Any
    fit_intercept: Any
    standardize: Any

    def _common(self, variant: str) -> dict[str, Any]:
        return {
            "variant": variant,
            "step": positive(self.eta0, "eta0"),
            "order": "shuffled" if self.shuffle else "given",
            "seed": seed(self),
            "max_epochs": whole(self.max_iter, "max_iter") or 1_000,
            "intercept": "free" if flag(self.fit_intercept, "fit_intercept") else "none",
            "standardize": yes_no(self.standardize),
        }

    def _scheme(self, n_classes: int) -> dict[str, str]:
        return {"multiclass": "linear-machine"}

    @staticmethod
    def _common_params(settings: dict[str, Any]) -> dict[str, Any]:
        return {
            "eta0": settings["step"],
            "shuffle": settings["order"] == "shuffled",
            "random_state": settings["seed"],
            "max_iter": settings["max_epochs"],
            "fit_intercept": settings["intercept"] == "free",
            "standardize": settings["standardize"] == "yes",
        }


class Perceptron(Online, _PerceptronBase):
    """The perceptron: goes from row to row and turns the plane at every mistake, until there is none.

    Parameters
    ----------
    variant : {'online', 'batch', 'averaged'}, default='online'
        Row by row; all mistakes at once; or row by row, with the average of all planes as the answer.
    penalty : None
        The perceptron searches for a plane and minimises nothing: a penalty is an error, and `SGDClassifier` has one.
    alpha : float, default=1e-4
        No effect, as there is no penalty.
    l1_ratio : float, default=0.15
        No effect, as there is no penalty.
    fit_intercept : bool, default=True
    max_iter : int, default=1000
        Epochs.
    tol : float, default=1e-3
        No effect: it stops at the first epoch without a mistake.
    shuffle : bool, default=True
        Visit the rows in a new random order every epoch.
    eta0 : float, default=1.0
        The step, which scales the scores and decides nothing.
    random_state : int, default=0
    on_overlap : {'pocket', 'error'}, default='pocket'
        Where no plane separates the classes the perceptron never ends. Then keep, with a warning that has the proof,
        the plane with the fewest training errors that 100 epochs find, or raise `linsep.NotSeparableError`.
    early_stopping : bool, default=False
        No effect, as ``tol``.
    validation_fraction : float, default=0.1
        No effect, as ``tol``.
    n_iter_no_change : int, default=5
        No effect, as ``tol``.
    class_weight : dict or 'balanced', optional
    warm_start : bool, default=False
        No effect: every fit begins with no plane.
    standardize : bool, default=False
    n_jobs : int, optional
    verbose : bool or callable, default=0
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        Margin and mistakes, why the fit ended, the share of training errors, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: it stops at the first epoch without a mistake and not by ``tol``; it
    proves that the classes overlap instead of cycling; there is no ``penalty``. ``partial_fit`` is scikit-learn's: one
    pass over the rows, one class against the rest, and nothing is proved. Online rules ask of a row's weight only
    whether it is zero.

    Examples
    --------
    >>> from linsep import Perceptron
    >>> model = Perceptron().fit([[0.0, 0.0], [1.0, 0.5], [3.0, 3.0], [4.0, 2.5]], [0, 0, 1, 1])
    >>> model.score([[0.0, 0.0], [1.0, 0.5], [3.0, 3.0], [4.0, 2.5]], [0, 0, 1, 1])
    1.0
    """

    _VARIANTS = {"online": "online", "batch": "batch", "averaged": "averaged"}

    def __init__(
        self,
        *,
        variant: Any = "online",
        penalty: Any = None,
        alpha: Any = 1e-4,
        l1_ratio: Any = 0.15,
        fit_intercept: Any = True,
        max_iter: Any = 1000,
        tol: Any = 1e-3,
        shuffle: Any = True,
        eta0: Any = 1.0,
        random_state: Any = 0,
        on_overlap: Any = "pocket",
        early_stopping: Any = False,
        validation_fraction: Any = 0.1,
        n_iter_no_change: Any = 5,
        class_weight: Any = None,
        warm_start: Any = False,
        standardize: Any = False,
        n_jobs: Any = None,
        verbose: Any = 0,
        time_limit: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.variant = variant
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.eta0 = eta0
        self.random_state = random_state
        self.on_overlap = on_overlap
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        keep(self, policies)

    _weighted = ("fit", "partial_fit", "score")

    def _online_settings(self) -> dict[str, Any]:
        self._settings(None)
        return {
            "loss": "perceptron",
            "rate": "constant",
            "alpha": 1.0,
            "l1_ratio": 0.0,
            "penalised": False,
            "eta0": positive(self.eta0, "eta0"),
            "power": 0.5,
            "fit_intercept": flag(self.fit_intercept, "fit_intercept"),
        }

    def _settings(self, training: Training | None) -> dict[str, Any]:
        if self.penalty is not None:
            raise ValueError(
                f"penalty={self.penalty!r} is not for a perceptron, which minimises nothing: SGDClassifier(loss='hinge') takes"
                " one"
            )
        return self._common(one_of(self.variant, "variant", self._VARIANTS))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, conformal: Any = None, conformal_by: Any = "rows", conformal_share: Any = 0.2) -> Self:
        """Searches for a plane; see `Estimator.fit`.

        Returns
        -------
        self
        """
        falls_back = one_of(self.on_overlap, "on_overlap", {"pocket": True, "error": False})
        data = training(self, X, y, sample_weight, (conformal, conformal_by, conformal_share))
        overlap = False
        try:
            model = fitted(self, data)
        except NotSeparableError as proof:
            overlap = True
            if not falls_back:
                raise
            warn(f"the plane with the fewest errors found is kept: {proof}", convergence_warning())
            pocket = self._common("pocket-errors")
            model = fitted(self, data, settings={**pocket, "max_epochs": min(100, pocket["max_epochs"])})
        self._adopt(model, data)
        # An average has no end of its own, and the proof of overlap has been told already.
        if model.outcome != "iteration_limit" or self.variant != "averaged" and not overlap:
            warn_unless_converged(self)
        return self

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        if settings["variant"] not in cls._VARIANTS:
            return None
        return {**cls._common_params(settings), "variant": settings["variant"]}


class PocketPerceptron(_PerceptronBase):
    """The pocket algorithm: a perceptron on drawn rows that keeps the best plane it has met.

    Parameters
    ----------
    rule : {'errors', 'run'}, default='errors'
        Keep the plane with the fewest training errors, or the one with the longest run of right rows.
    fit_intercept : bool, default=True
    max_iter : int, default=100
        Epochs: as many draws as there are rows.
    eta0 : float, default=1.0
        The step, which scales the scores and decides nothing.
    random_state : int, default=0
    class_weight : dict or 'balanced', optional
    standardize : bool, default=False
    n_jobs : int, optional
    verbose : bool or callable, default=0
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As scikit-learn's Perceptron has them.
    certificate_, stop_, objective_, model_
        Margin, why the fit ended, the share of training errors, the library's model.

    Notes
    -----
    scikit-learn has no pocket algorithm. Weights count in errors and draws.

    Examples
    --------
    >>> from linsep import PocketPerceptron
    >>> model = PocketPerceptron().fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 0, 1])
    >>> model.score([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 0, 1])
    0.8
    """

    _RULES = {"errors": "pocket-errors", "run": "pocket-run"}

    def __init__(
        self,
        *,
        rule: Any = "errors",
        fit_intercept: Any = True,
        max_iter: Any = 100,
        eta0: Any = 1.0,
        random_state: Any = 0,
        class_weight: Any = None,
        standardize: Any = False,
        n_jobs: Any = None,
        verbose: Any = 0,
        time_limit: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.eta0 = eta0
        self.random_state = random_state
        self.class_weight = class_weight
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        keep(self, policies)

    #: Rows are drawn, so their order is of no account.
    shuffle = True
    # The fewest errors met are what was asked for; that they are the fewest of all nobody proves.
    _fine = ("iteration_limit",)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return self._common(one_of(self.rule, "rule", self._RULES))

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        rules = {variant: rule for rule, variant in cls._RULES.items()}
        if settings["variant"] not in rules:
            return None
        found = {**cls._common_params(settings), "rule": rules[settings["variant"]]}
        del found["shuffle"]
        return found
