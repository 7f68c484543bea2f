"""Pictures of rows and models: no other package is needed, and they show themselves in a notebook.

>>> import linsep
>>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5], [0.5, 2.0], [2.5, 1.0]]
>>> y = ["a", "a", "b", "b", "a", "b"]
>>> model = linsep.LogisticRegression().fit(X, y)
>>> picture = linsep.plot.regions(model, X, y)
>>> picture.kind, [mark["label"] for mark in picture.data()["marks"]][:2]
('regions', ['a', 'b'])
>>> picture.svg()[:4]
'<svg'
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from . import _core, _input
from ._fit import thread_count

if TYPE_CHECKING:
    from collections.abc import Callable


class Picture:
    """A picture as data: rendered when somebody looks at it or saves it.

    Attributes
    ----------
    kind, title, caption : str
    notes : list of str
        What was left out or replaced.
    """

    def __init__(self, drawn: _core.Picture, width: float, theme: str) -> None:
        self._drawn = drawn
        self.width = width
        self.theme = theme
        self.kind: str = drawn.kind
        self.title: str = drawn.title
        self.caption: str = drawn.caption
        self.notes: list[str] = drawn.notes

    def data(self) -> dict[str, Any]:
        """Marks with their points and labels, axes, legend, caption: what ``linsep plot --json`` prints.

        Returns
        -------
        dict
        """
        return json.loads(self._drawn.json())

    def svg(self) -> str:
        """The picture as SVG.

        Returns
        -------
        str
        """
        return self._drawn.svg(self.width, self.theme)

    def save(self, path: Any) -> None:
        """Writes a file; its name ends in ``.svg``, ``.png`` or ``.pdf``.

        Parameters
        ----------
        path : str or path
        """
        name = os.fspath(path)
        # Encoded first: nothing is half-written.
        content = self._drawn.encoded(name, self.width, self.theme)
        with open(name, "wb") as file:
            file.write(content)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_png_(self) -> bytes:
        return self._drawn.encoded("picture.png", self.width, self.theme)

    def __repr__(self) -> str:
        return f"<Picture {self.kind}: {self.title}>"


def kinds() -> dict[str, str]:
    """The kinds of pictures by name, with what each shows.

    Returns
    -------
    dict of str
    """
    return dict(_core.plot_kinds())


def draw(
    kind: str,
    model: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    x: Any = None,
    vertical: Any = None,
    plane: Any = None,
    at: Any = None,
    show: Any = (),
    row: Any = None,
    prior: Any = None,
    panels: bool = False,
    names: Any = None,
    width: float = 720.0,
    theme: str = "light",
    n_jobs: Any = None,
) -> Picture:
    """Draws a picture.

    Parameters
    ----------
    kind : str
        One of `linsep.plot.kinds()`.
    model : estimator, or list of estimators, optional
        Fitted; most kinds take one.
    X : array or frame of shape (n_samples, n_features), optional
        Rows.
    y : array of shape (n_samples,), optional
        Their classes; rows without are grey.
    x, vertical : str, optional
        Columns of the horizontal and the vertical axis; ``x0``, ``x1``, … of an array.
    plane : {'slice', 'normal', 'discriminant'}, optional
        The plane of a model of more than two columns.
    at : dict, optional
        Values at which a slice holds other columns.
    show : list of str
        What to add: ``levels`` or ``distances`` (boundary), ``distances`` or ``balls`` (margin), ``densities`` (curve),
        ``relu`` or ``probability`` (losses), ``seconds`` (convergence).
    row : int, optional
        Of ``boundary``: the row, counted from 0, whose projection is drawn.
    prior : tuple of float, optional
        Of ``estimates``: mean and standard deviation of what is believed of a mean.
    panels : bool, default=False
        Draw several models in a panel each.
    names : list of str, optional
        How to call several models.
    width : float, default=720
        In pixels.
    theme : {'light', 'dark'}
    n_jobs : int, optional

    Returns
    -------
    Picture
    """
    models = [] if model is None else list(model) if isinstance(model, (list, tuple)) else [model]
    cores = [_core_model(one) for one in models]
    if names is None:
        names = [type(one).__name__ for one in models] if len(models) > 1 else []
    given: dict[str, Any] = {}
    if X is not None:
        features = _features(models, X, kind)
        given["features"] = features.x
        given["input_names"] = None if features.is_table else _names(cores, features)
        if y is not None:
            given.update(_labels(models, cores, y, features.rows))
    elif y is not None:
        raise ValueError("y without X: classes of no rows")
    drawn = _core.plot(
        kind,
        cores,
        [str(name) for name in names],
        **given,
        x=x,
        y=vertical,
        plane=plane,
        at=[(str(name), str(value)) for name, value in dict(at or {}).items()],
        show=[show] if isinstance(show, str) else list(show),
        row=None if row is None else int(row) + 1,
        prior=None if prior is None else (float(prior[0]), float(prior[1])),
        panels=bool(panels),
        n_threads=thread_count(n_jobs),
    )
    picture = Picture(drawn, float(width), theme)
    # A width or a theme that cannot be drawn is said here, not in the notebook.
    picture.svg()
    return picture


def _core_model(estimator: Any) -> _core.Model:
    fitted = getattr(estimator, "_fitted", None)
    if fitted is None:
        raise TypeError(f"pictures are drawn of estimators of this package, not of {type(estimator).__name__!r}")
    return fitted()


def _features(models: list[Any], X: Any, kind: str) -> _input.Features:
    if models:
        return models[0]._given(X)
    return _input.features(X, sparse=False, owner=f"linsep.plot.draw({kind!r})")


def _names(cores: list[_core.Model], features: _input.Features) -> list[str] | None:
    """Names of the columns of an array: the model's, or the frame's."""
    known = cores[0].input_names if cores else []
    return known if len(known) == features.cols else features.names


def _labels(models: list[Any], cores: list[_core.Model], y: Any, rows: int) -> dict[str, Any]:
    if not models:
        labels = _input.labels(y, rows, "linsep.plot")
        return {"y_codes": labels.codes, "classes": labels.names, "target_is_text": labels.are_text}
    codes = _input.codes_of(y, models[0].classes_, rows)
    core = cores[0]
    return {
        "y_codes": codes,
        "classes": core.classes,
        "target": core.target,
        "target_is_text": core.target_is_text,
    }


def _of_models(kind: str) -> Callable[..., Picture]:
    def picture(model: Any, X: Any = None, y: Any = None, **options: Any) -> Picture:
        return draw(kind, model, X, y, **options)

    return _described(picture, kind)


def _of_rows(kind: str) -> Callable[..., Picture]:
    def picture(X: Any, y: Any = None, *, model: Any = None, **options: Any) -> Picture:
        return draw(kind, model, X, y, **options)

    return _described(picture, kind)


def _described(picture: Callable[..., Picture], kind: str) -> Callable[..., Picture]:
    picture.__name__ = picture.__qualname__ = kind.replace("-", "_")
    picture.__doc__ = f"""The picture ``{kind}``; see `linsep.plot.draw` for the parameters.

    Returns
    -------
    Picture
    """
    return picture


def losses(**options: Any) -> Picture:
    """The picture ``losses``: losses as functions of the margin; see `linsep.plot.draw`.

    Returns
    -------
    Picture
    """
    return draw("losses", **options)


scatter = _of_rows("scatter")
hulls = _of_rows("hulls")
updates = _of_rows("updates")
path = _of_rows("path")
estimates = _of_rows("estimates")
boundary = _of_models("boundary")
regions = _of_models("regions")
margin = _of_models("margin")
densities = _of_models("densities")
curve = _of_models("curve")
descent = _of_models("descent")
residuals = _of_models("residuals")
surfaces = _of_models("surfaces")
roc = _of_models("roc")
precision_recall = _of_models("precision-recall")
threshold = _of_models("threshold")
calibration = _of_models("calibration")
coefficients = _of_models("coefficients")
confusion = _of_models("confusion")
convergence = _of_models("convergence")
learning_curve = _of_models("learning-curve")
