"""Tables with text columns where the Arrow interface is not at hand."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from . import _core


#: What a cell of a text column may be; anything else would become a level by its representation.
_CELLS = (str, bytes, numbers.Real, np.bool_, type(None))


def from_columns(names: list[str], columns: list[Any]) -> Any:
    """A table of float64 arrays and of ``(codes, levels)`` pairs, where the code −1 is a missing cell."""
    return _core.Table(names, columns)


def are_numbers(column: Any) -> bool:
    """Whether all cells of a pandas column of objects are numbers or missing."""
    if hasattr(column, "cat") or column.dtype.kind != "O":
        return column.dtype.kind in "biuf"
    if not isinstance(column.dtype, np.dtype):
        return False
    return all(cell is None or isinstance(cell, numbers.Real) for cell in column.tolist())


def text_column(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Codes and sorted levels of cells; `None` and NaN are missing."""
    cells = [None if cell is None or cell != cell else str(cell) for cell in values.tolist()]
    levels = sorted({cell for cell in cells if cell is not None})
    place: dict[str | None, int] = {level: at for at, level in enumerate(levels)}
    place[None] = -1
    return np.fromiter((place[cell] for cell in cells), np.int64, len(cells)), levels


def from_pandas(X: Any, names: list[str] | None) -> Any:
    """A table of a pandas frame, column by column."""
    columns: list[Any] = []
    for j in range(X.shape[1]):
        column = X.iloc[:, j]
        if column.dtype.kind in "mM":
            raise ValueError(f"column {X.columns[j]!r} holds times: convert them to numbers first")
        if column.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: column {X.columns[j]!r}")
        if column.dtype.kind in "biuf":
            columns.append(np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan)))
        elif hasattr(column, "cat"):
            levels = [str(level) for level in column.cat.categories]
            columns.append((np.ascontiguousarray(column.cat.codes, dtype=np.int64), levels))
        elif are_numbers(column):
            columns.append(np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan)))
        else:
            odd = {type(cell).__name__ for cell in column[column.notna()].tolist() if not isinstance(cell, _CELLS)}
            if odd:
                raise TypeError(f"column {X.columns[j]!r} holds {', '.join(sorted(odd))}: neither numbers nor text")
            columns.append(text_column(column.astype(object).where(column.notna(), None).to_numpy()))
    return from_columns(names or [f"x{j}" for j in range(X.shape[1])], columns)
