"""The estimator: fit through the extension, predict, prove, save."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input, _levels, _policies, _weights
from ._fit import Training, run, threads
from ._lazy import available_if, fitted_attribute, forget
from ._params import Parameters
from ._parts import waiting
from ._sklearn import SklearnFace

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from numpy.typing import NDArray
    from typing_extensions import Self
    from ._explain import Explanation
    from .plot import Picture
    from .separable import Separability


class Estimator(SklearnFace, Parameters):
    """A classifier of the library in scikit-learn's clothes.

    A subclass says which method of the library it is, and turns its parameters into that method's settings.
    """

    model_: _core.Model
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    #: The method's name in the model file.
    _method = "risk"
    #: Outcomes beside convergence that are no reason to warn.
    _fine: tuple[str, ...] = ()
    #: Whether features of single precision give attributes of single precision, as in scikit-learn.
    _keeps_precision = True
    #: Whether counts alone say what to predict, where the library has no model of them (see `_counts`).
    _counts_suffice = False
    #: Fitted attributes that may be assigned; predictions follow them.
    _writable: tuple[str, ...] = ()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if _policies.takes_policies(cls):
            _policies.told(cls.__dict__["__init__"])
            cls.__doc__ = _policies.described(cls.__doc__)

    # -- what a subclass says ------------------------------------------------------------------------------------------

    def _settings(self, training: Training) -> dict[str, Any]:
        """The method's settings in the words of the model file."""
        raise NotImplementedError

    def _method_for(self, training: Training) -> str:
        """The method for these data."""
        return self._method

    def _scheme(self, n_classes: int) -> dict[str, str]:
        """How more than two classes are fitted: ``multiclass``, ``vote``, ``ties``; empty for the method's own way."""
        return {}

    @classmethod
    def _params_of(cls, settings: dict[str, Any]) -> dict[str, Any] | None:
        """Parameters that give these settings, or `None` where there are none."""
        return None

    def _stopped_early(self) -> str:
        """What came before the tolerance was reached."""
        from ._habits import stopped_early

        return stopped_early(getattr(self, "solver", None), self.model_.solver, self.model_.iterations)

    def _too_large(self, values: np.ndarray) -> str | None:
        """What scikit-learn says where features overflow, in front of what the library says; `None` for nothing."""
        return None

    def _prepare(self, given: _input.Features, fitting: bool) -> _input.Features:
        """Features as the method wants them."""
        return given

    # -- fit -----------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, formula: Any = None, conformal: Any = None, conformal_by: Any = "rows", conformal_share: Any = 0.2) -> Self:
        """Fits the classifier.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Features. C-contiguous float64 and float32 arrays and CSR matrices are not copied.
        y : array of shape (n_samples,)
            Labels: whole numbers, booleans or text.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows; a weight of k is the same as k copies.
        formula : str, optional
            The model written down, of a frame: ``"chd ~ age * famhist + log(ldl) + ns(bmi, 3)"``, as in R and in the command.
            Without ``y`` the left side names the column of ``X`` that is predicted. Predictions then need the columns of the
            formula, and others may be there.
        conformal : float, optional
            Hold rows back from the fit, so that `predict_set` gives sets of classes that hold the class of a new row with this
            probability at least, if it is exchangeable with the rows here. Nothing is fitted on the rows held back.
        conformal_by : {"rows", "class"}, default="rows"
            Whether that is promised of all rows together, or of the rows of every class by themselves, also where classes
            will have other shares.
        conformal_share : float, default=0.2
            The share of the rows that is held back.

        Returns
        -------
        self
        """
        return run(self, X, y, sample_weight, (conformal, conformal_by, conformal_share), formula)

    def _adopt(self, model: _core.Model, training: Training) -> None:
        """Takes a fitted model on."""
        forget(self)
        own = self.__dict__
        types = _input.label_types(training.labels.classes)
        if types:
            model = _core.with_label_types(model, types)
        # Sums of an earlier fit in parts are not those of this one.
        own.pop("_running", None)
        own.pop("_by_counts", None)
        own.pop("t_", None)
        own["model_"] = model
        own["classes_"] = training.labels.classes
        own["n_features_in_"] = training.cols
        # A table that was made of an array for the sake of policies is made again of those to predict.
        own["_from_table"] = training.features.is_table
        own["_of_frame"] = training.features.is_table and hasattr(training.source, "columns")
        own["_levels"] = _levels.declared(training.source) if training.features.is_table else None
        own["_dtype"] = training.features.dtype if self._keeps_precision else np.float64
        own.pop("feature_names_in_", None)
        own.pop("_formula", None)
        names = training.features.names
        if training.formula is not None:
            own["_formula"] = training.formula.text
            # Those of the formula, in the order in which it names them.
            names = model.input_names
            own["n_features_in_"] = len(names)
        if names is not None:
            own["feature_names_in_"] = np.array(names, dtype=object)
        self._ready()

    def _ready(self) -> None:
        """Makes one-row predictions fast; with feature names every prediction has to look at them first."""
        own = self.__dict__
        own["model_"].bind(own["classes_"])
        own.pop("_fast", None)
        if "feature_names_in_" not in own and not own.get("_from_table", False) and self._takes_raw():
            own["_fast"] = own["model_"].predict_fast

    def _takes_raw(self) -> bool:
        """Whether features reach the model as they are."""
        return True

    def _fast(self, X: Any) -> Any:
        return None

    def _assign(self, name: str, value: Any) -> None:
        self.__dict__.pop("_fast", None)
        _weights.assign(self, name, value)

    def _as_given(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers in the precision of the features, as scikit-learn keeps them."""
        return numbers.astype(self.__dict__.get("_dtype", np.float64), copy=False)

    # -- predict -------------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        found = self._fast(X)
        return self._predict(X) if found is None else found

    def predict_set(self, X: Any, *, level: Any = None) -> NDArray[np.bool_]:
        """The classes that cannot be left out, for every row; after a fit with ``conformal=``.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        level : float, optional
            The probability with which a set holds the class of a new row; that of the fit unless given.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            Whether each class of ``classes_`` is in the set of each row. A row that is strange to all classes has none; one of
            a frame that misses a cell has all.
        """
        model, x = self._ask(X)
        return model.sets(x, None if level is None else float(level), threads(self))

    @fitted_attribute
    def conformal_(self) -> dict[str, Any] | None:
        """Level and scores of the rows held back for `predict_set`, as in the model file; `None` without."""
        found = self.model_.conformal()
        return None if found is None else json.loads(found)

    def _predict(self, X: Any) -> np.ndarray:
        weights = _weights.changed(self)
        if weights is not None:
            return _weights.classes(self, X, weights)
        model, x = self._ask(X)
        return self._named(model.predict(x, threads(self)))

    def _named(self, codes: np.ndarray) -> np.ndarray:
        """Labels of classes by number; `None` for rows without one."""
        found = self.classes_.take(codes, mode="clip")
        if codes.size and codes.min() < 0:
            found = found.astype(object)
            found[codes < 0] = None
        return found

    def _ask(self, X: Any) -> tuple[_core.Model, Any]:
        """The model, and features that fit it."""
        model = self._fitted()
        given = self._given(X)
        if given.is_table and self.__dict__.get("_levels") and _levels.are_known(X, self._levels):
            # A level that was declared and had no rows: its indicator is like those of the other rows, zero.
            model = _core.forgiving(model)
        return model, given.x

    def _given(self, X: Any) -> _input.Features:
        """Features to predict from, checked against those of the fit."""
        own = self.__dict__
        if "model_" not in own and not own.get("_by_counts", False):
            raise waiting(self)
        name = type(self).__name__
        if "_formula" in own:
            from ._formula import asked

            return asked(name, X, own["feature_names_in_"].tolist())
        given = _input.table(X) if own.get("_from_table", False) else None
        if given is None:
            given = _input.features(X, sparse=self._takes_sparse, owner=name)
        fitted = own.get("feature_names_in_")
        _input.check_names(name, None if fitted is None else fitted.tolist(), given.names)
        if given.cols != own["n_features_in_"]:
            raise ValueError(
                f"X has {given.cols} features, but {name} is expecting {own['n_features_in_']} features as input."
            )
        given = self._prepare(given, fitting=False)
        if own.get("_from_table", False) and not given.is_table:
            if own.get("_of_frame", True) and given.names is None:
                raise ValueError(f"{name} was fitted on a frame: give a frame with the same columns")
            return _policies.as_table(given, None if fitted is None else fitted.tolist())
        return given

    def _is_calibrated(self) -> bool:
        model = self.__dict__.get("model_")
        if model is None:
            return "calibration" in _policies.said(self)
        return model.has_probabilities

    @available_if(_is_calibrated)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, which ``calibration`` makes of the scores.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        _weights.refuse(self, "a calibration")
        model, x = self._ask(X)
        return model.probabilities(x, threads(self))

    @available_if(_is_calibrated)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Their logarithms.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that ``coef_`` is about: ``column=level`` of text columns, ``a*b`` of products.

        Parameters
        ----------
        input_features : ignored
            As scikit-learn's tools give it.

        Returns
        -------
        array of str
        """
        return np.array(self._fitted().feature_names, dtype=object)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        found = self.predict(X)
        right = found == _input.flat(y, found.size)
        return float(np.average(right, weights=sample_weight))

    # -- what the model proves -----------------------------------------------------------------------------------------

    @fitted_attribute
    def certificate_(self) -> dict[str, Any]:
        """The proof, as in the model file: its kind and its numbers."""
        return self._description["certificate"]

    @fitted_attribute
    def stop_(self) -> str:
        """Why the fit ended: ``"converged"``, ``"iteration_limit"``, ``"time_limit"`` or ``"precision_limit"``."""
        return self.model_.outcome

    @fitted_attribute
    def objective_(self) -> float:
        """The value of what was minimised; ``summary()`` has its formula."""
        return self.model_.objective

    @fitted_attribute
    def n_iter_(self) -> int:
        """Iterations of the solver; a closed form counts as one."""
        return max(1, self.model_.iterations)

    @fitted_attribute
    def _description(self) -> dict[str, Any]:
        return json.loads(self.model_.describe())

    def _fitted(self) -> _core.Model:
        model = self.__dict__.get("model_")
        if model is None:
            raise waiting(self)
        return model

    def summary(self) -> str:
        """What the command prints after a fit: the objective in full, its value, the certificate, the classes, weights.

        Returns
        -------
        str
        """
        return self._fitted().summary()

    def distance(self, X: Any) -> dict[str, np.ndarray]:
        """How far rows are from the boundary of their class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        dict of arrays of shape (n_samples,)
            ``distance`` to the nearest boundary, ``radius`` by which a row may move without changing its class,
            ``class``, and ``nearest``, the class on the other side.
        """
        self._fitted()
        model, x = self._ask(X)
        found = model.distance(x, threads(self))
        for name in ("class", "nearest"):
            if name in found:
                found[name] = self._named(found[name].astype(np.int64))
        return found

    def explain(self, X: Any) -> Explanation:
        """What each column adds to the scores: contributions that sum to `decision_function`, for linear, generalised linear
        and naive Bayes models; for kernels those of the support rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        Explanation
            With ``values``, ``intercept``, ``names`` and `to_frame`.
        """
        from ._explain import Explanation

        self._fitted()
        _weights.refuse(self, "an explanation")
        model, x = self._ask(X)
        return Explanation(*_core.explain(model, x, threads(self)))

    def verify(self, X: Any, y: Any, sample_weight: Any = None, refit: Any = False) -> dict[str, Any]:
        """Recomputes what the model claims from the rows that it was fitted on, by code that does not know the solver.

        Parameters
        ----------
        X, y, sample_weight
            What was given to ``fit``.
        refit
            Fit again as well and compare every bit: on the machine and by the build that fitted the model.

        Returns
        -------
        dict
            ``passed``; ``proved``, what all of it proves in one sentence; ``checks``, the claims, whether they hold, and
            what was found; ``unchecked``, what only a second fit could tell; ``settings``, what was taken as given.
        """
        return self._recompute("verify", X, y, sample_weight, refit=refit)

    def support_table(self, X: Any, y: Any, sample_weight: Any = None) -> list[dict[str, Any]]:
        """The support vectors of a fit with their multipliers, slacks and distances, one dictionary each.

        Parameters
        ----------
        X, y, sample_weight
            What was given to ``fit``.

        Returns
        -------
        list of dict
            ``row`` from 0, ``label``, ``alpha``, ``bounded``, ``slack`` and ``distance``; of several fits also which
            ``part``.
        """
        found = self._recompute("support_table", X, y, sample_weight)
        self._check_support(found, X, y)
        names = dict(zip(self.model_.classes, self.classes_.tolist()))
        for entry in found:
            # The command counts rows from 1.
            entry["row"] -= 1
            entry["label"] = names.get(entry["label"], entry["label"])
        return found

    def _check_support(self, table: list[dict[str, Any]], X: Any, y: Any) -> None:
        """Refuses rows that are not those of the fit: a support vector of two classes is on its margin or beyond it."""
        scores = self.decision_function(X) if hasattr(self, "decision_function") and self.classes_.size == 2 else None
        if scores is None or self.stop_ != "converged" or any(entry.get("part") for entry in table):
            return
        sides = np.where(_input.codes_of(y, self.classes_, len(scores)) == 1, 1.0, -1.0)
        outside = [entry["row"] - 1 for entry in table if sides[entry["row"] - 1] * scores[entry["row"] - 1] > 1.1]
        if outside:
            raise _core.LinsepError(
                f"these are not the rows of the fit: row {outside[0]} is a support vector of it, and is outside the margin here"
                "\n  help: give X and y as they were fitted, in their order"
            )

    def _recompute(self, what: str, X: Any, y: Any, sample_weight: Any, **more: Any) -> Any:
        self._fitted()
        _weights.refuse(self, what)
        if "_formula" in self.__dict__:
            from ._formula import Written

            # All columns that the fit was given, whichever of them the formula names.
            written = Written(type(self).__name__, X, y, self.__dict__["_formula"])
            given, y = written.features, written.labels
        else:
            given = self._given(X)
        codes = _input.codes_of(y, self.classes_, given.rows)
        ask = getattr(self.model_, what)
        return json.loads(ask(given.x, codes, _input.weights(sample_weight, given.rows), threads(self), **more))

    def separability(self, X: Any, y: Any, sample_weight: Any = None) -> Separability:
        """Whether planes separate the classes in these rows; see `linsep.separability`.

        Returns
        -------
        Separability
        """
        from .separable import separability

        return separability(X, y, sample_weight=sample_weight)

    def plot(self, kind: str, X: Any = None, y: Any = None, **options: Any) -> Picture:
        """A picture of this model; `linsep.plot.kinds()` lists the kinds, `linsep.plot.draw` has the options.

        Parameters
        ----------
        kind : str
        X : array or frame of shape (n_samples, n_features), optional
            Rows; most kinds are drawn of those of the fit.
        y : array of shape (n_samples,), optional

        Returns
        -------
        Picture
            It shows itself in a notebook, `save` writes it, `data()` hands its points over.
        """
        from .plot import draw

        self._fitted()
        _weights.refuse(self, "a picture")
        return draw(kind, self, X, y, **options)

    # -- files ---------------------------------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Writes the model file of the command; `linsep.load` reads it back.

        Parameters
        ----------
        path : str or path
            A name that ends with ``.zst`` is compressed.
        """
        import os

        model = self._fitted()
        _weights.refuse(self, "a model file")
        model.save(os.fspath(path))

    def __getstate__(self) -> dict[str, Any]:
        # The model is kept as the bytes of its file, which skops takes, too; the bound method is made anew.
        state = self.__dict__.copy()
        state.pop("_fast", None)
        if "model_" in state:
            state["model_"] = self.model_.to_json().encode()
        if isinstance(state.get("_running"), _core.Running):
            state["_running"] = list(state["_running"].__reduce__()[1])
        if "_kept_attributes" in state:
            state["_kept_attributes"] = _weights.kept(self)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state.get("_running"), list):
            self.__dict__["_running"] = _core.Running(*state["_running"])
        if "model_" in state:
            if isinstance(state["model_"], bytes):
                self.__dict__["model_"] = _core.Model.from_json(state["model_"].decode())
            self._ready()
            if state["_kept_attributes"]:
                self.__dict__.pop("_fast", None)

    def _repr_html_(self) -> str:
        from ._html import estimator_html

        return estimator_html(self)


class _Mixin:
    """What the classes below find in the estimators that they are part of."""

    model_: _core.Model
    classes_: np.ndarray
    _ask: Any
    _fitted: Any
    _as_given: Any
    _writable: tuple[str, ...]


class Decision(_Mixin):
    """The scores behind the decisions."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: of the second class against the first, or one for every class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        weights = _weights.changed(self)
        if weights is None:
            model, x = self._ask(X)
            scores = model.class_scores(x, threads(self))
        else:
            scores = _weights.scores(self, X, weights)
        return scores.ravel() if scores.shape[1] == 1 else scores


class Probabilities(_Mixin):
    """Methods of classifiers whose scores are log-odds."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        if _weights.changed(self) is not None:
            return np.exp(self.predict_log_proba(X))
        model, x = self._ask(X)
        return model.probabilities(x, threads(self))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities, which stay finite where a probability is too small for a number.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        weights = _weights.changed(self)
        if weights is not None:
            return _weights.log_probabilities(_weights.scores(self, X, weights))
        model, x = self._ask(X)
        if "calibration" in _policies.said(self) or "true_priors" in _policies.said(self):
            with np.errstate(divide="ignore"):
                return np.log(model.probabilities(x, threads(self)))
        return _weights.log_probabilities(model.scores(x, threads(self)))


class LinearAttributes(_Mixin):
    """Attributes of classifiers that are linear in the features."""

    def _fitted_coef(self) -> np.ndarray:
        found = self.model_.coef()
        if found is None:
            raise AttributeError("coef_ is only available where the scores are linear in the features")
        return self._as_given(found)

    def _fitted_intercept(self) -> np.ndarray:
        found = self.model_.intercept()
        if found is None:
            raise AttributeError("intercept_ is only available where the scores are linear in the features")
        return self._as_given(found)

    def _shown(self, name: str, found: np.ndarray) -> np.ndarray:
        """An array that may be changed, which every prediction has to look for then; or one that may not."""
        if name in self._writable:
            self.__dict__.pop("_fast", None)
        else:
            found.flags.writeable = False
        return found

    @fitted_attribute
    def coef_(self) -> np.ndarray:
        """Weights of the features: of the second class against the first, or for every class."""
        return self._shown("coef_", self._fitted_coef())

    @fitted_attribute
    def intercept_(self) -> np.ndarray:
        """Intercepts of the scores."""
        return self._shown("intercept_", self._fitted_intercept())


class WritableWeights(LinearAttributes):
    """Coefficients that may be assigned, changed in place, and kept sparse."""

    _writable: tuple[str, ...] = ("coef_", "intercept_")

    def sparsify(self) -> Self:
        """Keeps ``coef_`` as a sparse matrix, which takes less memory where most weights are zero.

        Returns
        -------
        self
        """
        from scipy.sparse import csr_matrix

        self._fitted()
        self.__dict__["_kept_attributes"]["coef_"] = csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keeps ``coef_`` as an array again, as after a fit.

        Returns
        -------
        self
        """
        self._fitted()
        self.__dict__["_kept_attributes"]["coef_"] = _weights.dense(self.coef_)
        return self


class DensityAttributes(_Mixin):
    """Attributes of generative classifiers."""

    @fitted_attribute
    def _density(self) -> dict[str, Any]:
        text = self.model_.density()
        if text is None:
            raise AttributeError("the model has too many columns to keep its densities")
        return json.loads(text)

    @fitted_attribute
    def class_count_(self) -> np.ndarray:
        """Weight of the training rows of each class."""
        return self.model_.class_counts()
