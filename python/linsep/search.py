"""Searches over settings, and comparisons of methods, on the same folds."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input
from ._fit import thread_count, training
from ._folds import splits

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from ._base import Estimator

#: scikit-learn's names of metrics, of which more is better; here all are losses.
_METRICS = {
    "accuracy": "error",
    "balanced_accuracy": "balanced_error",
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier",
    "roc_auc": "one_less_auc",
    "neg_mean_squared_error": "squared_error",
}


def _by_rows(folds: Any, groups: Any, time: Any, codes: np.ndarray) -> dict[str, Any]:
    """How rows are divided, in the words of the extension."""
    rows = codes.size
    if sum(said is not None for said in (groups, time)) > 1:
        raise ValueError("groups and time say two different things about the rows: give one of them")
    if groups is not None:
        _, found = np.unique(_input.flat(groups, rows), return_inverse=True)
        return {"kind": "groups", "by": found.ravel().astype(float), "folds": _count(folds)}
    if time is not None:
        return {"kind": "time", "by": _times(_input.flat(time, rows)), "folds": _count(folds)}
    if isinstance(folds, str):
        if folds not in ("loo", "leave-one-out"):
            raise ValueError(f"folds must be a number, 'loo', numbers of folds for every row, or a splitter; got {folds!r}")
        return {"kind": "loo"}
    if isinstance(folds, (int, np.integer)):
        return {"kind": "stratified", "folds": int(folds)}
    if hasattr(folds, "split"):
        found = np.full(rows, -1.0)
        for at, (learn, test) in enumerate(splits(folds, codes)):
            if learn.size + test.size != rows or np.any(found[test] >= 0):
                raise ValueError("folds must hold every row out once and learn from all others: use KFold or the like")
            found[test] = at
        return {"kind": "folds", "by": found}
    _, found = np.unique(_input.flat(folds, rows), return_inverse=True)
    return {"kind": "folds", "by": found.ravel().astype(float)}


def _count(folds: Any) -> int:
    if not isinstance(folds, (int, np.integer)):
        raise ValueError(f"with groups or time, folds must be a number; got {folds!r}")
    return int(folds)


def _times(said: np.ndarray) -> np.ndarray:
    found = np.asarray(said)
    if found.dtype.kind == "M":
        found = found.astype("datetime64[ns]").astype(np.int64)
    return np.ascontiguousarray(found, dtype=float)


class Tuning:
    """What a search came to.

    Attributes
    ----------
    best_params : dict
        The settings that were chosen.
    best_estimator : estimator
        Fitted to all rows with them; None with ``refit=False``.
    best_loss : float
        Their mean loss over the folds, which flatters them: they are the best of several.
    metric, rule : str
    trials : list of dict
        ``params``, ``mean``, ``se``, and ``folds``, the loss in each fold (not kept where rows are left out one by one).
    nested : dict or None
        The search as a whole, judged by folds that it never saw: ``mean``, ``se``, ``folds``.
    incomplete : bool
        Whether ``budget`` left settings untried.
    """

    def __init__(self, text: str, details: dict[str, Any], trials: list[dict[str, Any]], best: int, incomplete: bool) -> None:
        self._text = text
        self.trials = trials
        self.best_params: dict[str, Any] = trials[best]["params"]
        self.best_loss: float = trials[best]["mean"]
        self.best_estimator: Any = None
        self.metric: str = details["metric"]
        self.rule: str = details["rule"]
        self.nested: dict[str, Any] | None = details["nested"]
        self.incomplete = incomplete
        self._best = best

    def to_frame(self) -> Any:
        """The trials as a pandas frame: a column for every setting, ``mean``, ``se``, and whether it was chosen."""
        import pandas as pd

        lines = [{**t["params"], "mean": t["mean"], "se": t["se"]} for t in self.trials]
        frame = pd.DataFrame(lines)
        frame["chosen"] = np.arange(len(lines)) == self._best
        return frame

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Tuning({len(self.trials)} trials, best {self.best_params}, {self.metric} {self.best_loss:.6g})"


def _combinations(grid: Any) -> list[dict[str, Any]]:
    several = [grid] if isinstance(grid, dict) else list(grid)
    found = []
    for one in several:
        for name, values in one.items():
            if isinstance(values, str) or not hasattr(values, "__iter__"):
                raise ValueError(f"the values of {name!r} must be a list; got {values!r}")
            if not len(list(values)):
                raise ValueError(f"the grid has no values of {name!r}")
        found += [dict(zip(one, values)) for values in itertools.product(*one.values())]
    if not found:
        raise ValueError("the grid is empty: there is nothing to try")
    return found


def tune(
    estimator: Estimator,
    grid: Any,
    X: Any,
    y: Any,
    *,
    folds: Any = 5,
    groups: Any = None,
    time: Any = None,
    repeats: Any = 1,
    metric: Any = None,
    rule: Any = "least",
    trials: Any = None,
    nested: Any = None,
    missing: Any = "error",
    sample_weight: Any = None,
    refit: Any = True,
    budget: Any = None,
    callback: Any = None,
    n_jobs: Any = None,
    random_state: Any = 0,
) -> Tuning:
    """Finds the parameters of an estimator that predict best, by folds; all learning happens inside them.

    Values of ``C`` that differ in nothing else are solved along one path in every fold.

    Parameters
    ----------
    estimator : estimator of linsep
    grid : dict of lists, or a list of such
        Values of parameters, in all combinations.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    folds : int, 'loo', array of shape (n_samples,) or splitter, default=5
        Number of folds, drawn class by class; ``'loo'`` leaves out every row in turn, by a formula for least squares and LDA; an
        array has the fold of every row; a splitter of scikit-learn must hold every row out once.
    groups : array of shape (n_samples,), optional
        Rows of one group are never in two folds.
    time : array of shape (n_samples,), optional
        Folds in this order: each is judged by fits to the rows before it.
    repeats : int, default=1
        How often the rows are dealt out anew.
    metric : str, optional
        ``'log_loss'``, ``'error'``, ``'balanced_error'``, ``'brier'``, ``'one_less_auc'``, ``'squared_error'`` (least squares), or
        scikit-learn's name of the same; the log loss where there are probabilities, else the error.
    rule : {'least', 'one_standard_error'}, default='least'
        The least mean loss, or the smallest ``C`` within one standard error of it.
    trials : int, optional
        Try so many of the combinations, drawn by ``random_state``.
    nested : int, optional
        Folds around the whole search, for an honest figure.
    missing : {'error', 'drop', 'mean'}, default='error'
        Missing cells of a frame.
    sample_weight : array of shape (n_samples,), optional
    refit : bool, default=True
        Fit the best to all rows.
    budget : float, optional
        Seconds after which the best of what was tried is taken.
    callback : callable, optional
        Called with a dictionary after every fold (``kind`` is ``'fold'``, ``done``, ``total``); an exception ends the search.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int, default=0

    Returns
    -------
    Tuning

    Examples
    --------
    >>> import linsep
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.5], [1.5, 0.2], [0.5, 0.9], [2.5, 0.1], [0.2, 0.3]]
    >>> found = linsep.tune(linsep.LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, X, [0, 0, 1, 1, 1, 0, 1, 0], folds=2)
    >>> found.best_params, len(found.trials), found.metric
    ({'C': 10.0}, 3, 'log_loss')
    """
    combinations = _combinations(grid)
    if trials is not None:
        if int(trials) < 1:
            raise ValueError("trials must be at least 1")
        drawn = np.random.default_rng(int(random_state)).permutation(len(combinations))[: int(trials)]
        combinations = [combinations[at] for at in sorted(drawn)]
    own = estimator.get_params(deep=False)
    tried = []
    for combination in combinations:
        unknown = [name for name in combination if name not in own]
        if unknown:
            raise ValueError(f"{type(estimator).__name__} has no parameter {unknown[0]!r}; it has {', '.join(own)}")
        tried.append(type(estimator)(**{**own, **combination}))
    data = training(estimator, X, y, sample_weight)
    candidates = []
    for one, combination in zip(tried, combinations):
        class_weight = _input.class_weights(getattr(one, "class_weight", None), data.labels.classes)
        scheme = one._scheme(data.n_classes) if data.n_classes > 2 else {}
        said = [(name, _said(value)) for name, value in combination.items()]
        settings = json.dumps(one._settings(data))
        candidates.append({"said": said, "method": one._method_for(data), "settings": settings, "class_weight": class_weight, **scheme})
    given = estimator._prepare(data.features, fitting=True)
    text, found, best, incomplete = _core.tune(
        given.x,
        data.labels.codes,
        data.labels.names,
        candidates,
        target_is_text=data.labels.are_text,
        input_names=None if given.is_table else given.names,
        sample_weight=data.weights,
        repeats=int(repeats),
        metric=_METRICS.get(metric, metric),
        rule={"one-se": "one_standard_error"}.get(rule, rule),
        nested=None if nested is None else int(nested),
        missing=missing,
        n_threads=thread_count(n_jobs),
        time_limit=budget,
        seed=int(random_state),
        callback=callback,
        **_by_rows(folds, groups, time, data.labels.codes),
    )
    details = json.loads(found)
    lines = [_trial(line, combinations) for line in details["trials"]]
    answer = Tuning(text, details, lines, best, incomplete)
    if refit:
        answer.best_estimator = type(estimator)(**{**own, **answer.best_params}).fit(X, y, sample_weight)
    return answer


def _said(value: Any) -> str:
    return repr(float(value)) if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else repr(value)


def _trial(line: dict[str, Any], combinations: list[dict[str, Any]]) -> dict[str, Any]:
    """A trial with the parameters as they were given."""
    settings = line["settings"]

    def same(name: str, value: Any) -> bool:
        found = settings.get(name)
        return found == value if isinstance(found, float) and _is_number(value) else found == _said(value)

    params = next((c for c in combinations if all(same(name, value) for name, value in c.items())), settings)
    return {"params": params, "mean": line["mean"], "se": line["se"], "folds": line["folds"]}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


class Comparison:
    """Methods on the same folds.

    Attributes
    ----------
    methods : list of dict
        The best first: ``name``, ``mean``, ``low``, ``high``, ``p_vs_best``, ``worse``, ``fit_s``, ``tune_s``, ``predict_s``, ``size``,
        ``ties_with``, ``folds``, ``settings`` and others.
    finding : str
        What can be said, in a sentence.
    left_out : list of dict
        Methods that could not take part, and why.
    metric : str
    """

    def __init__(self, text: str, details: dict[str, Any]) -> None:
        self._text = text
        self.details = details
        self.methods: list[dict[str, Any]] = details["methods"]
        self.finding: str = details["finding"]
        self.left_out: list[dict[str, Any]] = details["left_out"]
        self.metric: str = details["metric"]

    def to_frame(self) -> Any:
        """The methods as a pandas frame, the best first."""
        import pandas as pd

        columns = ["name", "mean", "low", "high", "p_vs_best", "worse", "fit_s", "tune_s", "predict_s", "size", "baseline"]
        return pd.DataFrame([{name: method[name] for name in columns} for method in self.methods])

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Comparison({len(self.methods)} methods, best {self.methods[0]['name']})"


def compare(
    X: Any,
    y: Any,
    *,
    methods: Any = None,
    folds: Any = 10,
    groups: Any = None,
    time: Any = None,
    repeats: Any = 1,
    metric: Any = "error",
    missing: Any = "error",
    class_weight: Any = None,
    sample_weight: Any = None,
    budget: Any = None,
    callback: Any = None,
    n_jobs: Any = None,
    random_state: Any = 0,
) -> Comparison:
    """Which classifier should be used: all that apply on the same folds, each tuned inside them, and what can be said of them.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    methods : list of str, optional
        Names of methods, as ``linsep compare --help`` lists them; all that apply unless given. The majority class and the best
        single column are always among them.
    folds, groups, time, repeats, missing, sample_weight, callback, n_jobs, random_state
        As in `linsep.tune`; rows are not left out one by one.
    metric : str, default='error'
        As in `linsep.tune`; methods without probabilities take part in ``'error'`` and ``'balanced_error'`` only.
    class_weight : dict or 'balanced', optional
    budget : float, optional
        Seconds after which what was tried is compared.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import linsep
    >>> X = [[i % 7, i % 11] for i in range(60)]
    >>> found = linsep.compare(X, [int(i % 7 > 3) for i in range(60)], methods=["lda"], folds=3)
    >>> [method["name"] for method in found.methods]
    ['single-column', 'lda', 'majority']
    """
    given = _input.features(X, owner="compare")
    labels = _input.labels(y, given.rows, "compare")
    divided = _by_rows(folds, groups, time, labels.codes)
    if divided["kind"] == "loo":
        raise ValueError("a comparison takes folds of several rows: their losses have to vary less than single rows do")
    text, found = _core.compare(
        given.x,
        labels.codes,
        labels.names,
        target_is_text=labels.are_text,
        input_names=None if given.is_table else given.names,
        sample_weight=_input.weights(sample_weight, given.rows),
        class_weight=_input.class_weights(class_weight, labels.classes),
        methods=None if methods is None else [str(name) for name in methods],
        repeats=int(repeats),
        metric=_METRICS.get(metric, metric),
        missing=missing,
        n_threads=thread_count(n_jobs),
        time_limit=budget,
        seed=int(random_state),
        callback=callback,
        **divided,
    )
    return Comparison(text, json.loads(found))
