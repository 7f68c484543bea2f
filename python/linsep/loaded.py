"""Models from files: of `save`, or of the command."""

from __future__ import annotations

import json
import math
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input
from ._base import Decision, DensityAttributes, Estimator, LinearAttributes, Probabilities
from ._lazy import available_if

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from .multilabel import MultiLabelClassifier
    from typing_extensions import Self

#: Classes that a method's models may be of, the most special first.
_CANDIDATES = {
    "risk": (("linear", "SGDClassifier"), ("linear", "LogisticRegression"), ("linear", "LinearSVC")),
    "least-squares": (("linear", "LeastSquaresClassifier"),),
    "gaussian": (
        ("discriminant", "LinearDiscriminantAnalysis"),
        ("discriminant", "QuadraticDiscriminantAnalysis"),
        ("discriminant", "GaussianBayes"),
    ),
    "naive-bayes": (
        ("naive_bayes", "GaussianNB"),
        ("naive_bayes", "BernoulliNB"),
        ("naive_bayes", "MultinomialNB"),
        ("naive_bayes", "PoissonNB"),
        ("naive_bayes", "CategoricalNB"),
        ("naive_bayes", "MixedNB"),
    ),
    "perceptron": (("perceptron", "Perceptron"), ("perceptron", "PocketPerceptron")),
    "kernel-svm": (("kernel", "SVC"),),
    "kernel-perceptron": (("kernel", "KernelPerceptron"),),
    "hard-margin": (("kernel", "HardMarginSVC"),),
}


class FittedModel(LinearAttributes, DensityAttributes, Probabilities, Decision, Estimator):
    """A model whose settings no class of this package has; it predicts, proves and saves like any other.

    `linsep.load` makes it. From a frame it takes the columns that it needs by name; other columns do not matter.
    """

    def __init__(self) -> None:
        pass

    def __repr__(self) -> str:
        model = self.__dict__.get("model_")
        if model is None:
            return "FittedModel()"
        labels = [repr(label) for label in self.classes_.tolist()]
        shown = ", ".join(labels if len(labels) <= 5 else [*labels[:4], f"… {len(labels)} classes"])
        return f"FittedModel({model.method}: {model.n_features} features, classes {shown})"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Models from files are fitted already.

        Raises
        ------
        TypeError
        """
        raise TypeError("a FittedModel comes from a file and cannot be fitted again")

    def _given(self, X: Any) -> _input.Features:
        self._fitted()
        found = _input.table(X) if "feature_names_in_" in self.__dict__ else None
        return super()._given(X) if found is None else found

    def _has_proba(self) -> bool:
        model = self.__dict__.get("model_")
        return model is not None and model.has_probabilities

    predict_proba = available_if(_has_proba)(Probabilities.predict_proba)

    @available_if(_has_proba)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities, which need not be those of the scores: they may be calibrated.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def load(path: Any) -> Estimator | MultiLabelClassifier:
    """Reads a model file, written by `save` or by the command.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Of the class and with the parameters that give the model's settings; a `FittedModel` where no class has them.
        A model with text columns predicts from frames. A file of several labels gives a `MultiLabelClassifier`.

    Examples
    --------
    >>> import linsep, os, tempfile
    >>> model = linsep.LogisticRegression(C=2.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> model.save(path)
    >>> again = linsep.load(path)
    >>> again, bool((again.coef_ == model.coef_).all())
    (LogisticRegression(C=2.0), True)
    """
    models = _core.load(os.fspath(path))
    if len(models) == 1:
        return of_model(models[0])
    from .multilabel import MultiLabelClassifier

    each = [of_model(model) for model in models]
    found = MultiLabelClassifier(each[0])
    found.estimators_, found.labels_ = each, [model.target for model in models]
    found.n_features_in_ = each[0].n_features_in_
    return found


def of_model(model: _core.Model) -> Estimator:
    """An estimator around a model."""
    estimator = _matching(model) or FittedModel()
    own = estimator.__dict__
    own["model_"] = model
    own["_kept_attributes"] = {}
    own["classes_"] = _classes(model)
    own["n_features_in_"] = model.n_inputs
    own["_from_table"] = not model.takes_arrays
    names = model.input_names
    # Arrays without names were called x0, x1, …
    if names and names != [f"x{j}" for j in range(len(names))]:
        own["feature_names_in_"] = np.array(names, dtype=object)
    estimator._ready()
    if hasattr(estimator, "_restore_support"):
        estimator._restore_support()
    return estimator


def _classes(model: _core.Model) -> np.ndarray:
    names = model.classes
    if model.label_types:
        return _input.labels_from(names, model.label_types)
    if model.target_is_text:
        return np.array(names, dtype=object)
    try:
        return np.array([int(name) for name in names], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([float(name) for name in names])


#: Settings that a model file leaves out where they are these.
_LEFT_OUT: dict[str, Any] = {"intercept": "free", "factors": [], "stochastic": {"batch": 1, "step": None, "seed": 0}, "known": None, "smoothed_by": "own"}


def _matching(model: _core.Model) -> Estimator | None:
    """The estimator that, fitted again, would give a model of these settings, columns and decisions."""
    said = json.loads(model.describe())
    if not _is_plain(model, said):
        return None
    settings = json.loads(model.settings)
    method = settings.pop("method")
    if method not in _CANDIDATES:
        return None
    defaults = {**_LEFT_OUT, **json.loads(_core.defaults(method))}
    defaults.pop("method", None)
    settings = {**defaults, **settings}
    for home, name in _CANDIDATES.get(method, ()):
        kind = getattr(import_module(f"linsep.{home}"), name)
        params = kind._params_of(settings)
        estimator = None if params is None else kind(**params)
        if estimator is None or not _is_same({**defaults, **estimator._settings(None)}, settings):
            continue
        factors = said["class_weights"]
        if factors is not None:
            if not hasattr(estimator, "class_weight"):
                return None
            given = dict(zip(_classes(model).tolist(), factors["factors"]))
            estimator.class_weight = "balanced" if factors["balanced"] else given
        return _deciding(estimator, said["decision"]["scheme"], len(model.classes))
    return None


def _is_same(made: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether settings agree; a tolerance that went through a root may differ in its last digit."""
    known = wanted.get("tolerance")
    if known is not None and math.isclose(made.get("tolerance", 0.0), known, rel_tol=1e-12):
        made = {**made, "tolerance": known}
    return made == wanted


def _is_plain(model: _core.Model, said: dict[str, Any]) -> bool:
    """Whether columns go into the scores as they are, and the scores decide as they are."""
    decision = said["decision"]
    if decision["rule"] not in ("arg_max", "scheme") or any(
        decision[name] for name in ("costs", "reject", "threshold")
    ):
        return False
    if not said["linear_in_columns"] or said["calibration"] or said["true_priors"]:
        return False
    return model.takes_arrays or not json.loads(model.to_json())["model"]["offsets"]


def _deciding(estimator: Estimator, scheme: dict[str, str] | None, n_classes: int) -> Estimator | None:
    """The estimator, or a wrapper of it, that decides among several classes like this."""
    own = estimator._scheme(n_classes) if n_classes > 2 else {}
    if scheme is None:
        return estimator if own.get("multiclass", "joint") == "joint" else None
    name, ties, vote = scheme["scheme"], scheme["ties"], scheme.get("vote")
    if own and hasattr(estimator, "break_ties") and ties in ("scores", "first"):
        estimator.break_ties = ties == "scores"
        own = estimator._scheme(n_classes)
    if own.get("multiclass") == name and own.get("ties", ties) == ties and own.get("vote", vote) == vote:
        return estimator
    from .multiclass import OneVsOneClassifier, OneVsRestClassifier

    wrapper: OneVsOneClassifier | OneVsRestClassifier | None = None
    if name == "one-vs-one":
        wrapper = OneVsOneClassifier(estimator, vote=vote, ties=ties)
    elif name == "one-vs-rest":
        wrapper = OneVsRestClassifier(estimator, ties=ties)
    if wrapper is not None:
        wrapper.estimator_ = estimator
    return wrapper
