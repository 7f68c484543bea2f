"""``C``, ``lam`` and ``l1_ratio`` in the words of the model file, and back."""

from __future__ import annotations

import math
from typing import Any


def cost_and_lambda(estimator: Any, cost: Any = None) -> tuple[float | None, float | None]:
    """``(C, None)`` or ``(None, λ)``; either is infinite or zero where there is no penalty."""
    C, lam = estimator.C if cost is None else cost, estimator.lam
    if lam is None:
        if not _is_number(C) or not C > 0:
            raise ValueError(f"C must be a positive number, or infinite for no penalty; got {C!r}")
        return float(C), None
    if C != 1.0:
        raise ValueError(f"C={C!r} and lam={lam!r} say the same thing twice: lam = 1/(C Σs). Give one of them")
    if not _is_number(lam) or not 0 <= lam < math.inf:
        raise ValueError(f"lam must be a number from 0; got {lam!r}")
    return None, float(lam)


def penalty(estimator: Any, l1_ratio: Any = 0.0, cost: Any = None) -> Any:
    """The penalty of an estimator with ``C`` and ``lam``; `cost` stands for ``C`` where another keyword decides it."""
    cost, lam = cost_and_lambda(estimator, cost)
    share = 0.0 if l1_ratio is None else l1_ratio
    if not _is_number(share) or not 0 <= share <= 1:
        raise ValueError(f"l1_ratio must be a number between 0 and 1; got {l1_ratio!r}")
    if cost == math.inf or lam == 0:
        return "none"
    if share > 0:
        price = {} if cost is None or cost == 1.0 else {"cost": cost}
        return {"elastic_net": {"l1_ratio": float(share), "lambda": lam, **price}}
    if cost is None:
        return {"ridge": lam}
    return "ridge_one" if cost == 1.0 else {"ridge_cost": cost}


def params_of(said: Any) -> dict[str, Any] | None:
    """``C``, ``lam`` and ``l1_ratio`` that give a penalty of a model file."""
    if said == "none":
        return {"C": math.inf}
    if said == "ridge_one":
        return {}
    if "ridge" in said:
        return {"lam": said["ridge"]}
    if "ridge_cost" in said:
        return {"C": said["ridge_cost"]}
    net = said.get("elastic_net")
    if net is None:
        return None
    return {"l1_ratio": net["l1_ratio"], "lam": net["lambda"], "C": net.get("cost") or 1.0}


def yes_no(said: Any) -> str:
    """Whether columns are standardised, in the words of the model file."""
    return "yes" if flag(said, "standardize") else "no"


def flag(said: Any, name: str) -> bool:
    """True or false, and not some text that counts as true."""
    # 0 and 1 are numpy's and C's.
    if isinstance(said, str) or said not in (True, False):
        raise ValueError(f"{name} must be True or False; got {said!r}")
    return bool(said)


def whole(value: Any, name: str, least: int = 1) -> int | None:
    """A limit of iterations; `None` and −1 are the library's own."""
    if value is None or (_is_number(value) and value == -1):
        return None
    if not _is_number(value) or value < least or value != int(value):
        raise ValueError(f"{name} must be a whole number from {least}, or None; got {value!r}")
    return int(value)


#: No relative gap below this is asked for unless `tol` itself is smaller: rounding comes soon after.
_FINEST = 1e-12


def gap_of(tol: Any) -> float:
    """The relative gap at which to stop: ``tol²``, as an error of the coefficients enters the objective squared.

    scikit-learn's ``tol`` bounds gradients, which are as large as errors of coefficients; so the same number gives
    coefficients that are about as good.
    """
    tol = positive(tol, "tol")
    return max(tol * tol, min(tol, _FINEST))


def tol_of(gap: float) -> float:
    """The inverse, for files."""
    # Fifteen digits, so that 1e-8 comes from 1e-4.
    return gap if gap < _FINEST else float(f"{math.sqrt(gap):.15g}")


def positive(value: Any, name: str) -> float:
    """A positive number."""
    if not _is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a positive number; got {value!r}")
    return float(value)


def not_negative(value: Any, name: str) -> float:
    """A number from 0."""
    if not _is_number(value) or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a number from 0; got {value!r}")
    return float(value)


def one_of(value: Any, name: str, words: dict[str, Any]) -> Any:
    """What a word stands for."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {sorted(words)}; got {value!r}")
    return words[value]


def _is_number(value: Any) -> bool:
    import numbers

    return isinstance(value, numbers.Real) and not isinstance(value, bool)
