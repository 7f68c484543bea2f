"""Formulas: which columns of a frame predict which, and what is done to them first."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _input


class Written:
    """A formula and the frame that it is about, without the column that it predicts."""

    __slots__ = ("text", "target", "features", "labels")

    def __init__(self, owner: str, X: Any, y: Any, formula: Any) -> None:
        if not isinstance(formula, str):
            raise TypeError(f"formula must be text such as 'y ~ a * b + log(c)', got {type(formula).__name__}")
        names = frame_names(owner, X)
        # With y a right side alone will do.
        formula = formula if "~" in formula else f"~ {formula}"
        target = _core.formula_target(formula)
        if y is None:
            if target is None:
                raise ValueError("the formula has no left side: give y, or write 'y ~ ...' with a column of X")
            if target not in names:
                raise ValueError(f"the formula predicts {target!r}, which is no column of X: {', '.join(names[:12])}")
            y = column(X, target)
        self.text = formula
        #: The name of what is predicted.
        self.target: str = target or "y"
        # What is predicted never predicts, `.` included.
        self.features = table(X, [name for name in names if name != target])
        self.labels = y


def frame_names(owner: str, X: Any) -> list[str]:
    """The names of the columns of a frame; an error for anything else."""
    names = _input.column_names(X) if _input.is_frame(X) else None
    if names is None:
        raise TypeError(f"a formula names columns: {owner} needs a frame with named columns, not {type(X).__name__}")
    return names


def column(X: Any, name: str) -> Any:
    """One column of a frame."""
    if hasattr(X, "column_names"):  # pyarrow
        return np.asarray(X.column(name).to_pylist())
    return X[name]


def table(X: Any, names: list[str]) -> _input.Features:
    """Some columns of a frame as a table, whatever they hold."""
    if not names:
        raise ValueError("no column is left to classify with")
    found = _input.table(X.select(names) if hasattr(X, "column_names") else X[names])
    assert found is not None
    return found


def asked(owner: str, X: Any, names: list[str]) -> _input.Features:
    """The columns that a formula needs; others may be there as well."""
    given = frame_names(owner, X)
    absent = [name for name in names if name not in given]
    if absent:
        raise ValueError(f"{owner} needs columns that X does not have: {', '.join(absent)}")
    return table(X, names)
