"""Where the boundaries of a model are, and how far rows are from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _core, _weights
from ._fit import thread_count
from .evaluation import codes_of, table_of

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from ._base import Estimator


class Geometry:
    """Boundaries of a model, and rows measured beside them; ``print`` shows them.

    Attributes
    ----------
    boundaries : list of dict
        For every pair of classes the unit normal and a point of the plane, or the type of the quadric.
    rows : dict of arrays or None
        Of the rows that were given: ``row`` (its number), ``prediction`` and ``boundary`` (the class across the nearest one),
        ``distance``, ``radius``; with labels ``margin`` and ``functional_margin``; where asked for ``mahalanobis`` to every
        class and ``projection`` onto the nearest boundary.
    details : dict
        Everything that the command prints as JSON: regions, inequalities, the margin of the rows.
    """

    def __init__(self, text: str, details: dict[str, Any], rows: dict[str, NDArray[Any]] | None) -> None:
        self._text = text
        self.details = details
        self.boundaries: list[dict[str, Any]] = details["boundaries"]
        self.rows = rows

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        rows = "" if self.rows is None else f", {len(self.rows['row'])} rows"
        return f"Geometry({len(self.boundaries)} boundaries{rows})"

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="line-height:1.2">{escape(self._text)}</pre>'


def geometry(
    model: Estimator,
    X: Any = None,
    y: Any = None,
    *,
    projection: bool = False,
    mahalanobis: bool = False,
    regions: bool = False,
    window: dict[str, tuple[float, float]] | None = None,
    unknown: str | None = None,
    n_jobs: int | None = None,
) -> Geometry:
    """The boundaries of a fitted model, and how far rows are from them.

    Parameters
    ----------
    model : fitted estimator of linsep
    X : array, sparse matrix or frame of shape (n_samples, n_features), optional
        Rows to measure.
    y : array of shape (n_samples,), optional
        Their classes, for margins.
    projection : bool, default=False
        Add the nearest point of the nearest boundary.
    mahalanobis : bool, default=False
        Add the squared Mahalanobis distance to each class (Gaussian classes).
    regions : bool, default=False
        The region of every class of a linear model as inequalities ``A x ≥ b``, in ``details["inequalities"]``.
    window : dict, optional
        Two columns with their ends, ``{"x0": (0, 10), "x1": (-5, 5)}``: where boundaries enter and leave, in
        ``details["window"]``.
    unknown : {'error', 'missing', 'zero'}, optional
    n_jobs : int, optional

    Returns
    -------
    Geometry

    Examples
    --------
    >>> import linsep
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]], [0, 0, 1, 1]
    >>> found = linsep.geometry(linsep.HardMarginSVC().fit(X, y), X, y)
    >>> found.rows["margin"].round(6).tolist()
    [2.0, 1.0, 1.0, 2.0]
    """
    _weights.refuse(model, "geometry")
    given = None if X is None else table_of(model, X)
    text, details, rows = _core.geometry(
        model._fitted(),
        None if given is None else given.x,
        None if given is None else codes_of(model, y, given.rows),
        projection=bool(projection),
        mahalanobis=bool(mahalanobis),
        regions=bool(regions),
        window=None if window is None else [(str(name), float(low), float(high)) for name, (low, high) in window.items()],
        unknown=unknown,
        n_threads=thread_count(n_jobs),
    )
    if rows is not None:
        for name in ("prediction", "boundary"):
            rows[name] = model._named(rows[name])
    return Geometry(text, json.loads(details), rows)
