"""Keywords of scikit-learn that say in another way what this package has a keyword for, or that have no effect here."""

from __future__ import annotations

import math
from typing import Any

from ._errors import warn
from ._penalty import one_of

#: scikit-learn's default of keywords that it gives up.
DEPRECATED = "deprecated"


def logistic_penalty(estimator: Any, fitting: bool) -> tuple[Any, Any]:
    """``C`` and ``l1_ratio`` of a logistic regression, in which ``penalty`` may have a say; warnings while it is fitted."""
    said, share = estimator.penalty, estimator.l1_ratio
    if isinstance(said, str) and said == DEPRECATED:
        if share is None and fitting:
            warn("'l1_ratio=None' was deprecated by scikit-learn 1.8: l1_ratio=0 is a ridge", FutureWarning)
        return estimator.C, share
    if said is not None:
        one_of(said, "penalty", {"l1": 0, "l2": 0, "elasticnet": 0})
    if fitting:
        _tell_of_penalty(said, share, estimator.C)
    if said is None:
        return math.inf, 0.0
    if said == "elasticnet" and share is None:
        raise ValueError("penalty='elasticnet' needs l1_ratio, the share of the lasso")
    return estimator.C, {"l1": 1.0, "l2": 0.0}.get(said, share)


def _tell_of_penalty(said: Any, share: Any, C: Any) -> None:
    warn(
        "'penalty' was deprecated by scikit-learn 1.8: l1_ratio=0 is penalty='l2', l1_ratio=1 is penalty='l1', a number"
        " between is penalty='elasticnet', and C=np.inf is penalty=None",
        FutureWarning,
    )
    if said != "elasticnet" and share is not None and 0 < share < 1:
        warn(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={said})")
    if said in ("l1", "l2") and share != {"l1": 1, "l2": 0}[said]:
        warn(f"Inconsistent values: penalty={said} with l1_ratio={share}; penalty decides")
    if said is None and C != 1.0:
        warn("Setting penalty=None will ignore the C and l1_ratio parameters")


#: Solvers of scikit-learn that know no lasso, and those that solve no dual problem.
_RIDGE_ONLY = ("lbfgs", "newton-cg", "newton-cholesky", "sag")
_PRIMAL_ONLY = (*_RIDGE_ONLY, "saga")


def logistic_combination(solver: Any, share: Any, no_penalty: bool, dual: Any, n_classes: int) -> None:
    """Refuses what scikit-learn's solver of this name refuses: a program that asks for it by name expects that answer."""
    share = share or 0.0
    if solver in _RIDGE_ONLY and share > 0 and not no_penalty:
        raise ValueError(f"Solver {solver} supports only 'l2' or None penalties, got l1_ratio={share}: solver='auto' takes all")
    if solver in _PRIMAL_ONLY and dual:
        raise ValueError(f"Solver {solver} supports only dual=False, got dual={dual}")
    if solver != "liblinear":
        return
    if no_penalty:
        raise ValueError("penalty=None is not supported for the liblinear solver: solver='auto' takes C=np.inf")
    if 0 < share < 1:
        raise ValueError("Only 'saga' solver supports elasticnet penalty, got solver=liblinear.")
    if n_classes > 2:
        raise ValueError(
            "The 'liblinear' solver does not support multiclass classification (n_classes >= 3): solver='auto' fits softmax,"
            " OneVsRestClassifier a machine for each class"
        )


def svm_combination(penalty: str, loss: str, dual: Any) -> None:
    """Refuses what LIBLINEAR cannot solve, in its words."""
    if not ((loss, penalty) == ("hinge", "l1") or (loss == "hinge" and dual is False) or (penalty == "l1" and dual is True)):
        return
    raise ValueError(
        f"Unsupported set of arguments: penalty={penalty!r}, loss={loss!r}, dual={dual!r}. The hinge takes a ridge and the dual"
        " problem, the lasso loss='squared_hinge' and the primal one; dual='auto' lets linsep choose"
    )


def svm_weights(sample_weight: Any, y: Any) -> Any:
    """Weights of rows as LIBSVM takes them: a row of negative weight is left out, which is said."""
    import numpy as np

    if sample_weight is None:
        return None
    weights, labels = np.asarray(sample_weight, dtype=np.float64), np.asarray(y)
    if weights.ndim != 1 or np.isnan(weights).any() or labels.shape != weights.shape:
        return sample_weight
    used = weights > 0
    if not used.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    first = labels[used][0]
    if bool((labels[used] == first).all()) and not bool((labels == first).all()):
        raise ValueError("Invalid input - all samples with positive weights belong to the same class.")
    if (weights < 0).any():
        warn(f"{int((weights < 0).sum())} rows have a negative weight, and are left out as if it were 0")
        return np.where(used, weights, 0.0)
    return sample_weight


def stopped_early(solver: Any, used: str, steps: int) -> str:
    """How scikit-learn's solvers say that they reached ``max_iter``: programs look for it."""
    if solver == "newton-cholesky":
        return f"Newton solver did not converge after {steps} iterations"
    if solver == "liblinear":
        return f"Liblinear failed to converge, increase the number of iterations. ({used} took {steps} in its place)"
    if solver in ("sag", "saga"):
        return "The max_iter was reached which means the coef_ did not converge"
    return f"{used} failed to converge after {steps} iteration(s)"
