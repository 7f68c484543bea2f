"""What each column adds to the scores of each row."""

from __future__ import annotations

from typing import Any

import numpy as np


class Explanation:
    """Scores as sums over columns: ``values.sum(axis=-1) + intercept`` are the scores.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns), or (n_samples, n_scores, n_columns) of several scores
        What each column adds; text columns and columns of a formula's term are one each. Rows that miss a cell have NaN.
    intercept : ndarray of shape (n_scores,)
        What no column adds.
    names : list of str
        The columns; of kernels the training rows that support the plane, from 0.
    scores : list of str
        What the scores are of: a class, or two.
    base : {'centre', 'zero', 'priors', 'kernel'}
        What the intercept is: the score at the means of the training rows, that of a row of zeros, that of the priors, or
        that of a kernel expansion.
    """

    def __init__(
        self, names: list[str], scores: list[str], intercept: np.ndarray, values: np.ndarray, base: str
    ) -> None:
        self.names = names
        self.scores = scores
        self.intercept = intercept
        self.values = values[:, 0, :] if len(scores) == 1 else values
        self.base = base

    def to_frame(self, row: int, top: int | None = None) -> Any:
        """One row as a pandas frame: a line for every column, the largest first, and a column for every score.

        Parameters
        ----------
        row : int
            From 0.
        top : int, optional
            Lines; the rest is one line, so that every column of the frame still adds up to its score.
        """
        import pandas as pd

        if top is not None and top < 1:
            raise ValueError(f"top must be a number of columns from 1, got {top!r}")
        of_row = np.atleast_2d(self.values[row])
        order = np.argsort(-np.abs(of_row).max(axis=0), kind="stable")
        shown = order if top is None else order[:top]
        lines = [self.intercept, *of_row[:, shown].T]
        names = ["(intercept)", *(self.names[at] for at in shown)]
        if len(shown) < len(order):
            lines.append(of_row[:, order[len(shown) :]].sum(axis=1))
            names.append("(rest)")
        return pd.DataFrame(np.array(lines), index=names, columns=self.scores)

    def __repr__(self) -> str:
        rows, columns = self.values.shape[0], len(self.names)
        return f"Explanation({rows} rows, {columns} columns, scores of {', '.join(self.scores[:6])})"
