"""Several yes/no labels by separate two-class predictors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input
from ._base import Estimator
from ._errors import not_fitted
from ._params import Parameters
from ._sklearn import SklearnFace

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from typing_extensions import Self


class MultiLabelClassifier(SklearnFace, Parameters):
    """A two-class predictor for every label.

    Parameters
    ----------
    estimator : estimator of linsep

    Attributes
    ----------
    estimators_ : list of estimators
        One for each label.
    labels_ : list of str
        Their names: the columns of a frame, else ``label0``, ``label1``, …
    classes_ : list of arrays
        The two classes of each.
    n_features_in_ : int

    Notes
    -----
    What scikit-learn's ``MultiOutputClassifier`` is for labels of two classes; one file holds all models, as that of the
    command's ``fit`` with several targets.

    Examples
    --------
    >>> from linsep import LogisticRegression, MultiLabelClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5]]
    >>> model = MultiLabelClassifier(LogisticRegression()).fit(X, [[0, 1], [1, 0], [1, 1], [1, 1]])
    >>> model.predict([[3.0, 3.0]]).tolist()
    [[1, 1]]
    """

    estimators_: list[Estimator]
    labels_: list[str]

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits a predictor for every column of ``y``.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : array or frame of shape (n_samples, n_labels)
            Two values in every column.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if not isinstance(self.estimator, Estimator):
            raise TypeError(f"MultiLabelClassifier takes estimators of linsep, not {type(self.estimator).__name__}")
        names, columns = labels_of(y)
        fits = []
        for name, column in zip(names, columns):
            found = np.unique(column)
            if found.size != 2:
                raise ValueError(f"the label {name!r} has {found.size} classes in these rows, and needs two")
            own = type(self.estimator)(**self.estimator.get_params(deep=False))
            fits.append(own.fit(X, column) if sample_weight is None else own.fit(X, column, sample_weight=sample_weight))
        self.estimators_, self.labels_ = fits, names
        self.n_features_in_ = fits[0].n_features_in_
        return self

    @property
    def classes_(self) -> list[NDArray[Any]]:
        """The two classes of every label."""
        return [model.classes_ for model in self._each()]

    def __sklearn_is_fitted__(self) -> bool:
        return "estimators_" in self.__dict__

    def _each(self) -> list[Estimator]:
        if "estimators_" not in self.__dict__:
            raise not_fitted(self)
        return self.estimators_

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every label of every row.

        Returns
        -------
        array of shape (n_samples, n_labels)
        """
        return np.column_stack([model.predict(X) for model in self._each()])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of the second class of every label.

        Returns
        -------
        array of shape (n_samples, n_labels)
        """
        return np.column_stack([model.predict_proba(X)[:, 1] for model in self._each()])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of the second class of every label.

        Returns
        -------
        array of shape (n_samples, n_labels)
        """
        scores: list[Any] = [model.decision_function(X) for model in self._each()]  # type: ignore[attr-defined]
        return np.column_stack(scores)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose labels are all predicted right.

        Returns
        -------
        float
        """
        _, columns = labels_of(y)
        right = (self.predict(X) == np.column_stack(columns)).all(axis=1)
        return float(np.average(right, weights=sample_weight))

    def summary(self) -> str:
        """What the command prints after a fit, label by label.

        Returns
        -------
        str
        """
        each = zip(self.labels_, self._each())
        return "\n".join(f"label `{name}`\n{model.summary()}" for name, model in each)

    def save(self, path: Any) -> None:
        """Writes one file with the models of all labels, which the command and `linsep.load` read.

        Parameters
        ----------
        path : str or path
        """
        import os

        each = self._each()
        _core.save_labels([(name, model.model_) for name, model in zip(self.labels_, each)], os.fspath(path))


def is_several(y: Any) -> bool:
    """Whether labels have several columns."""
    shape = getattr(y, "shape", None)
    shape = np.shape(y) if shape is None and isinstance(y, (list, tuple)) and y and np.ndim(y[0]) == 1 else shape
    return shape is not None and len(shape) == 2 and shape[1] > 1


def labels_of(y: Any) -> tuple[list[str], list[NDArray[Any]]]:
    """Names and columns of several labels."""
    if hasattr(y, "toarray"):
        y = y.toarray()
    names = _input.column_names(y) if hasattr(y, "columns") else None
    columns = np.asarray(y)
    if columns.ndim != 2:
        raise ValueError(f"several labels are a table with a column for each; got an array of shape {columns.shape}")
    if names is None:
        names = [f"label{j}" for j in range(columns.shape[1])]
    each = [columns[:, j] for j in range(columns.shape[1])]
    if columns.dtype == object:
        each = [np.array(column.tolist()) for column in each]
    return names, each
