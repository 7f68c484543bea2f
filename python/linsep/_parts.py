"""Fits of rows that arrive in parts: sums over the rows, and the model of all of them so far."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input
from ._errors import not_fitted, warn
from ._fit import Training, seed, threads, warn_unless_converged
from ._lazy import forget
from ._sklearn import UNCHANGED

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from typing_extensions import Self


class InParts:
    """``partial_fit`` of methods whose model is a function of sums: that of all rows at once, but for rounding."""

    #: Whether sums prove as much as the rows: else `verify` has nothing to compare a certificate with.
    _sums_prove_all = True

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to those seen so far; the model is that of all of them.

        Parameters
        ----------
        X : array, sparse matrix or frame of numbers of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,), optional
            All classes that will occur; needed at the first call.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
            While a class has no rows yet there is no model, and predictions wait for its first row; those of `BernoulliNB`,
            `MultinomialNB` and `CategoricalNB` do without the class until then.
        """
        data = _part(self, X, y, classes, sample_weight)
        self._add_part(data, first="_running" not in self.__dict__)
        return self

    def set_partial_fit_request(self, *, classes: Any = UNCHANGED, sample_weight: Any = UNCHANGED) -> Self:
        """Says whether ``partial_fit`` asks a router for ``classes`` and ``sample_weight``: True, False, None or another
        name.

        Returns
        -------
        self
        """
        return self._request("partial_fit", sample_weight, classes=classes)

    def _part_settings(self, data: Training) -> dict[str, Any]:
        return self._settings(data)

    def _add_part(self, data: Training, first: bool) -> None:
        """Adds the rows of a part, and makes the model where every class has some."""
        own = self.__dict__
        settings = json.dumps(self._part_settings(data))
        given = self._prepare(data.features, fitting=True)
        if first:
            running = _core.Running(
                self._method,
                settings,
                data.labels.names,
                data.cols,
                _names(given),
                data.labels.are_text,
            )
        else:
            running = own["_running"]
        try:
            running.add(given.x, data.labels.codes, data.weights, threads(self))
        except _core.LinsepError as error:
            raise _input.told(error, given.x, self) from error
        take(self, running, data, lambda: running.model(settings, seed(self)))

    def verify(self, X: Any, y: Any, sample_weight: Any = None, refit: Any = False) -> dict[str, Any]:
        """Recomputes what the model claims from all rows that it was fitted on; see `Estimator.verify`.

        Parameters
        ----------
        X, y, sample_weight
            All rows, in one.
        refit
            Fit again as well and compare every bit.

        Returns
        -------
        dict
        """
        why = self._not_to_verify() if "_running" in self.__dict__ else None
        if why is not None:
            raise _core.LinsepError(why)
        return super().verify(X, y, sample_weight, refit)  # type: ignore[misc]

    def _not_to_verify(self) -> str | None:
        """Why the rows say something else than the sums."""
        if self._sums_prove_all:
            return None
        return (
            "rows prove more of this model than the sums that it was fitted from, so their certificates differ\n"
            "  help: fit all rows at once, and verify that"
        )

    def _sums(self) -> _core.Running:
        running = self.__dict__.get("_running")
        if running is None:
            raise AttributeError("the sums over the rows are known of models fitted on arrays, not of those from files")
        return running


def _names(given: _input.Features) -> list[str] | None:
    """Names of columns as `fit` gives them: dense columns without names are x0, x1, …"""
    if given.names is not None:
        return given.names
    return None if given.is_sparse else [f"x{j}" for j in range(given.cols)]


def _part(estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Training:
    """Checked rows, with their labels among the classes of the first call."""
    own, name = estimator.__dict__, type(estimator).__name__
    if getattr(estimator, "class_weight", None) is not None:
        raise ValueError("class_weight is not known of rows that arrive in parts: give sample_weight")
    known = _known_classes(estimator, classes)
    features = _input.features(X, sparse=estimator._takes_sparse, owner=name)
    if features.is_table:
        raise ValueError("partial_fit takes numbers; text columns are known only where all rows are")
    if "_running" in own:
        fitted = own.get("feature_names_in_")
        _input.check_names(name, None if fitted is None else fitted.tolist(), features.names)
        if features.cols != own["n_features_in_"]:
            raise ValueError(f"X has {features.cols} features, but {name} is expecting {own['n_features_in_']} features as input.")
    codes = _input.codes_of(y, known, features.rows, "The target label(s) {} in y do not exist in the initial classes")
    labels = _input.Labels(known, codes, *_input.class_names(known))
    return Training(X, features, labels, _input.weights(sample_weight, features.rows), None)


def _known_classes(estimator: Any, classes: Any) -> np.ndarray:
    own = estimator.__dict__
    if "_running" not in own:
        if "model_" in own:
            warn(
                f"{type(estimator).__name__} begins anew: its fit was to all rows at once, and their sums were not kept"
            )
            classes = own["classes_"] if classes is None else classes
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        found, _ = _input.encode(np.asarray(classes))
        if found.size < (1 if estimator._counts_suffice else 2):
            raise ValueError(f"a classifier needs at least two classes; classes={classes!r}")
        return found
    known = own["classes_"]
    if classes is not None and not (len(classes) == known.size and np.array_equal(np.unique(classes), known)):
        raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
    return known


def take(estimator: Any, sums: Any, data: Training, model_of: Callable[[], _core.Model]) -> None:
    """Keeps sums, and takes their model on where there is one: every class has rows, and the rows are enough."""
    own = estimator.__dict__
    weights = sums.weights() if callable(sums.weights) else sums.weights
    missing = data.labels.classes[np.flatnonzero(weights == 0)].tolist()
    why = f"no rows of the classes {missing} have come yet" if missing else ""
    if estimator._counts_suffice and not missing:
        why = estimator._no_model(data)
    model = None
    counted = estimator._counts_suffice and bool(why)
    if not why:
        try:
            model = model_of()
        except _core.LinsepError as error:
            why = f"the rows so far are not enough: {error}"
    if model is not None:
        estimator._adopt(model, data)
        own["_running"], own["_waiting"] = sums, None
        warn_unless_converged(estimator)
        return
    for name in ("model_", "_fast", "feature_names_in_", "_by_counts"):
        own.pop(name, None)
    own["_running"], own["_waiting"] = sums, why
    if counted:
        own["_by_counts"] = True
        own["_dtype"] = data.features.dtype if estimator._keeps_precision else np.float64
        forget(estimator)
    own["classes_"] = data.labels.classes
    own["n_features_in_"] = data.cols
    if data.features.names is not None:
        own["feature_names_in_"] = np.array(data.features.names, dtype=object)


def fit_whole(estimator: Any, data: Training) -> None:
    """A fit by sums of all rows at once: without a model it is an error, and the estimator stays what it was."""
    counts = np.bincount(data.labels.codes, weights=data.weights, minlength=data.n_classes)
    if not counts.all() and not estimator._counts_suffice:
        missing = data.labels.classes[counts == 0].tolist()
        raise _core.LinsepError(f"no rows of the classes {missing} have a weight")
    before = estimator.__dict__.copy()
    estimator._add_part(data, first=True)
    if "model_" not in estimator.__dict__ and not estimator.__dict__.get("_by_counts", False):
        why = estimator._waiting
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise _core.LinsepError(why.removeprefix("the rows so far are not enough: "))


def waiting(estimator: Any) -> Exception:
    """Why there is no model: no fit, or rows that are not enough."""
    why = estimator.__dict__.get("_waiting")
    if estimator.__dict__.get("_by_counts", False):
        return not_fitted(estimator, f"{why}: predictions follow from the counts, but there is no model to save or to prove")
    return not_fitted(estimator, f"{why}: call partial_fit with more" if why else None)
