"""How good a model is on rows, with intervals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input, _policies, _weights
from ._fit import thread_count

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from ._base import Estimator


class Estimate:
    """A figure with its interval.

    Attributes
    ----------
    value : float
    low, high : float or None
        Ends of the 95 % interval, where there is one.
    method : str
        How the interval was made.
    """

    def __init__(self, said: dict[str, Any]) -> None:
        ends = said.get("interval") or (None, None)
        self.value: float = said["value"]
        self.low: float | None = ends[0]
        self.high: float | None = ends[1]
        self.method: str = said.get("method", "")

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        ends = "" if self.low is None or self.high is None else f", {self.low:.4g} to {self.high:.4g}"
        return f"Estimate({self.value:.4g}{ends})"


class Evaluation:
    """What `linsep.evaluate` found; ``print`` shows all of it.

    Attributes
    ----------
    accuracy, balanced_accuracy, log_loss, brier, auc : Estimate or None
        With 95 % intervals; None where the model or the rows do not have it. Of rejected rows accuracy knows nothing.
    rejected, undetermined, mean_cost : Estimate or None
        Where the decision may reject, votes may contradict each other, or mistakes have costs.
    confusion : array of shape (n_classes, n_classes)
        Weight of the rows by true and predicted class.
    classes : list
        In the order of the rows and columns of ``confusion``.
    n : int
        Rows.
    of_training : bool or None
        Whether these are the rows of the fit, which makes the figures too good; None where that is not known.
    details : dict
        Everything that the command prints as JSON.
    """

    def __init__(self, text: str, details: dict[str, Any], classes: list[Any]) -> None:
        self._text = text
        self.details = details
        self.classes = classes
        self.n: int = details["rows"]
        self.of_training: bool | None = details.get("of_training")
        self.accuracy = _estimate(details.get("accuracy"))
        self.balanced_accuracy = _estimate(details.get("balanced_accuracy"))
        self.log_loss = _estimate(details.get("log_loss"))
        self.brier = _estimate(details.get("brier"))
        self.auc = _estimate(details.get("auc"))
        self.rejected = _estimate(details.get("rejected"))
        self.undetermined = _estimate(details.get("undetermined"))
        self.mean_cost = _estimate(details.get("mean_cost"))
        self.confusion: NDArray[np.float64] = _confusion(details["confusion"], len(classes))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        figures = [f"{name}={getattr(self, name)!r}" for name in ("accuracy", "log_loss", "auc") if getattr(self, name)]
        return f"Evaluation(n={self.n}, {', '.join(figures)})"

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="line-height:1.2">{escape(self._text)}</pre>'


def _estimate(said: Any) -> Estimate | None:
    return Estimate(said) if isinstance(said, dict) and isinstance(said.get("value"), (int, float)) else None


def _confusion(said: Any, classes: int) -> np.ndarray:
    counts = said["counts"] if isinstance(said, dict) else said
    return np.array(counts, dtype=np.float64).reshape(classes, -1)[:, :classes]


def table_of(model: Estimator, X: Any) -> _input.Features:
    """Rows as the table that a fitted estimator is asked about."""
    given = model._given(X)
    fitted = model.__dict__.get("feature_names_in_")
    return _policies.as_table(given, None if fitted is None or given.is_sparse else fitted.tolist())


def codes_of(model: Estimator, y: Any, rows: int) -> np.ndarray | None:
    """Places of labels among the classes of a fitted estimator."""
    return None if y is None else _input.codes_of(y, model.classes_, rows)


def evaluate(
    model: Estimator,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    details: bool = False,
    want: dict[str, float] | None = None,
    against: Estimator | None = None,
    replicates: int = 1999,
    unknown: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Evaluation:
    """How good a fitted model is on rows: every figure with its 95 % interval.

    Parameters
    ----------
    model : fitted estimator of linsep
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        The true classes; None for a model from a file whose frame has them as a column.
    sample_weight : array of shape (n_samples,), optional
    details : bool, default=False
        Precision, recall and F1 of every class, calibration, and how well the scores rank.
    want : dict, optional
        Thresholds that reach something: ``{"recall": 0.9}``, ``"precision"`` or ``"specificity"``; they are in
        ``details["thresholds"]`` of the result.
    against : fitted estimator, optional
        A second model on the same rows: McNemar, DeLong, paired bootstrap.
    replicates : int, default=1999
        Of that bootstrap.
    unknown : {'error', 'missing', 'zero'}, optional
        What to do with levels that training did not have; as the model was fitted unless given.
    random_state : int, default=0
    n_jobs : int, optional

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import linsep
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> found = linsep.evaluate(linsep.LogisticRegression().fit(X, y), X, y)
    >>> round(found.accuracy.value, 4), found.accuracy.low < found.accuracy.value < found.accuracy.high
    (0.6667, True)
    >>> found.confusion.tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    _weights.refuse(model, "an evaluation")
    given = table_of(model, X)
    if against is not None:
        _weights.refuse(against, "an evaluation")
        against._fitted()
        if not np.array_equal(against.classes_, model.classes_):
            raise ValueError(f"the models have other classes: {model.classes_.tolist()} and {against.classes_.tolist()}")
    text, found = _core.evaluate(
        model._fitted(),
        given.x,
        codes_of(model, y, given.rows),
        sample_weight=_input.weights(sample_weight, given.rows),
        details=bool(details),
        wanted=[(str(name), float(share)) for name, share in (want or {}).items()],
        against=None if against is None else against.model_,
        replicates=int(replicates),
        seed=int(random_state),
        unknown=unknown,
        n_threads=thread_count(n_jobs),
    )
    return Evaluation(text, json.loads(found), model.classes_.tolist())
