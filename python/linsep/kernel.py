"""Machines with kernels, and the hard margin."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _input
from ._base import Decision, Estimator, LinearAttributes
from ._core import Model
from ._errors import not_fitted, warn
from ._fit import NO_SETS, Training, run, seed, threads
from ._habits import DEPRECATED, svm_weights
from ._lazy import available_if, fitted_attribute
from ._penalty import flag, gap_of, one_of, params_of, penalty, positive, tol_of, whole, yes_no
from ._policies import keep

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack
    from ._policies import Policies

#: Beyond this the library refuses a cell, as sums of squares overflow.
_SQUARES_OVERFLOW = 1e150

_KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}


def _kernel(estimator: Any, training: Training | None) -> dict[str, Any]:
    """The kernel of an estimator in the words of the model file."""
    name = "precomputed" if callable(estimator.kernel) else one_of(estimator.kernel, "kernel", _KERNELS)
    if name in ("linear", "precomputed"):
        return {"name": name}
    gamma = estimator.gamma
    if isinstance(gamma, str):
        one_of(gamma, "gamma", {"scale": None, "auto": None})
        gamma = 1.0 / training.cols if gamma == "auto" and training is not None else None
    elif gamma is not None:
        gamma = positive(gamma, "gamma")
    found: dict[str, Any] = {"name": name, "gamma": gamma}
    if name in ("polynomial", "sigmoid"):
        found["coef0"] = float(estimator.coef0)
    if name == "polynomial":
        found["degree"] = whole(estimator.degree, "degree")
    return found


def _kernel_params(said: dict[str, Any]) -> dict[str, Any]:
    names = {theirs: ours for ours, theirs in _KERNELS.items()}
    found: dict[str, Any] = {"kernel": names[said["name"]]}
    if "gamma" in said:
        found["gamma"] = "scale" if said["gamma"] is None else said["gamma"]
    found.update({name: said[name] for name in ("coef0", "degree") if name in said})
    return found


def _kernel_input(X: Any) -> Any:
    """Rows for a kernel that is a function: a matrix where they are numbers, else whatever they are."""
    rows = np.asarray(X)
    return np.asarray(_input.features(X, sparse=False).x, np.float64) if rows.ndim == 2 and rows.dtype.kind in "biuf" else X


def _kernel_values(kernel: Any, rows: Any, others: Any) -> np.ndarray:
    found = np.asarray(kernel(rows, others), dtype=np.float64)
    if found.shape != (len(rows), len(others)):
        raise ValueError(
            f"the kernel of {len(rows)} rows and {len(others)} others must be a matrix of that shape; it gave {found.shape}"
        )
    return np.ascontiguousarray(found)


class _KernelBase(Decision, Estimator):
    kernel: Any

    _keeps_precision = False

    def _is_pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return not self._is_pairwise() and not callable(self.kernel)

    def _takes_raw(self) -> bool:
        return not callable(self.kernel)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, sets: Any) -> Any:
        """Fits, by the values of a kernel where that is a function of rows."""
        if self._is_pairwise() and hasattr(X, "tocsr"):
            raise TypeError("Sparse precomputed kernels are not taken: convert the matrix by '.toarray()'")
        if not callable(self.kernel):
            self.__dict__.pop("_kernel_rows", None)
            return run(self, X, y, sample_weight, sets)
        if sets != NO_SETS:
            raise ValueError("conformal= holds rows back, and a kernel that is a function is known at all rows together")
        rows = _kernel_input(X)
        run(self, _kernel_values(self.kernel, rows, rows), y, sample_weight)
        self._kernel_rows = rows
        if isinstance(rows, np.ndarray):
            self.n_features_in_ = rows.shape[1]
        return self

    def _given(self, X: Any) -> _input.Features:
        if not callable(self.kernel) or "_kernel_rows" not in self.__dict__:
            return super()._given(X)
        rows = _kernel_input(X)
        if isinstance(rows, np.ndarray) and rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as"
                " input."
            )
        return _input.features(_kernel_values(self.kernel, rows, self._kernel_rows))

    def _prepare(self, given: _input.Features, fitting: bool) -> _input.Features:
        if fitting and self._is_pairwise() and given.rows != given.cols:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {given.rows}x{given.cols} matrix."
            )
        if not fitting:
            # A kernel may take infinity to zero, and nobody would notice.
            _input.check_finite(given.x)
        return given


class _Support:
    """Attributes of machines whose answer is a sum over support vectors."""

    model_: Model
    classes_: np.ndarray

    def _keep_support(self, training: Training) -> None:
        """Which class the support vectors are of, and what they are: the model knows them by number only."""
        X, codes = training.source, training.labels.codes
        parts = [rows for _, rows, _ in self.model_.support()]
        rows = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
        order = np.argsort(codes[rows], kind="stable")
        self.support_ = rows[order]
        self._support_codes = codes[self.support_].astype(np.int64)
        if hasattr(X, "iloc"):
            self.support_vectors_ = X.iloc[self.support_].to_numpy()
        elif training.features.is_sparse:
            self.support_vectors_ = X.tocsr()[self.support_]
        elif not training.features.is_table:
            self.support_vectors_ = training.features.x[self.support_]

    def _restore_support(self) -> None:
        """The same from a model file, whose signs of multipliers tell the classes and which keeps the rows of a kernel."""
        said = json.loads(self.model_.to_json())["model"]["discriminant"]
        if said.get("kind") != "kernel":
            parts = [rows for _, rows, _ in self.model_.support()]
            self.support_ = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
            return
        rows = np.array(said["rows"], dtype=np.int64)
        signs = np.array(said["coefficients"]).reshape(rows.size, -1)
        pairs = np.array(list(combinations(range(self.classes_.size), 2)))
        first = (signs != 0).argmax(axis=1)
        codes = np.where(signs[np.arange(rows.size), first] > 0, pairs[first, 1], pairs[first, 0])
        order = np.argsort(codes, kind="stable")
        self.support_, self._support_codes = rows[order], codes[order]
        if said["support"].get("layout") == "dense":
            self.support_vectors_ = np.array(said["support"]["values"]).reshape(rows.size, -1)[order]

    @fitted_attribute
    def n_support_(self) -> np.ndarray:
        """Support vectors of every class."""
        if "_support_codes" not in self.__dict__:
            raise AttributeError("n_support_ is not known of a linear machine from a file, which keeps no signs")
        return np.bincount(self._support_codes, minlength=self.classes_.size).astype(np.int32)

    @fitted_attribute
    def dual_coef_(self) -> np.ndarray:
        """``y·α`` of the support vectors: one row for two classes; else, for every other class, one."""
        place = {int(row): at for at, row in enumerate(self.support_)}
        parts = self.model_.support()
        n, classes = len(place), self.classes_.size
        found = np.zeros((max(1, classes - 1), n))
        for (i, j), (_, rows, alpha) in zip(combinations(range(classes), 2), parts):
            for row, a in zip(rows.tolist(), alpha.tolist()):
                at = place[row]
                own = int(self._support_codes[at])
                other = j if own == i else i
                # scikit-learn counts the first class of a pair as positive; of two classes, the second.
                sign = (1.0 if own == i else -1.0) * (-1.0 if classes == 2 else 1.0)
                found[other - (other > own), at] = sign * a
        return found


class _PairAttributes(LinearAttributes):
    """``coef_`` and ``intercept_`` in scikit-learn's signs: the first class of a pair is positive; of two, the second."""

    def _signed(self, numbers: np.ndarray) -> np.ndarray:
        # Adding zero so that no zero has a sign.
        return numbers if self.classes_.size == 2 else 0.0 - numbers

    def _fitted_coef(self) -> np.ndarray:
        return self._signed(super()._fitted_coef())

    def _fitted_intercept(self) -> np.ndarray:
        return self._signed(super()._fitted_intercept())


class SVC(_Support, _PairAttributes, _KernelBase):
    """Support vector machine with a kernel.

    Minimises ``Σ s·max(0, 1 − y z)/Σs + λ/2 ‖w‖²`` in the kernel's space with ``λ = 1/(C Σs)``: scikit-learn's
    objective divided by ``C Σs``. A dual point proves how far it is from the minimum. More than two classes: every
    pair, which vote.

    Parameters
    ----------
    C : float, default=1.0
        ``np.inf`` is the hard margin, the widest plane of the feature space; where no plane separates the classes there,
        `linsep.NotSeparableError` says how wide one could be.
    lam : float, optional
        λ itself, instead of ``C``.
    fit_intercept : bool, default=True
        ``False`` leaves the intercept out: the score is ``Σ α y K`` alone.
    kernel : {'rbf', 'linear', 'poly', 'sigmoid', 'precomputed'} or callable, default='rbf'
        A function takes two sets of rows and gives the matrix of their kernel values.
    degree : int, default=3
    gamma : {'scale', 'auto'} or float, default='scale'
    coef0 : float, default=0.0
    shrinking : bool, default=True
        No effect: the solver shrinks where that pays.
    probability : bool, default='deprecated'
        Whether `predict_proba` exists: by Platt's scaling of the scores of five folds. scikit-learn gives it up, and it
        warns.
    tol : float, default=1e-3
        Stop when the relative duality gap is at most ``tol²`` (not below 1e-12 unless ``tol`` is).
    cache_size : float, default=200
        Megabytes for kernel rows.
    class_weight : dict or 'balanced', optional
    verbose : bool or callable, default=False
    max_iter : int, default=-1
        Pairs of rows; −1 is very many.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
    break_ties : bool, default=False
        Whether votes that tie are decided by the sums of scores, so that `predict` always agrees with `decision_function`, or
        by the first class. ``True`` is for ``decision_function_shape='ovr'``.
    random_state : int, optional
        Draws the folds of ``probability=True``.
    n_jobs : int, optional
    standardize : bool, default=False
    time_limit : float, optional

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn; ``coef_`` for the linear kernel.
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the value of the objective, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: ``tol`` bounds the distance to the optimum. A file of a model with a kernel that is a function
    expects its values at the training rows. A kernel that is not positive semidefinite is named, with evidence, in
    ``summary()``.

    Examples
    --------
    >>> from linsep import SVC
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> model = SVC(C=10.0, gamma=1.0).fit(X, ["same", "same", "other", "other"])
    >>> model.predict(X).tolist()
    ['same', 'same', 'other', 'other']
    >>> model.n_support_.tolist()
    [2, 2]
    """

    _method = "kernel-svm"

    def __init__(
        self,
        *,
        C: Any = 1.0,
        lam: Any = None,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        shrinking: Any = True,
        probability: Any = DEPRECATED,
        tol: Any = 1e-3,
        cache_size: Any = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: Any = -1,
        decision_function_shape: Any = "ovr",
        break_ties: Any = False,
        random_state: Any = None,
        n_jobs: Any = None,
        standardize: Any = False,
        time_limit: Any = None,
        fit_intercept: Any = True,
        **policies: Unpack[Policies],
    ) -> None:
        self.C = C
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.time_limit = time_limit
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        one_of(self.decision_function_shape, "decision_function_shape", {"ovr": 0, "ovo": 0})
        return {
            "kernel": _kernel(self, training),
            "penalty": penalty(self),
            "intercept": "free" if flag(self.fit_intercept, "fit_intercept") else "none",
            "standardize": yes_no(self.standardize),
            "tolerance": gap_of(self.tol),
            "max_iterations": whole(self.max_iter, "max_iter"),
            "cache": int(positive(self.cache_size, "cache_size") * 2**20),
        }

    def _scheme(self, n_classes: int) -> dict[str, str]:
        return {"multiclass": "one-vs-one", "ties": "scores" if self.break_ties else "first"}

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        found = params_of(settings["penalty"])
        if found is None:
            return None
        return {
            **found,
            **_kernel_params(settings["kernel"]),
            "fit_intercept": settings.get("intercept", "free") == "free",
            "standardize": settings["standardize"] == "yes",
            "tol": tol_of(settings["tolerance"]),
            "max_iter": -1 if settings["max_iterations"] is None else settings["max_iterations"],
            "cache_size": settings["cache"] // 2**20 if settings["cache"] % 2**20 == 0 else settings["cache"] / 2**20,
        }

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, conformal: Any = None, conformal_by: Any = "rows", conformal_share: Any = 0.2) -> Self:
        """Fits the machine; see `Estimator.fit`. Rows for a kernel that is a function may be of any kind.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Rows of a negative weight are left out, as LIBSVM does.
        conformal, conformal_by, conformal_share
            As in `Estimator.fit`.

        Returns
        -------
        self
        """
        self.__dict__.pop("_platt", None)
        sample_weight = svm_weights(sample_weight, y)
        self._fit_rows(X, y, sample_weight, (conformal, conformal_by, conformal_share))
        if not isinstance(self.probability, str):
            warn(
                "the `probability` parameter was deprecated by scikit-learn 1.9: put the machine into its"
                " CalibratedClassifierCV instead",
                FutureWarning,
            )
            if self.probability:
                from ._platt import Platt

                self._platt = Platt(self, X, y, sample_weight)
        return self

    def _takes_raw(self) -> bool:
        return super()._takes_raw() and not (self.break_ties and self.decision_function_shape == "ovo")

    def _predict(self, X: Any) -> np.ndarray:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return super()._predict(X)

    def _too_large(self, values: np.ndarray) -> str | None:
        # LIBSVM finds out at the end.
        largest = float(np.abs(values).max())
        return "The dual coefficients or intercepts are not finite" if largest > _SQUARES_OVERFLOW else None

    def _has_proba(self) -> bool:
        return self.probability is True

    @available_if(_has_proba)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities by Platt's scaling of the scores, after a fit with ``probability=True``.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        self._fitted()
        if "_platt" not in self.__dict__:
            raise not_fitted(self, "predict_proba is not available when fitted with probability=False")
        return self._platt.probabilities(self._pair_scores(X))

    @available_if(_has_proba)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))

    def _adopt(self, model: Model, training: Training) -> None:
        super()._adopt(model, training)
        self._keep_support(training)
        self.shape_fit_ = (training.features.rows, training.cols)

    def _stopped_early(self) -> str:
        return (
            f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data with StandardScaler or"
            " MinMaxScaler."
        )

    def _platt_numbers(self, name: str, at: int) -> np.ndarray:
        warn(f"Attribute `{name}` was deprecated by scikit-learn 1.9, as `probability` was", FutureWarning)
        slopes = self._platt.slopes if "_platt" in self.__dict__ else []
        # scikit-learn's are of 1/(1 + exp(A z + B)).
        return np.array([-pair[at] for pair in slopes])

    @property
    def probA_(self) -> np.ndarray:
        """Slopes of the scaling by which ``probability=True`` makes probabilities of scores; it warns."""
        return self._platt_numbers("probA_", 0)

    @property
    def probB_(self) -> np.ndarray:
        """Intercepts of that scaling; it warns."""
        return self._platt_numbers("probB_", 1)

    @fitted_attribute
    def fit_status_(self) -> int:
        """0 where the tolerance was reached, else 1."""
        return int(self.stop_ != "converged")

    @fitted_attribute
    def n_iter_(self) -> np.ndarray:
        """Pairs of rows that the solver changed, for every pair of classes."""
        parts = self._description["parts"] or [self._description]
        return np.array([part["computation"]["iterations"] for part in parts], dtype=np.int32)

    @fitted_attribute
    def _expansion(self) -> dict[str, Any]:
        return json.loads(self.model_.to_json())["model"]["discriminant"]

    @fitted_attribute
    def _gamma(self) -> float:
        """γ as it was learned; 0 of a kernel without."""
        return float(self._expansion["kernel"].get("gamma") or 0.0) if "kernel" in self._expansion else 0.0

    def _fitted_intercept(self) -> np.ndarray:
        if self.model_.intercept() is not None:
            return super()._fitted_intercept()
        return self._signed(np.array(self._expansion["intercept"]))

    def _pair_scores(self, X: Any) -> np.ndarray:
        """Scores of the pairs ``(i, j)``, ``i < j``; positive ones speak for ``j``."""
        model, x = self._ask(X)
        return model.scores(x, threads(self))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: one for two classes; else one for every class (``'ovr'``) or for every pair (``'ovo'``).

        Returns
        -------
        array of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
        """
        if self.decision_function_shape != "ovo":
            return super().decision_function(X)
        scores = self._pair_scores(X)
        # scikit-learn counts the first class of a pair as positive; of two classes, the second.
        return scores.ravel() if scores.shape[1] == 1 else -scores


class KernelPerceptron(_KernelBase):
    """The perceptron with a kernel: ``g = Σ α y K(x_i, ·)``, where α counts the mistakes on row i.

    Parameters
    ----------
    kernel : {'rbf', 'linear', 'poly', 'sigmoid', 'precomputed'} or callable, default='rbf'
        A function takes two sets of rows and gives the matrix of their kernel values.
    degree : int, default=3
    gamma : {'scale', 'auto'} or float, default='scale'
    coef0 : float, default=0.0
    max_iter : int, default=1000
        Epochs.
    shuffle : bool, default=True
    random_state : int, default=0
    n_jobs : int, optional
    standardize : bool, default=False
    verbose : bool or callable, default=0
    time_limit : float, optional

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the share of training errors, the library's model.

    Notes
    -----
    scikit-learn has no kernel perceptron. It has no intercept of its own: the kernel ``'poly'`` with ``coef0=1`` has
    one. More than two classes: every pair, which vote. Mistakes are counted, so rows have no weights.

    Examples
    --------
    >>> from linsep import KernelPerceptron
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> KernelPerceptron(gamma=1.0).fit(X, [0, 0, 1, 1]).predict(X).tolist()
    [0, 0, 1, 1]
    """

    _method = "kernel-perceptron"
    _weighted = ("score",)

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        max_iter: Any = 1000,
        shuffle: Any = True,
        random_state: Any = 0,
        n_jobs: Any = None,
        standardize: Any = False,
        verbose: Any = 0,
        time_limit: Any = None,
        **policies: Unpack[Policies],
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.verbose = verbose
        self.time_limit = time_limit
        keep(self, policies)

    def fit(self, X: Any, y: Any, *, conformal: Any = None, conformal_by: Any = "rows", conformal_share: Any = 0.2) -> Self:
        """Counts mistakes until there are none.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        conformal, conformal_by, conformal_share
            As in `Estimator.fit`.

        Returns
        -------
        self
        """
        return self._fit_rows(X, y, None, (conformal, conformal_by, conformal_share))

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return {
            "kernel": _kernel(self, training),
            "order": "shuffled" if self.shuffle else "given",
            "seed": seed(self),
            "max_epochs": whole(self.max_iter, "max_iter") or 1_000,
            "standardize": yes_no(self.standardize),
        }

    def _scheme(self, n_classes: int) -> dict[str, str]:
        return {"multiclass": "one-vs-one", "ties": "scores"}

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        return {
            **_kernel_params(settings["kernel"]),
            "shuffle": settings["order"] == "shuffled",
            "random_state": settings["seed"],
            "max_iter": settings["max_epochs"],
            "standardize": settings["standardize"] == "yes",
        }


class HardMarginSVC(_Support, _PairAttributes, Decision, Estimator):
    """The widest margin between classes that planes separate; where none do, `linsep.NotSeparableError` has the proof.

    Minimises ``½‖w‖²`` subject to ``y(w·x + b) ≥ 1``.

    Parameters
    ----------
    tol : float, default=1e-8
        The margin is proved to be the largest but for this share.
    standardize : bool, default=False
        Whether distances are those of standardised columns.
    n_jobs : int, optional
    verbose : bool or callable, default=0
    time_limit : float, optional

    Attributes
    ----------
    classes_, coef_, intercept_, support_, support_vectors_, n_support_, dual_coef_, n_features_in_, feature_names_in_
        As scikit-learn's ``SVC(kernel='linear')`` has them.
    margin_
        The distance ``1/‖w‖`` of the support vectors from the plane (two classes).
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the value of the objective, the library's model.

    Notes
    -----
    scikit-learn has no hard margin; ``SVC(C=1e10)`` is an approximation that never says that there is none. Of a row's
    weight it counts only whether it is zero.

    Examples
    --------
    >>> from linsep import HardMarginSVC
    >>> model = HardMarginSVC().fit([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]], [0, 0, 1, 1])
    >>> round(model.margin_, 6), model.support_.tolist()
    (1.0, [1, 2])
    """

    _method = "hard-margin"

    def __init__(self, *, tol: Any = 1e-8, standardize: Any = False, n_jobs: Any = None, verbose: Any = 0, time_limit: Any = None, **policies: Unpack[Policies]) -> None:
        self.tol = tol
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        keep(self, policies)

    def _settings(self, training: Training | None) -> dict[str, Any]:
        return {"standardize": yes_no(self.standardize), "tolerance": positive(self.tol, "tol")}

    def _scheme(self, n_classes: int) -> dict[str, str]:
        return {"multiclass": "one-vs-one", "ties": "scores"}

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        return {"standardize": settings["standardize"] == "yes", "tol": settings["tolerance"]}

    def _adopt(self, model: Model, training: Training) -> None:
        super()._adopt(model, training)
        self._keep_support(training)

    @fitted_attribute
    def margin_(self) -> float:
        """``1/‖w‖``, in the units of the columns."""
        if self.classes_.size != 2:
            raise AttributeError("margin_ is only available for two classes; certificate_ has those of the pairs")
        return float(1.0 / np.linalg.norm(self.coef_))
