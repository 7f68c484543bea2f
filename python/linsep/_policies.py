"""What every estimator can be told beside its method: how columns become features, and how scores become a class."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from . import _core, _input
from ._penalty import one_of, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Policies(TypedDict, total=False):
    """Keywords of every estimator."""

    missing: str
    unknown: str
    max_levels: int
    reference: Mapping[str, Any] | None
    basis: str | None
    basis_columns: Sequence[str] | None
    transformation: str | None
    transformation_columns: Sequence[str] | None
    quantiles: int | None
    offset: str | Sequence[str] | None
    penalty_factors: Mapping[str, float] | None
    threshold: float | None
    score_threshold: float | None
    costs: Any
    reject: float | None
    tie: str
    true_priors: Any
    calibration: str | None
    calibration_folds: int | None


#: What they are where nothing is said.
DEFAULTS: dict[str, Any] = {
    "missing": "error",
    "unknown": "error",
    "max_levels": 100,
    "reference": None,
    "basis": None,
    "basis_columns": None,
    "transformation": None,
    "transformation_columns": None,
    "quantiles": None,
    "offset": None,
    "penalty_factors": None,
    "threshold": None,
    "score_threshold": None,
    "costs": None,
    "reject": None,
    "tie": "first",
    "true_priors": None,
    "calibration": None,
    "calibration_folds": None,
}

#: What acts on columns or needs folds, which are made of tables; the others decide about scores.
_OF_TABLES = (
    "missing", "unknown", "max_levels", "reference", "basis", "basis_columns", "transformation", "transformation_columns", "quantiles",
    "offset", "calibration", "calibration_folds",
)

_DOC = """\
missing : {'error', 'drop', 'mean'}, default='error'
    What becomes of rows that miss a cell: an error, no part in the fit and no prediction (``None``), or the mean of the
    training rows in its place (of text columns: the shares of the levels).
unknown : {'error', 'missing', 'zero'}, default='error'
    What predictions do with a level that the training rows did not have: an error, as if the cell were missing, or all
    indicators zero. Declared categories of pandas are known.
max_levels : int, default=100
    Most levels that a text column may have.
reference : dict, optional
    The level that a text column is coded against, by column.
basis : str, optional
    Products of columns that join them: ``'products'``, ``'quadratic'`` (squares, too) or ``'poly:D'`` (up to D factors).
basis_columns : list of str, optional
    The columns that are multiplied; all unless given.
transformation : {'quantile', 'quantile-normal'}, optional
    Numbers by their rank among the training rows, from 0 to 1, or by the normal score of that. (``transform`` is a method.)
transformation_columns : list of str, optional
    The columns that are transformed; all numbers unless given.
quantiles : int, optional
    Most quantiles that ranks are read off at; 1000 unless given.
offset : str or list of str, optional
    Columns that are added to the scores and get no weight: one for two classes, else one for each.
penalty_factors : dict, optional
    Factors of the penalty by column; 0 leaves a column without one. For estimators with a penalty.
threshold : float, optional
    Of two classes, predict the second where its probability exceeds this.
score_threshold : float, optional
    Of two classes, predict the second where its score exceeds this.
costs : dict or array of shape (n_classes, n_classes), optional
    Predict the class of the smallest expected cost: ``{(truth, prediction): cost}``, other mistakes costing 1, or a row for
    every truth.
reject : float, optional
    Predict ``None`` where the expected cost exceeds this; without ``costs`` that is the probability of a mistake.
tie : {'first', 'last', 'reject'}, default='first'
    Which class where two are exactly equally good.
true_priors : dict or array of shape (n_classes,), optional
    Shares of the classes where the model is used, if they are not those it learns from: probabilities are those.
calibration : {'platt', 'isotonic', 'temperature'}, optional
    Make probabilities of the scores by a map that is learned from folds left out of the fits that score them.
calibration_folds : int, optional
    Their number; 5 unless given.
"""


def told(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor that takes the policies as ``**policies``, with a signature that lists them one by one."""
    signature = inspect.signature(init)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    listed = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in DEFAULTS.items()]
    init.__signature__ = signature.replace(parameters=[*own, *listed])  # type: ignore[attr-defined]
    return init


def takes_policies(kind: type) -> bool:
    """Whether a class has a constructor of its own that takes them."""
    init = kind.__dict__.get("__init__")
    return init is not None and "policies" in inspect.signature(init).parameters


def described(text: str | None) -> str | None:
    """The description of a class with that of the policies among its parameters."""
    head, mark, tail = (text or "").partition("\n\n    Attributes\n    ----------")
    if not mark:
        return text
    lines = "".join(f"    {line}\n" if line else "\n" for line in _DOC.splitlines())
    return f"{head}\n{lines.rstrip()}{mark}{tail}"


def keep(estimator: Any, policies: dict[str, Any]) -> None:
    """Takes policies as attributes of an estimator."""
    for name in policies:
        if name not in DEFAULTS:
            raise TypeError(f"{type(estimator).__name__}.__init__() got an unexpected keyword argument {name!r}")
    for name, default in DEFAULTS.items():
        setattr(estimator, name, policies.get(name, default))


def said(estimator: Any) -> dict[str, Any]:
    """The policies of an estimator that are not at their defaults; of a wrapper, those of what it wraps, too."""
    found: dict[str, Any] = {}
    inner = getattr(estimator, "estimator", None)
    if inner is not None and not isinstance(inner, str):
        found = said(inner)
    for name, default in DEFAULTS.items():
        value = getattr(estimator, name, default)
        if value is not default and (isinstance(value, np.ndarray) or value != default):
            found[name] = value
    return found


def of_tables(estimator: Any) -> bool:
    """Whether the features have to be a table."""
    policies = said(estimator)
    return any(name in policies for name in _OF_TABLES)


def as_table(given: _input.Features, names: list[str] | None = None) -> _input.Features:
    """Any features as a table; columns without names are x0, x1, …"""
    if given.is_table:
        return given
    names = names or given.names or ([] if given.is_sparse else [f"x{j}" for j in range(given.cols)])
    return _input.Features(_core.as_table(given.x, names), given.rows, given.cols, given.names, is_table=True)


def for_fit(estimator: Any, classes: np.ndarray) -> tuple[str, dict[str, Any] | None]:
    """What to do with missing cells, and the other policies as the extension takes them."""
    policies = said(estimator)
    if not policies:
        return "error", None
    found = dict(policies)
    missing = found.pop("missing", "error")
    labels = classes.tolist()
    for name in ("max_levels", "quantiles", "calibration_folds"):
        if name in found:
            found[name] = whole(found[name], name, least=2 if name == "quantiles" else 1)
    if isinstance(found.get("offset"), str):
        found["offset"] = [found["offset"]]
    for name in ("basis_columns", "transformation_columns", "offset"):
        if name in found:
            found[name] = _names(found[name], name)
    if "reference" in found:
        found["reference"] = [(str(c), str(level)) for c, level in _dictionary(found["reference"], "reference").items()]
    if "penalty_factors" in found:
        factors = _dictionary(found["penalty_factors"], "penalty_factors")
        found["penalty_factors"] = [(str(column), float(factor)) for column, factor in factors.items()]
    if "costs" in found:
        found["costs"] = _costs(found["costs"], labels)
    if "true_priors" in found:
        found["true_priors"] = _shares(found["true_priors"], labels)
    for owner, of in (("basis_columns", "basis"), ("transformation_columns", "transformation"), ("quantiles", "transformation"),
                      ("calibration_folds", "calibration")):
        if owner in found and of not in found:
            raise ValueError(f"{owner} is for {of}=, which is None")
    if "tie" in found:
        one_of(found["tie"], "tie", {"first": 0, "last": 0, "reject": 0})
    return missing, found


def _names(said: Any, name: str) -> list[str]:
    if isinstance(said, str):
        raise ValueError(f"{name} must be a list of columns; got {said!r}")
    return [str(column) for column in said]


def _dictionary(said: Any, name: str) -> dict[Any, Any]:
    if not hasattr(said, "items"):
        raise ValueError(f"{name} must be a dictionary by column; got {said!r}")
    return dict(said.items())


def _place(label: Any, labels: list[Any], name: str) -> int:
    if label not in labels:
        raise ValueError(f"{name} names the class {label!r}, and the classes are {labels}")
    return labels.index(label)


def _costs(said: Any, labels: list[Any]) -> list[list[float]]:
    """The matrix of costs by truth and prediction."""
    if hasattr(said, "items"):
        found = 1.0 - np.eye(len(labels))
        for pair, cost in said.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"costs are given by (truth, prediction); got the key {pair!r}")
            found[_place(pair[0], labels, "costs"), _place(pair[1], labels, "costs")] = float(cost)
        return found.tolist()
    matrix = np.asarray(said, dtype=np.float64)
    if matrix.shape != (len(labels), len(labels)):
        raise ValueError(f"costs must have a row and a column for each of the {len(labels)} classes; got {matrix.shape}")
    return matrix.tolist()


def _shares(said: Any, labels: list[Any]) -> list[float]:
    """Shares in the order of the classes."""
    if hasattr(said, "items"):
        missing = [label for label in labels if label not in said]
        if missing:
            raise ValueError(f"true_priors leaves out the classes {missing}")
        found = [0.0] * len(labels)
        for label, share in said.items():
            found[_place(label, labels, "true_priors")] = float(share)
        return found
    return np.asarray(said, dtype=np.float64).ravel().tolist()
