"""One way from data to a fitted model, for all estimators."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input, _policies
from ._errors import convergence_warning, warn
from ._penalty import one_of, positive

if TYPE_CHECKING:
    from ._formula import Written


#: ``conformal``, ``conformal_by`` and ``conformal_share`` of a fit.
Sets = tuple[Any, Any, Any]
#: No rows are held back.
NO_SETS: Sets = (None, "rows", 0.2)


def _conformal(estimator: Any, level: Any, by: Any, share: Any) -> tuple[float, bool, float] | None:
    """What is held back for sets, in the words of the extension."""
    by_class = one_of(by, "conformal_by", {"rows": False, "class": True})
    if level is None:
        if (by, share) != NO_SETS[1:]:
            raise ValueError("conformal_by and conformal_share are for conformal=, the level of the sets, which is None")
        return None
    if estimator._is_pairwise():
        raise ValueError("conformal= holds rows back, and a precomputed kernel has a column for every row of the fit")
    return positive(level, "conformal"), by_class, positive(share, "conformal_share")


class Training:
    """What an estimator is fitted on."""

    __slots__ = ("source", "features", "labels", "weights", "class_weight", "conformal", "formula")

    def __init__(
        self,
        source: Any,
        features: _input.Features,
        labels: _input.Labels,
        weights: np.ndarray | None,
        class_weight: None | str | list[float],
        conformal: tuple[float, bool, float] | None = None,
        formula: Written | None = None,
    ) -> None:
        #: What was given as X.
        self.source = source
        self.features = features
        self.labels = labels
        self.weights = weights
        self.class_weight = class_weight
        #: Level, whether it is of every class, and share of the rows held back.
        self.conformal = conformal
        #: The formula that says which columns are used and how.
        self.formula = formula

    @property
    def cols(self) -> int:
        return self.features.cols

    @property
    def n_classes(self) -> int:
        return self.labels.classes.size

    def total_weight(self) -> float:
        """Σs, factors of classes included; balanced factors leave it as it is."""
        rows = self.features.rows
        if not isinstance(self.class_weight, list):
            return float(rows) if self.weights is None else float(self.weights.sum())
        counts = np.bincount(self.labels.codes, weights=self.weights, minlength=self.n_classes)
        return float(counts @ np.asarray(self.class_weight))


def training(
    estimator: Any, X: Any, y: Any, sample_weight: Any, sets: Sets = NO_SETS, formula: Any = None, owner: Any = None
) -> Training:
    """Checked data; `owner` is the wrapper of the estimator, whose policies count, too."""
    name = type(estimator).__name__
    written = None
    if formula is not None:
        from ._formula import Written

        written = Written(name, X, y, formula)
        y = written.labels
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    features = written.features if written else _input.features(X, sparse=estimator._takes_sparse, owner=name)
    if not written and _policies.of_tables(owner or estimator):
        features = _policies.as_table(_input.table(X) or features)
    labels = _input.labels(y, features.rows, name, least=1 if estimator._counts_suffice else 2)
    weights = _input.weights(sample_weight, features.rows)
    class_weight = _input.class_weights(getattr(estimator, "class_weight", None), labels.classes)
    return Training(X, features, labels, weights, class_weight, _conformal(estimator, *sets), written)


def run(estimator: Any, X: Any, y: Any, sample_weight: Any, sets: Sets = NO_SETS, formula: Any = None) -> Any:
    """Fits an estimator."""
    data = training(estimator, X, y, sample_weight, sets, formula)
    estimator._adopt(fitted(estimator, data), data)
    warn_unless_converged(estimator)
    return estimator


def fitted(
    estimator: Any,
    data: Training,
    scheme: dict[str, str] | None = None,
    settings: dict[str, Any] | None = None,
    owner: Any = None,
) -> _core.Model:
    """The model of an estimator's parameters on some data, unless other settings are given.

    `scheme` says how one decision is made of more than two classes; `owner` is the wrapper, whose policies count, too.
    """
    if settings is None:
        settings = estimator._settings(data)
    if scheme is None:
        scheme = estimator._scheme(data.n_classes)
    if data.n_classes == 2:
        scheme = {}
    given = estimator._prepare(data.features, fitting=True)
    tell = observer(estimator)
    start = warm(estimator, data)
    missing, policies = _policies.for_fit(owner or estimator, data.labels.classes)
    if policies is not None and "calibration" in policies:
        # Probabilities decide then, not votes.
        scheme = {name: word for name, word in scheme.items() if name == "multiclass"}
    try:
        return _core.fit(
            given.x,
            data.labels.codes,
            data.labels.names,
            estimator._method_for(data),
            json.dumps(settings),
            target_is_text=data.labels.are_text,
            input_names=None if given.is_table else given.names,
            sample_weight=data.weights,
            class_weight=data.class_weight,
            init=start,
            # Without a step scikit-learn stays at zero; the library's own start has the log-odds of the classes.
            random_start=0.0 if start is None and _takes_no_step(estimator) else None,
            n_threads=threads(estimator),
            time_limit=getattr(estimator, "time_limit", None),
            seed=seed(estimator),
            callback=tell,
            conformal=data.conformal,
            **({} if data.formula is None else {"formula": data.formula.text, "target": data.formula.target}),
            missing=missing,
            policies=policies,
            **scheme,
        )
    except _core.LinsepError as error:
        found = _input.told(error, given.x, estimator)
        if found is error:
            raise
        raise found from error
    finally:
        if hasattr(tell, "close"):
            tell.close()


def threads(estimator: Any) -> int:
    """Threads of an estimator."""
    return thread_count(getattr(estimator, "n_jobs", None))


def thread_count(jobs: Any) -> int:
    """Threads for the extension: 0 is all, or what ``LINSEP_NUM_THREADS`` or ``OMP_NUM_THREADS`` says."""
    if jobs is None:
        return 0
    if isinstance(jobs, bool) or not isinstance(jobs, (int, np.integer)):
        raise ValueError(f"n_jobs must be a whole number, or None for all cores; got {jobs!r}")
    if jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; use None for all cores")
    if jobs < 0:
        # In a worker of joblib, which says how many cores each of them may use, all cores are those.
        share = _share_of_worker()
        return max(1, (_cores() if share is None else share) + 1 + int(jobs))
    most = _PER_CORE * _cores()
    if jobs > most:
        warn(f"n_jobs={jobs} is more than {_PER_CORE} threads for each core: {most} are used")
        return most
    return int(jobs)


#: Threads for each core beyond which more only wait, as in the library.
_PER_CORE = 4


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _share_of_worker() -> int | None:
    """Cores for each process of a pool, inside one of them; `None` elsewhere."""
    from multiprocessing import parent_process

    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if parent_process() is not None and said.isdigit() and int(said) > 0 else None


def seed(estimator: Any) -> int:
    """A seed from ``random_state``; without one it is 0, so that a fit can be repeated."""
    state = getattr(estimator, "random_state", None)
    if state is None:
        return 0
    if hasattr(state, "randint"):
        return int(state.randint(0, 2**31 - 1))
    if hasattr(state, "integers"):
        return int(state.integers(0, 2**31 - 1))
    if int(state) < 0:
        raise ValueError(f"random_state must be a whole number from 0, a generator or None; got {state!r}")
    return int(state)


def warm(estimator: Any, data: Training) -> _core.Model | None:
    """The earlier model, where the estimator starts from it and it is about the same classes and columns."""
    own = estimator.__dict__
    if not getattr(estimator, "warm_start", False) or "model_" not in own:
        return None
    same = own["n_features_in_"] == data.cols and np.array_equal(own["classes_"], data.labels.classes)
    return own["model_"] if same else None


def _takes_no_step(estimator: Any) -> bool:
    return getattr(estimator, "max_iter", None) == 0 and hasattr(estimator, "warm_start")


def observer(estimator: Any) -> Any:
    """What to call at every step: ``verbose`` itself if it can be called, else a line of progress where it is true."""
    verbose = getattr(estimator, "verbose", False)
    if callable(verbose):
        return verbose
    if not verbose:
        return None
    from ._progress import Progress

    return Progress(type(estimator).__name__)


_REASONS = {
    "iteration_limit": "the limit of iterations came first. Increase the number of iterations (max_iter), or tol",
    "time_limit": "the time limit came first: increase time_limit, or tol",
    "precision_limit": "rounding allows no further decrease: increase tol, or scale the features",
    "interrupted": "it was interrupted",
}


def warn_unless_converged(estimator: Any) -> None:
    """Warns where the tolerance was not reached."""
    outcome = estimator.model_.outcome
    if outcome == "converged" or outcome in estimator._fine:
        return
    gap = estimator.model_.gap
    if outcome == "precision_limit" and gap is not None and gap <= (getattr(estimator, "tol", None) or 0.0):
        # Nothing finer can be had, and it is as fine as the tolerance says.
        return
    found = "" if gap is None else f"; the relative gap is {gap:.1e}"
    head = f"{estimator._stopped_early()}: " if outcome == "iteration_limit" else ""
    warn(
        f"{head}{type(estimator).__name__} stopped short of its tolerance, as {_REASONS.get(outcome, outcome)}{found}",
        convergence_warning(),
    )
