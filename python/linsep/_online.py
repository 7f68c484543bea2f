"""``partial_fit`` by gradient steps, for methods whose model is no function of sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input
from ._errors import warn
from ._fit import Training
from ._penalty import one_of, positive
from ._sklearn import UNCHANGED

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from typing_extensions import Self

#: scikit-learn's rates; ``'adaptive'`` changes between epochs, and a part is one.
_RATES = {"optimal": "optimal", "constant": "constant", "adaptive": "constant", "invscaling": "invscaling"}


class Online:
    """Rows in parts, one pass over each: scikit-learn's steps, so that with ``shuffle=False`` the numbers are the same.

    Several classes are one against the rest each. The model proves nothing: `fit` does.
    """

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass of gradient steps over these rows, from where the last one ended.

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
        """
        data = self._online_part(X, y, classes, sample_weight)
        own: dict[str, Any] = self.__dict__
        coef, intercept, steps = self._online_start(data)
        order = np.arange(data.features.rows, dtype=np.int64)
        if self.shuffle:  # type: ignore[attr-defined]
            np.random.default_rng(self._online_seed(steps)).shuffle(order)
        settings = self._online_settings()
        _input.check_finite(data.features.x)
        _core.online_pass(
            data.features.x,
            data.labels.codes.astype(np.int64),
            coef,
            intercept,
            order,
            first_step=float(steps),
            sample_weight=data.weights,
            class_factors=data.class_weight if isinstance(data.class_weight, list) else None,
            **settings,
        )
        names = data.features.names or [f"x{j}" for j in range(data.cols)]
        model = _core.stated(
            coef.tolist(),
            intercept.tolist(),
            data.labels.names,
            names,
            log_odds=settings["loss"] == "log_loss",
            target_is_text=data.labels.are_text,
        )
        self._adopt(model, data)  # type: ignore[attr-defined]
        own["t_"] = float(steps + data.features.rows)
        return self

    def set_partial_fit_request(self, *, classes: Any = UNCHANGED, sample_weight: Any = UNCHANGED) -> Self:
        """Says whether ``partial_fit`` asks a router for ``classes`` and ``sample_weight``: True, False, None or another
        name.

        Returns
        -------
        self
        """
        return self._request("partial_fit", sample_weight, classes=classes)  # type: ignore[attr-defined]

    def _online_settings(self) -> dict[str, Any]:
        """Loss, rate and penalty of a step."""
        raise NotImplementedError

    def _online_seed(self, steps: float) -> list[int]:
        from ._fit import seed

        return [seed(self), int(steps)]

    def _is_online(self) -> bool:
        return "t_" in self.__dict__

    def _online_start(self, data: Training) -> tuple[np.ndarray, np.ndarray, float]:
        """Weights, intercepts and the number of the next step: those of the last pass, of a fit, or the first."""
        own = self.__dict__
        scores = 1 if data.n_classes == 2 else data.n_classes
        if "model_" not in own:
            return np.zeros((scores, data.cols)), np.zeros(scores), 1.0
        coef = np.array(self.coef_, dtype=np.float64)  # type: ignore[attr-defined]
        intercept = np.array(self.intercept_, dtype=np.float64)  # type: ignore[attr-defined]
        return np.ascontiguousarray(coef), intercept, own.get("t_", 1.0 + float(own["model_"].n_rows))

    def _online_part(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Training:
        """Checked rows, with their labels among the classes of the first call."""
        own, name = self.__dict__, type(self).__name__
        if isinstance(self.class_weight, str):  # type: ignore[attr-defined]
            raise ValueError(
                f"class_weight {self.class_weight!r} is not supported for partial_fit: the shares of the classes are known"  # type: ignore[attr-defined]
                " only where all rows are; give a dictionary"
            )
        features = _input.features(X, owner=name)
        if features.is_table:
            raise ValueError("partial_fit takes numbers; text columns are known only where all rows are")
        if "model_" in own:
            known = own["classes_"]
            if classes is not None and not np.array_equal(np.unique(classes), known):
                raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
            fitted = own.get("feature_names_in_")
            _input.check_names(name, None if fitted is None else fitted.tolist(), features.names)
            if features.cols != own["n_features_in_"]:
                raise ValueError(
                    f"X has {features.cols} features, but {name} is expecting {own['n_features_in_']} features as input."
                )
        else:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            known, _ = _input.encode(np.asarray(classes))
            if known.size < 2:
                raise ValueError(f"The number of classes has to be greater than one; got {known.size} class")
        codes = _input.codes_of(y, known, features.rows, "The target label(s) {} in y do not exist in the initial classes")
        factors = _input.class_weights(self.class_weight, known)  # type: ignore[attr-defined]
        labels = _input.Labels(known, codes, *_input.class_names(known))
        return Training(X, features, labels, _input.weights(sample_weight, features.rows), factors)

    def verify(self, X: Any, y: Any, sample_weight: Any = None, refit: Any = False) -> dict[str, Any]:
        """Recomputes what the model claims; see `Estimator.verify`. After `partial_fit` it claims nothing.

        Returns
        -------
        dict
        """
        if self._is_online():
            raise _core.LinsepError("steps of partial_fit prove nothing\n  help: fit all rows at once, and verify that")
        return super().verify(X, y, sample_weight, refit)  # type: ignore[misc]


def rate_of(estimator: Any) -> tuple[str, float]:
    """The rate of the steps, and the first one where it is given."""
    word = one_of(estimator.learning_rate, "learning_rate", _RATES)
    if estimator.learning_rate == "adaptive":
        warn("learning_rate='adaptive' changes between epochs; partial_fit is one epoch, and its steps are eta0")
    eta0 = 0.0
    if word != "optimal":
        eta0 = positive(estimator.eta0, "eta0")
    return word, eta0


def normalised(scores: np.ndarray) -> np.ndarray:
    """Probabilities of classes that were fitted one against the rest each: their shares, as in scikit-learn."""
    with np.errstate(over="ignore"):
        found = 1.0 / (1.0 + np.exp(-scores))
    total = found.sum(axis=1, keepdims=True)
    # Rows that no class wants belong to all of them alike.
    return np.where(total > 0, found / np.where(total > 0, total, 1.0), 1.0 / found.shape[1])
