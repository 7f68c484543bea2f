"""Classifiers on Dask arrays and DataFrames: each partition is summed where it is, and the sums are merged.

>>> import dask.array as da
>>> import linsep.dask
>>> X = da.from_array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], chunks=(2, 1))
>>> y = da.from_array(["a", "a", "a", "b", "b", "b"], chunks=2)
>>> model = linsep.dask.LinearDiscriminantAnalysis(divisor="unbiased").fit(X, y)
>>> model.coef_.round(6).tolist()
[[5.0]]
>>> model.predict(X).compute().tolist()
['a', 'a', 'a', 'b', 'b', 'b']

The model is that of all rows at once, but for rounding: closed forms (discriminants, naive Bayes, least squares) by one sum over
every partition, `LogisticRegression` and `LinearSVC` by one sum for each iteration and each question of the proof, to the
tolerance that their certificate states. Sums are merged in the order of the partitions, so that neither the number of workers nor
their speed changes a bit. What is kept on a worker, the rows of its partitions, is made again from its source by another where
it is lost. Besides Dask this module needs nothing; with a ``distributed.Client`` the tasks run there, without one wherever Dask
runs tasks.

>>> risk = linsep.dask.LogisticRegression(C=0.5).fit(X, y)
>>> risk.certificate_["relative_gap"] <= 1e-8
True
>>> risk.round_trips_ < 100
True
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input, discriminant, linear, naive_bayes
from ._fit import Training, observer, seed, warm, warn_unless_converged
from ._parts import _names, take

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from typing_extensions import Self

__all__ = [
    "GaussianNB",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "QuadraticDiscriminantAnalysis",
    "RidgeClassifier",
]

#: Seconds between two looks at whether the scheduler is still there. Chosen: only how soon its loss is told depends on it.
_PATIENCE = 5.0


class _InPartitions:
    """``fit`` on partitions, and predictions that are made when they are asked for."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the rows of all partitions.

        Parameters
        ----------
        X : Dask array or DataFrame of numbers of shape (n_samples, n_features)
        y : Dask array or Series of shape (n_samples,)
            In partitions of the same rows as those of X.
        sample_weight : Dask array or Series of shape (n_samples,), optional

        Returns
        -------
        self
        """
        name = type(self).__name__
        if getattr(self, "class_weight", None) is not None:
            raise ValueError("class_weight is not known of partitions: give sample_weight")
        parts = _partitions(X, y, sample_weight, name)
        seen = _compute([_delayed(_look)(*part, i, name) for i, part in enumerate(parts)])
        classes, cols, data = _known(seen, name)
        settings = json.dumps(self._part_settings(data))
        told = _input.class_names(classes)
        made = (self._method, settings, told[0], cols, _names(data.features), told[1])
        sums = _compute([_delayed(_sum)(*part, classes, made, name, i) for i, part in enumerate(parts)])
        running = _core.Running(*made)
        for part in sums:
            if part is not None:
                running.merge(part)
        before = self.__dict__.copy()
        take(self, running, data, lambda: running.model(settings, seed(self)))
        own = self.__dict__
        if "model_" not in own:
            why = own["_waiting"]
            own.clear()
            own.update(before)
            raise _core.LinsepError(why.removeprefix("the rows so far are not enough: "))
        return self

    def partial_fit(self, *_: Any, **__: Any) -> Self:
        """Not of partitions, which are all given at once: the classes of `linsep` itself have it."""
        raise AttributeError("partial_fit is for rows that arrive in parts: use the class of the same name in linsep")

    def _not_to_verify(self) -> str | None:
        # The model states that it was made of sums, so that it is compared with sums.
        return None

    def predict(self, X: Any) -> Any:
        """The class of every row: of Dask partitions lazily, one task each; of anything else at once.

        Parameters
        ----------
        X : Dask array or DataFrame, array or frame of shape (n_samples, n_features)

        Returns
        -------
        Dask array or Series, or array, of shape (n_samples,)
        """
        return self._lazily("predict", X, self.classes_.dtype, None)

    def _lazily(self, what: str, X: Any, dtype: Any, columns: int | None) -> Any:
        self._fitted()
        compute = getattr(super(), what)
        kind = _kind(X)
        if kind is None:
            return compute(X)
        plain = _plain(self)
        if kind == "array":
            X = _one_block_wide(X)
            if columns is None:
                return X.map_blocks(_ask, plain=plain, what=what, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))
            return X.map_blocks(
                _ask, plain=plain, what=what, dtype=dtype, chunks=(X.chunks[0], (columns,)), meta=np.empty((0, columns), dtype)
            )
        import pandas as pd

        if columns is None:
            return X.map_partitions(_ask, plain=plain, what=what, meta=pd.Series([], dtype=dtype, name="prediction"))
        meta = pd.DataFrame({label: pd.Series([], dtype=dtype) for label in self.classes_.tolist()})
        return X.map_partitions(_ask, plain=plain, what=what, meta=meta)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right, each partition counted where it is.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`, or arrays.

        Returns
        -------
        float
        """
        if _kind(X) is None:
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        self._fitted()
        parts, plain = _partitions(X, y, sample_weight, type(self).__name__), _plain(self)
        counts = _compute([_delayed(_right)(*part, plain) for part in parts])
        return float(sum(right for right, _ in counts) / sum(total for _, total in counts))


class _WithProbabilities(_InPartitions):
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes: of Dask partitions lazily, of anything else at once.

        Parameters
        ----------
        X : Dask array or DataFrame, array or frame of shape (n_samples, n_features)

        Returns
        -------
        Dask array or DataFrame, or array, of shape (n_samples, n_classes)
        """
        return self._lazily("predict_proba", X, np.dtype(float), self.__dict__.get("classes_", np.empty(0)).size)


class _ByQuestions(_InPartitions):
    """``fit`` of smooth risks: rows stay where they are, and are asked for sums until the certificate is good enough."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the rows of all partitions, and proves how far the fit is from the optimum of all of them.

        Parameters
        ----------
        X : Dask array or DataFrame of numbers of shape (n_samples, n_features)
            Also of sparse rows, as `scipy.sparse` holds them. Each partition is converted once and stays with its worker.
        y : Dask array or Series of shape (n_samples,)
            In partitions of the same rows as those of X.
        sample_weight : Dask array or Series of shape (n_samples,), optional

        Returns
        -------
        self
            With ``round_trips_``, how often all partitions were asked.
        """
        name = type(self).__name__
        if getattr(self, "class_weight", None) is not None:
            raise ValueError("class_weight is not known of partitions: give sample_weight")
        parts = _partitions(X, y, sample_weight, name)
        places = _Places(_client())
        try:
            held = places.compute([_delayed(_hold)(*part, name, i) for i, part in enumerate(parts)])
            seen = places.ask(_told_by, held)
            classes, cols, data = _known(seen, name)
            some = [rows for rows, found in zip(held, seen) if found is not None and found[5] < found[4]]
            rows = places.map(_coded, some, classes=classes)
            # What is left are the coded rows, on the same workers.
            del held, some
            tell = observer(self)
            before = warm(self, data)
            try:
                model, round_trips = _core.fit_partitions(
                    lambda message: places.ask(_answer, rows, message=bytes(message)),
                    json.dumps(self._settings(data)),
                    data.labels.names,
                    cols,
                    input_names=_names(data.features),
                    target_is_text=data.labels.are_text,
                    zero_weight=int(sum(found[5] for found in seen if found is not None)),
                    init=before,
                    multiclass=self._scheme(classes.size).get("multiclass") if classes.size > 2 else None,
                    time_limit=self.time_limit,
                    seed=seed(self),
                    callback=tell,
                )
            finally:
                if hasattr(tell, "close"):
                    tell.close()
        finally:
            places.close()
        self._adopt(model, data)
        self.round_trips_ = round_trips
        warn_unless_converged(self)
        return self


class LogisticRegression(_ByQuestions, linear.LogisticRegression):
    __doc__ = linear.LogisticRegression.__doc__.split("    Examples")[0]  # type: ignore[union-attr]

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes: of Dask partitions lazily, of anything else at once.

        Parameters
        ----------
        X : Dask array or DataFrame, array or frame of shape (n_samples, n_features)

        Returns
        -------
        Dask array or DataFrame, or array, of shape (n_samples, n_classes)
        """
        return self._lazily("predict_proba", X, np.dtype(float), self.__dict__.get("classes_", np.empty(0)).size)


class LinearSVC(_ByQuestions, linear.LinearSVC):
    __doc__ = linear.LinearSVC.__doc__.split("    Examples")[0]  # type: ignore[union-attr]


class LinearDiscriminantAnalysis(_WithProbabilities, discriminant.LinearDiscriminantAnalysis):
    __doc__ = discriminant.LinearDiscriminantAnalysis.__doc__.split("    Examples")[0]  # type: ignore[union-attr]


class QuadraticDiscriminantAnalysis(_WithProbabilities, discriminant.QuadraticDiscriminantAnalysis):
    __doc__ = discriminant.QuadraticDiscriminantAnalysis.__doc__.split("    Examples")[0]  # type: ignore[union-attr]


class GaussianNB(_WithProbabilities, naive_bayes.GaussianNB):
    __doc__ = naive_bayes.GaussianNB.__doc__.split("    Examples")[0]  # type: ignore[union-attr]


class RidgeClassifier(_InPartitions, linear.RidgeClassifier):
    __doc__ = linear.RidgeClassifier.__doc__.split("    Examples")[0]  # type: ignore[union-attr]


class LeastSquaresClassifier(_InPartitions, linear.LeastSquaresClassifier):
    __doc__ = linear.LeastSquaresClassifier.__doc__.split("    Examples")[0]  # type: ignore[union-attr]


# -- partitions --------------------------------------------------------------------------------------------------------


def _kind(X: Any) -> str | None:
    """Whether something is a Dask array or a DataFrame, or neither."""
    if not hasattr(X, "__dask_graph__"):
        return None
    return "array" if hasattr(X, "chunks") and hasattr(X, "map_blocks") else "frame"


def _one_block_wide(X: Any) -> Any:
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; a matrix has two. Reshape your data")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _blocks(values: Any, what: str, like: Any = None) -> list[Any]:
    """The partitions of a collection, one task each."""
    kind = _kind(values)
    if kind is None:
        raise TypeError(f"{what} is not a Dask collection: use the class of the same name in linsep, or make it one")
    if kind == "frame":
        return list(values.to_delayed())
    if what == "X":
        values = _one_block_wide(values)
    elif like is not None and _kind(like) == "array":
        rows, own = like.chunks[0], values.chunks[0]
        known = not (np.isnan(rows).any() or np.isnan(own).any())
        if known and sum(rows) != sum(own):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[int(sum(rows)), int(sum(own))]}")
        if known and rows != own:
            values = values.rechunk({0: rows})
    return list(values.to_delayed().ravel())


def _partitions(X: Any, y: Any, sample_weight: Any, name: str) -> list[tuple[Any, Any, Any]]:
    """X, y and weights of every partition."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    rows = _blocks(X, "X")
    labels = _blocks(y, "y", X)
    weights = [None] * len(rows) if sample_weight is None else _blocks(sample_weight, "sample_weight", X)
    for what, parts in (("y", labels), ("sample_weight", weights)):
        if len(parts) != len(rows):
            raise ValueError(f"X has {len(rows)} partitions and {what} has {len(parts)}: they must have the same rows each")
    return list(zip(rows, labels, weights))


def _delayed(function: Any) -> Any:
    import dask

    # Each call is a task of its own; nothing is looked up by what it was called with.
    return dask.delayed(function, pure=False, traverse=False)


def _compute(tasks: list[Any]) -> list[Any]:
    """What the tasks return, in their order."""
    places = _Places(_client())
    try:
        return places.gather(places.compute(tasks))
    finally:
        places.close()


class _Places:
    """Where tasks run and what they leave: on the workers of a client, or wherever Dask runs tasks.

    What is left is never scattered: it is the result of a task, which another worker repeats where it is lost.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._kept: list[Any] = []

    def compute(self, tasks: list[Any]) -> list[Any]:
        """Runs tasks; their results stay where they are."""
        if self._client is None:
            import dask

            return list(dask.compute(*tasks))
        return self._keep(lambda: self._client.compute(tasks))

    def map(self, function: Any, rows: list[Any], **same: Any) -> list[Any]:
        """Runs a function on what was left; its results stay where they are."""
        if self._client is None:
            return [function(one, **same) for one in rows]
        return self._keep(lambda: self._client.map(function, rows, pure=False, **same))

    def ask(self, function: Any, rows: list[Any], **same: Any) -> list[Any]:
        """What a function says of each, in their order."""
        if self._client is None:
            return [function(one, **same) for one in rows]
        return self.gather(self._client.map(function, rows, pure=False, **same))

    def gather(self, futures: list[Any]) -> list[Any]:
        """The results themselves; a scheduler that is gone is an error and no wait without end."""
        if self._client is None:
            return futures
        with self._told():
            self._wait(futures)
            return self._client.gather(futures)

    def close(self) -> None:
        """Lets go of what was left."""
        if self._kept and self._client.status == "running":
            self._client.cancel(self._kept)
        self._kept = []

    def _keep(self, start: Any) -> list[Any]:
        with self._told():
            futures = start()
        self._kept += futures
        return futures

    def _wait(self, futures: list[Any]) -> None:
        from distributed import TimeoutError as Late
        from distributed import wait

        while True:
            try:
                wait(futures, timeout=_PATIENCE)
                return
            except (Late, TimeoutError):
                if self._client.status != "running":
                    raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self._client.status == "running":
                raise
            raise _core.LinsepError(
                f"the scheduler of the cluster is gone: {error or self._client.status}\n"
                "  help: start the cluster again, connect a Client, and fit again"
            ) from error


def _client() -> Any:
    """The client of this process, where there is one."""
    import sys

    if "distributed" not in sys.modules:
        return None
    try:
        return sys.modules["distributed"].get_client()
    except ValueError:
        return None


def _known(seen: list[Any], name: str) -> tuple[np.ndarray, int, Training]:
    """The classes and the number of columns of all partitions, and what an estimator asks of its data."""
    some = [found for found in seen if found is not None]
    if not some:
        raise ValueError(f"Found array with 0 sample(s): {name} needs rows, and no partition has any")
    cols, names = some[0][1:3]
    for i, found in enumerate(seen):
        if found is not None and (found[1] != cols or found[2] != names):
            raise ValueError(_drift(i, (cols, names), found[1:3]))
    classes, _ = _input.encode(np.concatenate([_comparable(found[0], some) for found in some]))
    if classes.size < 2:
        raise ValueError(f"This solver needs samples of at least 2 classes, but the data has only one: {classes.tolist()}")
    rows, total = int(sum(found[4] for found in some)), float(sum(found[3] for found in some))
    return classes, cols, _data(classes, cols, names, rows, total)


def _drift(i: int, first: tuple[int, Any], other: tuple[int, Any]) -> str:
    (cols, names), (has, own) = first, other
    if names is not None and own is not None:
        odd = [n for n in own if n not in names] + [n for n in names if n not in own]
        what = f"columns {odd}" if odd else f"columns in the order {own}, not {names}"
        return f"partition {i} has other columns than the first: {what}"
    return f"partition {i} has {has} columns, and the first has {cols}"


def _comparable(labels: np.ndarray, some: list[Any]) -> np.ndarray:
    """Labels of one partition as the others have them: text and numbers do not mix."""
    kinds = {found[0].dtype.kind for found in some}
    text, numbers = kinds & set("OUS"), kinds - set("OUS")
    if text and numbers:
        raise ValueError("labels are text in some partitions and numbers in others: make them one kind")
    return labels.astype(object) if len({found[0].dtype for found in some}) > 1 and text else labels


def _data(classes: np.ndarray, cols: int, names: list[str] | None, rows: int, total: float) -> Training:
    """What an estimator asks of its data, of all partitions together: an empty matrix with their columns, and Σs."""
    shown = np.zeros((0, cols))
    features = _input.Features(shown, 0, cols, names, False, False)
    labels = _input.Labels(classes, np.zeros(0, dtype=np.int64), *_input.class_names(classes))
    data = _AllPartitions(None, features, labels, None, None)
    data.rows, data.total = rows, total
    return data


class _AllPartitions(Training):
    """The training rows of all partitions, as far as they are known here."""

    __slots__ = ("rows", "total")

    def total_weight(self) -> float:
        return self.total


# -- tasks, which run where a partition is -----------------------------------------------------------------------------


def _checked(x: Any, y: Any, w: Any, name: str, i: int) -> tuple[_input.Features, np.ndarray, np.ndarray | None]:
    rows, labels = x.shape[0], len(y)
    if rows != labels or (w is not None and len(w) != rows):
        raise ValueError(
            f"partition {i} has {rows} rows, {labels} labels{'' if w is None else f' and {len(w)} weights'}: give X, y and "
            "sample_weight in partitions of the same rows"
        )
    x = _aligned(x)
    w = None if w is None else np.require(w, dtype=float, requirements=["A", "C"])
    features = _input.features(x, sparse=True, owner=name)
    if features.is_table:
        raise ValueError(f"partition {i} has columns of text: give numbers, or leave the columns out")
    return features, _aligned(np.asarray(y).ravel()), _input.weights(w, rows)


def _aligned(values: Any) -> Any:
    """What comes over the network need not begin at a multiple of eight bytes."""
    if type(values) is tuple:
        return tuple(_aligned(one) for one in values)
    return np.require(values, requirements="A") if type(values) is np.ndarray else values


def _look(x: Any, y: Any, w: Any, i: int, name: str) -> Any:
    """Classes, columns and weight of a partition; `None` of one without rows."""
    if len(x) == 0 and len(y) == 0:
        return None
    features, labels, weights = _checked(x, y, w, name, i)
    found, _ = _input.encode(labels)
    total = float(len(labels)) if weights is None else float(weights.sum())
    return found, features.cols, features.names, total, len(labels), 0 if weights is None else int((weights == 0).sum())


def _hold(x: Any, y: Any, w: Any, name: str, i: int) -> Any:
    """The rows of a partition that have a weight, checked and converted once, and what all its rows tell."""
    if x.shape[0] == 0 and len(y) == 0:
        return None
    features, labels, weights = _checked(x, y, w, name, i)
    found, _ = _input.encode(labels)
    rows = len(labels)
    zero = 0 if weights is None else int((weights == 0).sum())
    if zero:
        counted = weights != 0
        features = _input.features(x[counted], sparse=True, owner=name) if zero < rows else features
        labels, weights = labels[counted], weights[counted]
    total = float(rows) if weights is None else float(weights.sum())
    return (i, features.x, labels, weights), (found, features.cols, features.names, total, rows, zero)


def _told_by(held: Any) -> Any:
    """What the rows of a partition tell, as `_look` says it."""
    return None if held is None else held[1]


def _coded(held: Any, classes: np.ndarray) -> Any:
    """Rows with the places of their labels among all classes."""
    i, x, labels, weights = _aligned(held[0])
    return i, x, _input.codes_of(labels, classes, len(labels)), weights, classes.size


def _answer(rows: Any, message: bytes) -> bytes:
    """The sums that a message asks for."""
    i, x, codes, weights, n_classes = _aligned(rows)
    try:
        return _core.answer_part(x, codes, n_classes, message, weights, 1)
    except _core.LinsepError as error:
        raise _core.LinsepError(f"partition {i}: {error}") from None


def _sum(x: Any, y: Any, w: Any, classes: np.ndarray, made: Any, name: str, i: int) -> Any:
    """The sums of a partition."""
    if len(x) == 0:
        return None
    features, labels, weights = _checked(x, y, w, name, i)
    running = _core.Running(*made)
    try:
        running.add(features.x, _input.codes_of(labels, classes, len(labels)), weights, 1)
    except _core.LinsepError as error:
        raise _core.LinsepError(f"partition {i}: {error}") from None
    return running


def _plain(estimator: Any) -> Any:
    """The fitted estimator without the sums, which predictions do not need."""
    import copy

    plain = copy.copy(estimator)
    plain.__dict__.pop("_running", None)
    return plain


def _ask(x: Any, plain: Any, what: str) -> Any:
    """Predictions for the rows of a partition."""
    if len(x):
        found = getattr(plain, what)(x)
    elif what == "predict":
        found = np.empty(0, dtype=plain.classes_.dtype)
    else:
        found = np.empty((0, plain.classes_.size))
    if not hasattr(x, "iloc"):
        return found
    import pandas as pd

    if found.ndim == 1:
        return pd.Series(found, index=x.index, name="prediction")
    return pd.DataFrame(found, index=x.index, columns=plain.classes_.tolist())


def _right(x: Any, y: Any, w: Any, plain: Any) -> tuple[float, float]:
    """Weight of the rows that are predicted right, and of all."""
    if len(x) == 0:
        return 0.0, 0.0
    weights = np.ones(len(x)) if w is None else np.asarray(w, dtype=float)
    right = plain.predict(x) == np.asarray(y).ravel()
    return float(weights[right].sum()), float(weights.sum())
