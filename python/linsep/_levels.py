"""Categories that pandas declares: known, whether or not the training rows have them."""

from __future__ import annotations

from typing import Any

import numpy as np


def declared(X: Any) -> dict[str, set[str]] | None:
    """The levels that each text column of a frame may have: declared ones, or those that it has; `None` without any
    declaration."""
    if not hasattr(X, "iloc"):
        return None
    columns = [(str(name), X.iloc[:, j]) for j, name in enumerate(X.columns)]
    if not any(hasattr(column, "cat") for _, column in columns):
        return None
    found = {}
    for name, column in columns:
        if hasattr(column, "cat"):
            found[name] = {str(level) for level in column.cat.categories}
        elif not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf"):
            found[name] = {str(cell) for cell in column.dropna().unique()}
    return found


def are_known(X: Any, levels: dict[str, set[str]] | None) -> bool:
    """Whether a frame has no level that was neither seen nor declared."""
    if levels is None or not hasattr(X, "iloc"):
        return False
    for j, name in enumerate(X.columns):
        known = levels.get(str(name))
        if known is not None and not {str(cell) for cell in X.iloc[:, j].dropna().unique()} <= known:
            return False
    return True
