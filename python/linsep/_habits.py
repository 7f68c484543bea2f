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


def stopped_early(solver: Any, used: str, steps: int) -> str:
    """How scikit-learn's solvers say that they reached ``max_iter``: programs look for it."""
    if solver == "newton-cholesky":
        return f"Newton solver did not converge after {steps} iterations"
    if solver in ("sag", "saga"):
        return "The max_iter was reached which means the coef_ did not converge"
    return f"{used} failed to converge after {steps} iteration(s)"
