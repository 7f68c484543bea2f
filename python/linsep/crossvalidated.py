"""Estimators that choose the size of their penalty by cross-validation."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np

from . import _core
from ._base import Decision, Estimator, Probabilities, WritableWeights
from ._fit import Training, fitted, observer, thread_count, threads, training, warn_unless_converged
from ._folds import product, splits, take
from ._habits import logistic_combination
from ._lazy import fitted_attribute
from ._params import Parameters
from ._penalty import flag, gap_of, not_negative, one_of, positive, whole, yes_no
from ._sklearn import SklearnFace
from .linear import _INTERCEPTS, _SOLVERS, RidgeClassifier, _risk


class _Point(SklearnFace, Parameters):
    """A point of a path as a classifier, for scorers."""

    def __init__(self, classes: Any = None) -> None:
        self.classes = classes

    @classmethod
    def at(cls, classes: np.ndarray, coef: np.ndarray, intercept: np.ndarray, probabilities: bool) -> _Point:
        found = cls(classes)
        found.classes_ = classes
        found.coef_, found.intercept_ = coef, intercept
        if probabilities:
            found.predict_proba = found._probabilities
        return found

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    predict_proba: Any

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> np.ndarray:
        scores = product(X, self.coef_) + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _probabilities(self, X: Any) -> np.ndarray:
        from ._weights import log_probabilities

        scores = self.decision_function(X)
        return np.exp(log_probabilities(scores.reshape(len(scores), -1)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(np.average(self.predict(X) == y, weights=sample_weight))


def _scorer(scoring: Any) -> Callable[..., float]:
    """What is called with an estimator, rows and labels."""
    if scoring is None or scoring == "accuracy":
        return lambda estimator, X, y, **weights: estimator.score(X, y, **weights)
    if callable(scoring):
        return scoring
    from sklearn.metrics import get_scorer

    return get_scorer(scoring)


def _side_by_side(work: Callable[[Any, Callable[..., None]], Any], tasks: list[Any], jobs: int, tell: Any) -> list[Any]:
    """Does all tasks, in as many threads of Python as there are cores: the extension leaves the interpreter alone."""
    stopped = Event()

    def step(news: Any) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        if tell is not None:
            tell(news)

    with ThreadPoolExecutor(max_workers=max(1, min(len(tasks), jobs))) as pool:
        pending = [pool.submit(work, task, step) for task in tasks]
        try:
            return [future.result() for future in pending]
        except BaseException:
            # What is under way ends at its next step.
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class LogisticRegressionCV(WritableWeights, Probabilities, Decision, Estimator):
    """Logistic regression whose ``C`` (and ``l1_ratio``) are chosen by cross-validation.

    In every fold all ``C`` are solved along one path, each from the one before, with a certificate; the best is fitted to all rows.

    Parameters
    ----------
    Cs : int or list of float, default=10
        Values of ``C``, or how many of them from 1e-4 to 1e4.
    l1_ratios : list of float, default=(0.0,)
        Shares of the lasso: 0 is ridge, 1 is the lasso.
    fit_intercept : bool, default=True
    cv : int, splitter or iterable of (train, test), default=None
        Folds; None is five. A number of folds is dealt out class by class in the order of the rows, as scikit-learn does.
    dual : bool, default=False
        No effect, as in `LogisticRegression`.
    scoring : str or callable, optional
        What is compared, as in scikit-learn, more being better; the share of right predictions unless said.
    solver : str, default='auto'
        As in `LogisticRegression`; it is that of the last fit, paths have their own.
    tol : float, default=1e-4
        As in `LogisticRegression`.
    max_iter : int, optional
    class_weight : dict or 'balanced', optional
    n_jobs : int, optional
    verbose : bool or callable, default=0
    refit : bool, default=True
        Only True: coefficients that are means over folds are the optimum of nothing.
    intercept_scaling : float, default=1
        No effect: the intercept is not penalised.
    random_state : int, optional
        No effect: nothing is drawn.
    standardize : bool, default=False
        Whether the penalty acts on standardised columns; their units are those of the rows learned from, in every fold.
    time_limit : float, optional
        Seconds of each fit.

    Attributes
    ----------
    C_, l1_ratio_ : float
        What was chosen.
    Cs_, l1_ratios_ : arrays
    scores_ : array of shape (n_folds, n_l1_ratios, n_Cs)
    coefs_paths_ : array of shape (n_folds, n_l1_ratios, n_Cs, n_scores, n_features + 1)
        Coefficients in every fold; the last column holds the intercepts.
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        The proof of the last fit, why it ended, the value of the objective, and the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: several classes are softmax; attributes are numbers and arrays as by its
    ``use_legacy_attributes=False``; of equal scores the strongest penalty is taken, which is scikit-learn's rule where ``Cs`` rise.

    Examples
    --------
    >>> from linsep import LogisticRegressionCV
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.5], [1.5, 0.2], [0.5, 0.9], [2.5, 0.1], [0.2, 0.3]]
    >>> model = LogisticRegressionCV(Cs=[0.1, 1.0, 10.0], cv=2).fit(X, [0, 0, 1, 1, 1, 0, 1, 0])
    >>> model.C_, model.scores_.shape
    (0.1, (2, 1, 3))
    """

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = (0.0,),
        fit_intercept: Any = True,
        cv: Any = None,
        dual: Any = False,
        scoring: Any = None,
        solver: Any = "auto",
        tol: Any = 1e-4,
        max_iter: Any = None,
        class_weight: Any = None,
        n_jobs: Any = None,
        verbose: Any = 0,
        refit: Any = True,
        intercept_scaling: Any = 1,
        random_state: Any = None,
        standardize: Any = False,
        time_limit: Any = None,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.standardize = standardize
        self.time_limit = time_limit

    def _sizes(self) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self.Cs, (int, np.integer)) and not isinstance(self.Cs, bool):
            costs = np.logspace(-4, 4, whole(self.Cs, "Cs", least=1))
        else:
            costs = np.array([positive(c, "Cs") for c in self.Cs], dtype=float)
        shares = np.array([0.0] if self.l1_ratios is None else [float(a) for a in self.l1_ratios])
        if not costs.size or not shares.size:
            raise ValueError("Cs and l1_ratios must have at least one value")
        if not np.all((shares >= 0) & (shares <= 1)):
            raise ValueError(f"l1_ratios must be a list of numbers between 0 and 1; got {self.l1_ratios!r}")
        return costs, shares

    def _settings(self, training: Training | None) -> dict[str, Any]:
        own = self.__dict__
        return self._settings_of(own["C_"], own["l1_ratio_"], training)

    def _settings_of(self, cost: float, share: float, training: Training | None) -> dict[str, Any]:
        algorithm = one_of(self.solver, "solver", _SOLVERS)
        if training is not None:
            logistic_combination(self.solver, share, False, self.dual, training.n_classes)
        said = {"elastic_net": {"l1_ratio": share, "lambda": None, "cost": cost}} if share > 0 else {"ridge_cost": cost}
        return _risk(self, "logistic", said, algorithm)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegressionCV:  # type: ignore[override]
        """Chooses by cross-validation and fits to all rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of numbers of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if not flag(self.refit, "refit"):
            raise ValueError("refit=False is not to be had: means of coefficients over folds are the optimum of nothing")
        costs, shares = self._sizes()
        data = training(self, X, y, sample_weight)
        if data.features.is_table:
            raise TypeError("LogisticRegressionCV takes matrices and frames of numbers; linsep.tune takes frames with text")
        self._settings_of(float(costs[0]), float(shares[0]), data)
        folds = splits(self.cv, data.labels.codes)
        tell = observer(self)
        tasks = [(fold, share) for fold in folds for share in shares]
        score = _scorer(self.scoring)

        def work(task: Any, step: Callable[..., None]) -> tuple[np.ndarray, np.ndarray]:
            (learn, test), share = task
            return self._in_fold(data, learn, test, (costs, float(share)), score, step)

        try:
            found = _side_by_side(work, tasks, threads(self) or thread_count(-1) or _cores(), tell)
        finally:
            if hasattr(tell, "close"):
                tell.close()
        shape = (len(folds), shares.size)
        scores = np.array([s for s, _ in found]).reshape(*shape, costs.size)
        paths = np.array([p for _, p in found])
        mean = scores.mean(axis=0)
        at_share, at_cost = _best(mean, costs)
        own = self.__dict__
        own["C_"], own["l1_ratio_"] = float(costs[at_cost]), float(shares[at_share])
        self._adopt(fitted(self, data), data)
        own["Cs_"], own["l1_ratios_"], own["scores_"] = costs, shares, scores
        own["coefs_paths_"] = paths.reshape(*shape, *paths.shape[1:])
        warn_unless_converged(self)
        return self

    def _in_fold(
        self,
        data: Training,
        learn: np.ndarray,
        test: np.ndarray,
        sizes: tuple[np.ndarray, float],
        score: Callable[..., float],
        step: Callable[..., None],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores at all C, and coefficients with intercepts."""
        costs, share = sizes
        codes, classes = data.labels.codes[learn], data.labels.classes
        present = np.bincount(codes, minlength=classes.size)
        if not np.all(present):
            missing = classes[int(np.argmin(present))]
            raise ValueError(f"without a fold no row of class {missing!r} is left to learn from: choose fewer folds")
        plain = None if data.weights is None else data.weights[learn]
        weights = _class_weighted(data.class_weight, codes, plain, classes.size)
        total = float(learn.size if weights is None else weights.sum())
        order = np.argsort(costs, kind="stable")
        settings = self._settings_of(1.0, share, None)
        settings["algorithm"] = "auto"
        settings.pop("stochastic", None)
        path = _core.path(
            take(data.features.x, learn),
            np.ascontiguousarray(codes),
            data.labels.names,
            json.dumps(settings),
            lambdas=(1.0 / (costs[order] * total)).tolist(),
            sample_weight=None if weights is None else np.ascontiguousarray(weights),
            n_threads=threads(self),
            time_limit=self.time_limit,
            callback=step,
        )
        coefs, intercepts = path["coefs"], path["intercepts"]
        if len(coefs) < costs.size:
            raise _core.LinsepError("time_limit came before every C was tried in every fold; allow more seconds")
        held, truth = take(data.features.x, test), classes[data.labels.codes[test]]
        extra = {} if data.weights is None else {"sample_weight": data.weights[test]}
        scores, kept = np.empty(costs.size), np.empty((costs.size, coefs.shape[1], coefs.shape[2] + 1))
        for at, place in enumerate(order):
            point = _Point.at(classes, coefs[at], intercepts[at], True)
            scores[place] = score(point, held, truth, **extra)
            kept[place] = np.column_stack([coefs[at], intercepts[at]])
        return scores, kept

    @fitted_attribute
    def n_iter_(self) -> np.ndarray:
        """Iterations of the last fit."""
        return np.array([max(1, self.model_.iterations)], dtype=np.int32)


def _cores() -> int:
    import os

    return os.cpu_count() or 1


def _best(mean: np.ndarray, costs: np.ndarray) -> tuple[int, int]:
    """Place of the largest mean; of equal ones the first share of the lasso and the least C."""
    if np.isnan(mean).all():
        raise ValueError("no score is a number: choose another scoring, or fewer folds")
    top = np.nanmax(mean)
    share = int(np.flatnonzero((mean == top).any(axis=1))[0])
    places = np.flatnonzero(mean[share] == top)
    return share, int(places[np.argmin(costs[places])])


def _class_weighted(said: Any, codes: np.ndarray, weights: np.ndarray | None, classes: int) -> np.ndarray | None:
    """Weights of rows, those of their classes multiplied in; balanced ones are of these rows."""
    if said is None:
        return weights
    plain = np.ones(codes.size) if weights is None else weights
    if isinstance(said, str):
        totals = np.bincount(codes, weights=plain, minlength=classes)
        factors = totals.sum() / (classes * totals)
    else:
        factors = np.asarray(said, dtype=float)
    return plain * factors[codes]


class RidgeClassifierCV(WritableWeights, Decision, Estimator):
    """`RidgeClassifier` whose ``alpha`` is chosen by leaving out every row in turn, exactly by a formula, or by folds.

    Parameters
    ----------
    alphas : list of float, default=(0.1, 1.0, 10.0)
    fit_intercept : bool, default=True
    scoring : str or callable, optional
        What is compared, more being better; unless said, the negative mean squared error of the scores on targets ±1 where rows are
        left out, and the share of right predictions with folds.
    cv : int, splitter or iterable of (train, test), optional
        Folds; None leaves out every row in turn, without fitting again.
    class_weight : dict or 'balanced', optional
        Balanced weights change with every row that is left out, so that each takes a fit.
    store_cv_results : bool, default=False
        Keep the squared errors (or, with ``scoring``, the scores) of every row.
    standardize : bool, default=False
    n_jobs : int, optional
    verbose : bool or callable, default=0
    time_limit : float, optional

    Attributes
    ----------
    alpha_, best_score_ : float
    cv_results_ : array of shape (n_samples, n_scores, n_alphas)
        With ``store_cv_results`` and ``cv=None``.
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    certificate_, stop_, objective_, model_
        The proof, why the fit ended, the value of the objective divided by Σs, the library's model.

    Notes
    -----
    Differences from scikit-learn on purpose: those of `RidgeClassifier`; without an intercept, one-hot targets of several classes
    are another problem than its targets of ±1.

    Examples
    --------
    >>> from linsep import RidgeClassifierCV
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.5], [1.5, 0.2], [0.5, 0.9]]
    >>> RidgeClassifierCV().fit(X, [0, 0, 1, 1, 1, 0]).alpha_
    1.0
    """

    _method = "least-squares"

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: Any = True,
        scoring: Any = None,
        cv: Any = None,
        class_weight: Any = None,
        store_cv_results: Any = False,
        standardize: Any = False,
        n_jobs: Any = None,
        verbose: Any = 0,
        time_limit: Any = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit

    def _alone(self, alpha: float) -> RidgeClassifier:
        return RidgeClassifier(
            alpha, fit_intercept=self.fit_intercept, class_weight=self.class_weight, standardize=self.standardize,
            n_jobs=self.n_jobs, time_limit=self.time_limit,
        )

    def _closed(self, alpha: float) -> dict[str, Any]:
        return {
            "penalty": {"ridge_cost": 1.0 / alpha} if alpha > 0 else "none",
            "intercept": _INTERCEPTS[flag(self.fit_intercept, "fit_intercept")],
            "standardize": yes_no(self.standardize),
            "tolerance": gap_of(1e-4),
        }

    def _method_for(self, training: Training) -> str:
        return self._alone(self.__dict__["alpha_"])._method_for(training)

    def _settings(self, training: Training) -> dict[str, Any]:
        return self._alone(self.__dict__["alpha_"])._settings(training)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RidgeClassifierCV:  # type: ignore[override]
        """Chooses alpha and fits to all rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of numbers of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        alphas = np.atleast_1d(np.array([not_negative(a, "alphas") for a in np.ravel(self.alphas)], dtype=float))
        if not alphas.size:
            raise ValueError("alphas must have at least one value")
        if flag(self.store_cv_results, "store_cv_results") and self.cv is not None:
            raise ValueError("cv!=None and store_cv_results=True are incompatible")
        data = training(self, X, y, sample_weight)
        if data.features.is_table:
            raise TypeError("RidgeClassifierCV takes matrices and frames of numbers; linsep.tune takes frames with text")
        own = self.__dict__
        own.pop("cv_results_", None)
        if self.cv is None:
            scores, kept = self._left_out(data, alphas)
        else:
            scores, kept = self._by_folds(data, alphas), None
        best = int(np.nanargmax(scores))
        own["alpha_"], own["best_score_"] = float(alphas[best]), float(scores[best])
        self._adopt(fitted(self, data), data)
        if kept is not None and self.store_cv_results:
            own["cv_results_"] = kept
        warn_unless_converged(self)
        return self

    def _left_out(self, data: Training, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes, classes = data.labels.codes, data.labels.classes
        scorer = None if self.scoring is None else _scorer(self.scoring)
        extra = {} if data.weights is None else {"sample_weight": data.weights}
        found, kept = [], []
        for alpha in alphas:
            scores = _core.left_out(
                data.features.x, codes, data.labels.names, "least-squares", json.dumps(self._closed(float(alpha))),
                sample_weight=data.weights, class_weight=data.class_weight, n_threads=threads(self),
                time_limit=self.time_limit,
            )
            if classes.size == 2:
                targets = np.where(codes == 1, 1.0, -1.0)[:, None]
            else:
                # scikit-learn's targets of several classes are ±1, ours one-hot.
                scores, targets = 2.0 * scores - 1.0, np.where(codes[:, None] == np.arange(classes.size), 1.0, -1.0)
            if scorer is None:
                errors = (targets - scores) ** 2
                found.append(-float(np.average(errors, axis=0, weights=data.weights).mean()))
                kept.append(errors)
            else:
                point = _Point.at(classes, np.eye(scores.shape[1]), np.zeros(scores.shape[1]), False)
                found.append(float(scorer(point, scores, classes[codes], **extra)))
                kept.append(scores)
        return np.array(found), np.stack(kept, axis=-1)

    def _by_folds(self, data: Training, alphas: np.ndarray) -> np.ndarray:
        score, classes = _scorer(self.scoring), data.labels.classes
        folds = splits(self.cv, data.labels.codes)
        found = np.empty((len(folds), alphas.size))
        for at, (learn, test) in enumerate(folds):
            rows, held = take(data.features.x, learn), take(data.features.x, test)
            weights = None if data.weights is None else np.ascontiguousarray(data.weights[learn])
            for place, alpha in enumerate(alphas):
                model = _core.fit(
                    rows, np.ascontiguousarray(data.labels.codes[learn]), data.labels.names, "least-squares",
                    json.dumps(self._closed(float(alpha))), target_is_text=data.labels.are_text, sample_weight=weights,
                    class_weight=data.class_weight, n_threads=threads(self), time_limit=self.time_limit,
                )
                point = _Point.at(classes, model.coef(), model.intercept(), False)
                extra = {} if data.weights is None else {"sample_weight": data.weights[test]}
                found[at, place] = score(point, held, classes[data.labels.codes[test]], **extra)
        return found.mean(axis=0)
