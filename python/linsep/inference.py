"""Standard errors, tests and intervals of logistic models, where theory holds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _core, _input
from ._fit import thread_count

_ROW_COLUMNS = ("row", "deviance", "pearson", "quantile", "leverage", "cook", "working_weight", "working_response")


class Inference:
    """Estimates of maximum likelihood with their uncertainty.

    Attributes
    ----------
    names : list of str
        The coefficient of every line, ``(intercept)`` among them.
    classes : list of str or None
        The class of every line against the first class; None for two classes.
    estimate, se, z, p, log10_p, low, high : ndarray
        Estimates, standard errors, z values, two-sided p values, ends of the intervals.
    odds_ratio, odds_low, odds_high : ndarray
        The same on the scale of odds.
    covariance : ndarray of shape (n_lines, n_lines)
        Of the estimates.
    terms : list of dict
        A test of every column: likelihood ratio, or Wald under a robust covariance.
    tests : list of dict
        The hypotheses that were asked about.
    log_likelihood, deviance, null_deviance, n : float
    aic, bic : float or None
        None where there is no likelihood to compare.
    rows : dict of ndarray or None
        Residuals, leverage, Cook's distance, and weight and response of iteratively reweighted least squares of every row,
        where they were asked for.
    details : dict
        Everything that the command prints as JSON.
    """

    def __init__(self, text: str, details: dict[str, Any], rows: np.ndarray | None) -> None:
        self._text = text
        self.details = details
        lines = details["coefficients"]
        self.names: list[str] = [line["name"] for line in lines]
        several = any(line["class"] is not None for line in lines)
        self.classes: list[str] | None = [line["class"] for line in lines] if several else None
        self.estimate = _column(lines, "estimate")
        self.se = _column(lines, "se")
        self.z = _column(lines, "z")
        self.p = _column(lines, "p")
        self.log10_p = _column(lines, "log10_p")
        self.low = _column(lines, "low")
        self.high = _column(lines, "high")
        self.odds_ratio = _column(lines, "odds_ratio")
        self.odds_low = _column(lines, "odds_low")
        self.odds_high = _column(lines, "odds_high")
        self.covariance = np.array(details["covariance_matrix"], dtype=float)
        self.terms: list[dict[str, Any]] = details["terms"]
        self.tests: list[dict[str, Any]] = details["tests"]
        self.log_likelihood: float = details["log_likelihood"]
        self.deviance: float = details["deviance"]
        self.null_deviance: float = details["null_deviance"]
        self.n: float = details["n"]
        self.aic: float | None = details["aic"]
        self.bic: float | None = details["bic"]
        self.rows: dict[str, np.ndarray] | None = None
        if rows is not None:
            self.rows = {name: rows[:, at] for at, name in enumerate(_ROW_COLUMNS)}
            self.rows["row"] = self.rows["row"].astype(int)
            self.rows["probabilities"] = rows[:, len(_ROW_COLUMNS) :]

    def to_frame(self) -> Any:
        """The coefficients as a pandas frame."""
        import pandas as pd

        frame = pd.DataFrame(self.details["coefficients"])
        return frame.drop(columns="class") if self.classes is None else frame

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Inference({len(self.names)} coefficients, n={self.n:g}, log_likelihood={self.log_likelihood:.6g})"

    def _repr_html_(self) -> str:
        from html import escape

        heads = ["", "estimate", "std. error", "z", "p", "low", "high", "odds ratio"]
        cells = "".join(f"<th>{head}</th>" for head in heads)
        lines = []
        for at, name in enumerate(self.names):
            label = name if self.classes is None else f"{self.classes[at]}: {name}"
            values = [self.estimate[at], self.se[at], self.z[at], self.p[at], self.low[at], self.high[at]]
            values.append(self.odds_ratio[at])
            shown = "".join(f"<td style='text-align:right'>{value:.4g}</td>" for value in values)
            lines.append(f"<tr><td>{escape(label)}</td>{shown}</tr>")
        table = f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        summary = escape(self._text)
        return f"{table}<details><summary>Everything</summary><pre style='line-height:1.2'>{summary}</pre></details>"


def _column(lines: list[dict[str, Any]], name: str) -> np.ndarray:
    return np.array([np.nan if line[name] is None else line[name] for line in lines], dtype=float)


def infer(
    X: Any,
    y: Any = None,
    *,
    level: Any = 0.95,
    interval: Any = "wald",
    covariance: Any = "model",
    clusters: Any = None,
    firth: Any = False,
    tests: Any = (),
    adjust: Any = None,
    fit_intercept: Any = True,
    effects: Any = False,
    rows: Any = False,
    missing: Any = "error",
    formula: Any = None,
    sample_weight: Any = None,
    n_jobs: Any = None,
    random_state: Any = 0,
) -> Inference:
    """Standard errors, tests and intervals of a logistic model without a penalty.

    Two classes: log-odds of the second against the first. More: of every class against the first. Text columns of a frame
    are compared with their first level.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    level : float, default=0.95
        How sure intervals are.
    interval : {'wald', 'profile'}, default='wald'
    covariance : {'model', 'hc0', 'hc1', 'hc2', 'hc3', 'cluster'}, default='model'
        A robust covariance does not trust the likelihood: there are no likelihood ratio tests and no AIC then.
    clusters : array of shape (n_samples,), optional
        Which rows belong together, of any values.
    firth : bool, default=False
        Firth's penalised likelihood: finite estimates also where rows are separated (two classes).
    tests : str or list of str, optional
        Hypotheses: ``'age'``, ``'age, bmi'``, ``'age - 2*bmi = 0'``.
    adjust : {'holm', 'bh'}, optional
        Correction of p values for the number of coefficients.
    fit_intercept : bool, default=True
    effects : bool, default=False
        Average marginal effects (two classes).
    rows : bool, default=False
        Residuals, leverage and Cook's distance of every row.
    missing : {'error', 'drop', 'mean', 'indicator'}, default='error'
    formula : str, optional
        The model written down, of a frame: ``"chd ~ age * famhist + log(ldl)"``; without ``y`` its left side names the column
        that is predicted.
    sample_weight : array of shape (n_samples,), optional
        Frequencies: a row of weight k counts as k rows.
    n_jobs : int, optional
    random_state : int, default=0
        Of the quantile residuals.

    Returns
    -------
    Inference

    Raises
    ------
    NoOptimumError
        Where maximum likelihood does not exist: it says which coefficients diverge, what still holds, and the way out.

    Examples
    --------
    >>> import linsep
    >>> dose, died = [[1.0], [2.0], [3.0], [2.0], [4.0], [3.0], [5.0], [1.0]], [0, 0, 1, 1, 1, 0, 1, 0]
    >>> found = linsep.infer(dose, died)
    >>> found.names
    ['(intercept)', 'x0']
    >>> bool(found.low[1] < found.estimate[1] < found.high[1])
    True
    """
    said: dict[str, Any] = {}
    if formula is not None:
        from ._formula import Written

        written = Written("infer", X, y, formula)
        given, y = written.features, written.labels
        said = {"formula": written.text, "target": written.target}
    else:
        given = _input.features(X, owner="infer")
    if y is None:
        raise ValueError("infer requires y to be passed, but the target y is None")
    labels = _input.labels(y, given.rows, "infer")
    codes = None
    if clusters is not None:
        _, codes = np.unique(np.asarray(clusters), return_inverse=True)
        codes = [int(code) for code in codes.ravel()]
    text, details, values = _core.infer(
        given.x,
        labels.codes,
        labels.names,
        level=float(level),
        interval=interval,
        covariance=covariance,
        clusters=codes,
        firth=bool(firth),
        tests=[tests] if isinstance(tests, str) else list(tests),
        adjust=adjust,
        fit_intercept=bool(fit_intercept),
        effects=bool(effects),
        rows=bool(rows),
        missing=missing,
        input_names=None if given.is_table else given.names,
        sample_weight=_input.weights(sample_weight, given.rows),
        n_threads=thread_count(n_jobs),
        seed=int(random_state),
        **said,
    )
    return Inference(text, json.loads(details), values)
