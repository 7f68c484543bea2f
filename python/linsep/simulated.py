"""Rows drawn from known classes, as the command's `simulate` draws them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _core, _input

#: Kinds that are said by parameters of their own; others (`gaussian`, `poisson` …) by what the classes look like.
_KINDS = ("gaussian", "poisson", "bernoulli", "logistic", "plane", "separable", "population", "rings", "moons", "parity", "m-of-d")


def simulate(
    kind: Any, *, rows: int | None = None, seed: int = 0, x: Any = None, **parameters: Any
) -> tuple[np.ndarray, np.ndarray | None, dict[str, Any]]:
    """Draws labelled rows, and gives the truth they were drawn from.

    Parameters
    ----------
    kind : str, dict or path
        A kind of the command's `simulate` (``'logistic'``, ``'gaussian'``, ``'separable'``, ``'plane'``, ``'population'``, ``'rings'``,
        ``'moons'``, ``'parity'``, ``'m-of-d'``, ``'poisson'``, ``'bernoulli'``), or the parameters or truth that a file of the command holds,
        or its path.
    rows : int, optional
        1000 unless the parameters list all rows, as ``counts`` do.
    seed : int, default=0
        The same seed gives the same rows as the command.
    x : array, ('uniform', low, high), ('normal', correlation) or ('mixture', (mean, deviation), …), optional
        Features of logistic and plane labels: a law, or the rows themselves.
    **parameters
        Of the kind, as in its truth file: ``weights`` and ``intercept`` (logistic, plane, separable), ``margin``, ``means`` with ``variance``,
        ``covariance`` or ``covariances``, ``priors``, ``counts``, ``marginals``, ``noise``, ``signs``, ``m``, ``features``, ``classes``.

    Returns
    -------
    X : ndarray of shape (rows, n_features)
    y : ndarray of shape (rows,)
        Names of the classes, as numbers where they are; None for a population without classes.
    truth : dict
        What the command writes beside the rows: parameters, Bayes error, ideal losses.

    Examples
    --------
    >>> import linsep
    >>> X, y, truth = linsep.simulate("logistic", weights=[1.0], intercept=-5.0, x=("uniform", 0, 10), rows=200, seed=2)
    >>> X.shape, round(truth["bayes_error"]["value"], 4)
    ((200, 1), 0.137)
    >>> again, _, _ = linsep.simulate(truth, rows=200, seed=2)
    >>> bool((again == X).all())
    True
    """
    own, names = None, None
    if isinstance(kind, str) and kind in _KINDS:
        said = _described(kind, dict(parameters), rows, seed)
    else:
        if parameters:
            raise TypeError(f"a file or a truth says what the classes are; {sorted(parameters)} would say it again")
        said = dict(kind) if isinstance(kind, dict) else json.loads(_text(kind))
    if isinstance(x, tuple) and x and isinstance(x[0], str):
        said.update(_law(x))
    elif x is not None:
        given = _input.features(x, sparse=False)
        own = np.ascontiguousarray(given.x, np.float64)
        names = list(map(str, x.columns)) if hasattr(x, "columns") else None
    features, codes, truth_text = _core.simulate(json.dumps(said), rows, seed, own, names)
    truth: dict[str, Any] = json.loads(truth_text)
    classes = truth.get("classes", [])
    if not classes:
        return features, None, truth
    return features, _names(classes)[codes], truth


def _text(path: Any) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise ValueError(f"there is no kind and no file {str(path)!r}; the kinds are {', '.join(_KINDS)}") from None


def _names(classes: list[str]) -> np.ndarray:
    """The classes as whole numbers where that is what they are."""
    try:
        numbers = [int(name) for name in classes]
    except ValueError:
        return np.array(classes)
    return np.array(numbers if [str(n) for n in numbers] == classes else classes)


def _law(x: tuple[Any, ...]) -> dict[str, Any]:
    if x[0] == "uniform" and len(x) == 3:
        return {"feature_law": {"uniform": [float(x[1]), float(x[2])]}}
    if x[0] == "normal" and len(x) <= 2:
        return {"feature_law": {"normal": float(x[1]) if len(x) == 2 else 0.0}}
    if x[0] == "mixture" and len(x) > 1:
        parts = [{"share": 1.0 / (len(x) - 1), "mean": float(m), "deviation": float(s)} for m, s in x[1:]]
        return {"feature_law": {"mixture": parts}}
    raise ValueError(f"x must be rows, ('uniform', low, high), ('normal', correlation) or ('mixture', (mean, deviation), …); got {x!r}")


def _described(kind: str, said: dict[str, Any], rows: int | None, seed: int) -> dict[str, Any]:
    """A truth file of the kind, as far as it is needed to draw."""
    plain = {name: np.asarray(value).tolist() if isinstance(value, np.ndarray) else value for name, value in said.items()}
    found: dict[str, Any] = {"kind": kind, "rows": rows or 0, "seed": seed, **plain}
    if kind in ("logistic", "plane", "separable"):
        weights = [float(w) for w in np.ravel(found.get("weights", [1.0, 1.0]))]
        found["weights"] = [weights]
        found["intercept"] = [float(np.ravel(found.get("intercept", 0.0))[0])]
        found.setdefault("features", [f"x{j + 1}" for j in range(len(weights))])
        found.setdefault("classes", ["0", "1"])
        if kind == "separable":
            found.setdefault("margin", 0.5)
            found.setdefault("priors", [0.5, 0.5])
        else:
            found.setdefault("feature_law", {"normal": 0.0})
    elif kind in ("rings", "moons", "parity", "m-of-d"):
        cols = 2
        if isinstance(found.get("features"), int):
            cols = found.pop("features")
        found.setdefault("features", [f"x{j + 1}" for j in range(cols)])
        found.setdefault("classes", [str(k) for k in range(len(found.get("counts", [0, 0])))])
        if kind in ("rings", "moons"):
            found.setdefault("noise", 0.1)
        else:
            found.setdefault("signs", False)
    return found
