"""Whether planes separate classes, with the witness."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _core, _input
from ._fit import thread_count


class Separability:
    """A verdict, and what proves it.

    Attributes
    ----------
    verdict : str
        ``'complete'``, ``'quasi-complete'``, ``'overlap'`` or ``'undecided'``.
    margin : float or None
        Distance of the nearest row from the separating plane, in the units of the columns.
    witness : dict or None
        What proves it: rows and weights of a common point or of the nearest points of the hulls.
    plane : dict or None
        Weights and intercept of a separating plane, where there is one.
    details : dict
        Everything that the command prints as JSON, verdicts about pairs and rests of several classes included, with
        rows counted from 0, as in the text of ``str``.
    """

    def __init__(self, text: str, details: dict[str, Any]) -> None:
        self._text = text
        self.details = details = from_zero(details)
        self.verdict: str = details["verdict"]
        self.margin: float | None = details.get("margin")
        self.witness: dict[str, Any] | None = details.get("witness")
        self.plane: dict[str, np.ndarray] | None = _plane(details.get("plane"))

    def __bool__(self) -> bool:
        return self.verdict == "complete"

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        margin = "" if self.margin is None else f", margin={self.margin:.6g}"
        return f"Separability({self.verdict!r}{margin})"

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="line-height:1.2">{escape(self._text)}</pre>'


def from_zero(said: Any) -> Any:
    """The same with rows counted from 0, and without the lines of a file that there is not."""
    if isinstance(said, list):
        return [from_zero(entry) for entry in said]
    if isinstance(said, dict):
        found = {name: from_zero(value) for name, value in said.items() if name != "line"}
        if isinstance(found.get("row"), int):
            found["row"] -= 1
        return found
    return said


def _plane(said: dict[str, Any] | None) -> dict[str, np.ndarray] | None:
    if said is None:
        return None
    weights, centre = np.array(said["weights"]), np.array(said["centre"])
    return {"coef": weights, "intercept": np.array(said["intercept_at_centre"]) - weights @ centre}


def separability(X: Any, y: Any, *, scope: Any = None, exact: Any = False, tol: Any = None, sample_weight: Any = None, n_jobs: Any = None) -> Separability:
    """Whether planes separate the classes, with a proof either way.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    scope : {'joint', 'pairs', 'rest', 'all'}, optional
        Of several classes: all at once, every pair, every class against the rest, or all of these.
    exact : bool, default=False
        Repeat the decisive step in whole numbers.
    tol : float, optional
    sample_weight : array of shape (n_samples,), optional
        Rows of weight zero do not count.
    n_jobs : int, optional

    Returns
    -------
    Separability
        True in a condition if the classes are completely separable; ``print`` says why.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.separability([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> found.verdict, round(found.margin, 6)
    ('complete', 1.0)
    >>> linsep.separability([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]).verdict
    'overlap'
    """
    given = _input.features(X, owner="separability")
    labels = _input.labels(y, given.rows, "separability")
    text, details = _core.separability(
        given.x,
        labels.codes,
        labels.names,
        scope=scope,
        exact=exact,
        tol=tol,
        input_names=None if given.is_table else given.names,
        sample_weight=_input.weights(sample_weight, given.rows),
        n_threads=thread_count(n_jobs),
    )
    return Separability(text, json.loads(details))
