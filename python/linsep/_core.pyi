"""The extension module: arrays and tables in, models and answers out."""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LinsepError", "Model", "NoOptimumError", "NotSeparableError", "Picture", "Running", "Table", "__version__", "answer_part",
    "as_table", "compare", "defaults", "encode", "evaluate", "explain", "fit", "fit_levels", "fit_partitions", "forgiving",
    "formula_target", "geometry", "infer", "left_out", "load", "online_pass", "path", "plot", "plot_kinds", "save_labels",
    "separability", "simulate", "stated", "tune", "with_label_types",
]
__version__: str

#: A C-contiguous matrix of float64 or float32, CSR arrays `(indptr, indices, data, n_cols)`, a `Table`, or anything
#: with `__arrow_c_stream__`.
_Features = Any

class LinsepError(ValueError):
    """Something that cannot be done with these data or settings; `help` says what can."""

    help: str | None

class NoOptimumError(LinsepError):
    """The objective has no minimum; the message is the proof, and so are the attributes."""

    direction: NDArray[np.float64] | None
    intercept: NDArray[np.float64] | None
    columns: list[str] | list[int] | None
    rows: NDArray[np.int64] | None
    kind: str | None
    classes: list[str] | None

class NotSeparableError(LinsepError):
    """No plane separates the classes; the message is the proof, and so are the attributes."""

    rows: NDArray[np.int64] | None
    witness: dict[str, Any] | None

@final
class Table:
    """Columns by name: arrays of float64 (NaN is missing), or codes (−1 is missing) with their levels."""

    def __new__(
        cls, names: list[str], columns: Sequence[NDArray[np.float64] | tuple[NDArray[np.int64], list[str]]]
    ) -> Table: ...
    def binarized(self, threshold: float) -> Table: ...

@final
class Model:
    """A fitted model: immutable, and safe to share among threads."""

    @property
    def classes(self) -> list[str]: ...
    @property
    def target_is_text(self) -> bool: ...
    @property
    def target(self) -> str: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_scores(self) -> int: ...
    @property
    def input_names(self) -> list[str]: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def takes_arrays(self) -> bool: ...
    @property
    def method(self) -> str: ...
    @property
    def settings(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    @property
    def objective(self) -> float: ...
    @property
    def lambda_(self) -> float | None: ...
    @property
    def formula(self) -> str: ...
    @property
    def iterations(self) -> int: ...
    @property
    def passes(self) -> int: ...
    @property
    def solver(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def has_probabilities(self) -> bool: ...
    @property
    def gap(self) -> float | None: ...
    def bind(self, labels: NDArray[Any]) -> None: ...
    def predict_fast(self, x: Any) -> NDArray[Any] | None: ...
    def predict(self, x: _Features, n_threads: int = 0) -> NDArray[np.int64]: ...
    def scores(self, x: _Features, n_threads: int = 0) -> NDArray[np.float64]: ...
    def class_scores(self, x: _Features, n_threads: int = 0) -> NDArray[np.float64]: ...
    def probabilities(self, x: _Features, n_threads: int = 0) -> NDArray[np.float64]: ...
    def sets(self, x: _Features, level: float | None = None, n_threads: int = 0) -> NDArray[np.bool_]: ...
    def conformal(self) -> str | None: ...
    def distance(self, x: _Features, n_threads: int = 0) -> dict[str, NDArray[Any]]: ...
    def coef(self) -> NDArray[np.float64] | None: ...
    def intercept(self) -> NDArray[np.float64] | None: ...
    def support(self) -> list[tuple[str | None, NDArray[np.int64], NDArray[np.float64]]]: ...
    def density(self) -> str | None: ...
    def priors(self) -> NDArray[np.float64]: ...
    def class_counts(self) -> NDArray[np.float64]: ...
    def summary(self) -> str: ...
    def describe(self) -> str: ...
    def to_json(self) -> str: ...
    @staticmethod
    def from_json(text: str) -> Model: ...
    def save(self, path: str) -> None: ...
    @property
    def label_types(self) -> list[str]: ...
    def verify(
        self, x: _Features, y_codes: NDArray[Any], sample_weight: NDArray[np.float64] | None = None, n_threads: int = 0,
        refit: bool = False,
    ) -> str: ...
    def support_table(
        self, x: _Features, y_codes: NDArray[Any], sample_weight: NDArray[np.float64] | None = None, n_threads: int = 0
    ) -> str: ...

@final
class Running:
    """Sums over rows that arrive in parts, of naive Bayes, Gaussian classes or least squares."""

    def __new__(
        cls,
        method: str,
        settings: str,
        classes: list[str],
        cols: int,
        input_names: list[str] | None = None,
        target_is_text: bool = True,
        state: bytes | None = None,
    ) -> Running: ...
    @property
    def rows(self) -> int: ...
    def add(
        self, x: _Features, y_codes: NDArray[Any], sample_weight: NDArray[np.float64] | None = None, n_threads: int = 0
    ) -> None: ...
    def merge(self, other: Running) -> None: ...
    def model(self, settings: str, seed: int = 0) -> Model: ...
    def weights(self) -> NDArray[np.float64]: ...
    def totals(self) -> NDArray[np.float64] | None: ...
    def overall_variances(self) -> NDArray[np.float64] | None: ...

def fit_levels(
    settings: str,
    classes: list[str],
    names: list[str],
    levels: list[list[str]],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    rows: int,
    *,
    target_is_text: bool = True,
) -> Model: ...
def fit(
    x: _Features,
    y_codes: NDArray[Any],
    classes: list[str],
    method: str,
    settings: str,
    *,
    target: str = "y",
    target_is_text: bool,
    input_names: list[str] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    class_weight: str | Sequence[float] | None = None,
    multiclass: str | None = None,
    vote: str | None = None,
    ties: str | None = None,
    missing: str = "error",
    formula: str | None = None,
    init: Model | None = None,
    random_start: float | None = None,
    n_threads: int = 0,
    time_limit: float | None = None,
    seed: int = 0,
    callback: Callable[[dict[str, Any]], None] | None = None,
    conformal: tuple[float, bool, float] | None = None,
    policies: dict[str, Any] | None = None,
) -> Model: ...
def answer_part(
    x: _Features,
    y_codes: NDArray[Any],
    n_classes: int,
    message: bytes,
    sample_weight: NDArray[np.float64] | None = None,
    n_threads: int = 0,
) -> bytes: ...
def fit_partitions(
    ask: Callable[[bytes], Sequence[bytes]],
    settings: str,
    classes: list[str],
    cols: int,
    *,
    input_names: list[str] | None = None,
    target_is_text: bool = True,
    zero_weight: int = 0,
    init: Model | None = None,
    multiclass: str | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[Model, int]: ...
def path(
    x: _Features,
    y_codes: NDArray[Any],
    classes: list[str],
    settings: str,
    *,
    lambdas: Sequence[float] | None = None,
    n_lambdas: int = 100,
    ratio: float | None = None,
    input_names: list[str] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    n_threads: int = 0,
    time_limit: float | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]: ...
def tune(
    x: _Features,
    y_codes: NDArray[Any],
    classes: list[str],
    candidates: list[dict[str, Any]],
    *,
    target_is_text: bool,
    input_names: list[str] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    folds: int = 5,
    kind: str = "stratified",
    by: NDArray[np.float64] | None = None,
    repeats: int = 1,
    metric: str | None = None,
    rule: str = "least",
    nested: int | None = None,
    missing: str = "error",
    n_threads: int = 0,
    time_limit: float | None = None,
    seed: int = 0,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[str, str, int, bool]: ...
def compare(
    x: _Features,
    y_codes: NDArray[Any],
    classes: list[str],
    *,
    target_is_text: bool,
    input_names: list[str] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    class_weight: None | str | list[float] = None,
    methods: list[str] | None = None,
    folds: int = 10,
    kind: str = "stratified",
    by: NDArray[np.float64] | None = None,
    repeats: int = 1,
    metric: str = "error",
    missing: str = "error",
    n_threads: int = 0,
    time_limit: float | None = None,
    seed: int = 0,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[str, str]: ...
def left_out(
    x: _Features,
    y_codes: NDArray[Any],
    classes: list[str],
    method: str,
    settings: str,
    *,
    sample_weight: NDArray[np.float64] | None = None,
    class_weight: None | str | list[float] = None,
    multiclass: str | None = None,
    n_threads: int = 0,
    time_limit: float | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> NDArray[np.float64]: ...
def separability(
    x: _Features,
    y_codes: NDArray[Any],
    classes: list[str],
    *,
    scope: str | None = None,
    exact: bool = False,
    tol: float | None = None,
    margin_tol: float | None = None,
    input_names: list[str] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    n_threads: int = 0,
    time_limit: float | None = None,
) -> tuple[str, str]: ...
@final
class Picture:
    """A picture as data; files of it are made when they are asked for."""

    @property
    def kind(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def caption(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    def svg(self, width: float, theme: str) -> str: ...
    def encoded(self, path: str, width: float, theme: str) -> bytes: ...
    def json(self) -> str: ...

def infer(
    x: _Features,
    y_codes: NDArray[Any],
    classes: list[str],
    *,
    level: float = 0.95,
    interval: str = "wald",
    covariance: str = "model",
    clusters: list[int] | None = None,
    firth: bool = False,
    tests: list[str] = ...,
    adjust: str | None = None,
    fit_intercept: bool = True,
    effects: bool = False,
    rows: bool = False,
    missing: str = "error",
    formula: str | None = None,
    target: str = "y",
    target_is_text: bool = True,
    input_names: list[str] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    n_threads: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
) -> tuple[str, str, NDArray[np.float64] | None]: ...
def plot_kinds() -> list[tuple[str, str]]: ...
def plot(
    kind: str,
    models: list[Model],
    model_names: list[str],
    features: _Features | None = None,
    *,
    y_codes: NDArray[Any] | None = None,
    classes: list[str] = ...,
    target: str = "y",
    target_is_text: bool = True,
    input_names: list[str] | None = None,
    x: str | None = None,
    y: str | None = None,
    plane: str | None = None,
    at: list[tuple[str, str]] = ...,
    show: list[str] = ...,
    row: int | None = None,
    prior: tuple[float, float] | None = None,
    panels: bool = False,
    n_threads: int = 0,
) -> Picture: ...
def encode(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint32]]: ...
def defaults(method: str) -> str: ...
def formula_target(formula: str) -> str | None: ...
def explain(
    model: Model, x: _Features, n_threads: int = 0
) -> tuple[list[str], list[str], NDArray[np.float64], NDArray[np.float64], str]: ...
def as_table(x: _Features, names: list[str]) -> Table: ...
def load(path: str) -> list[Model]: ...
def forgiving(model: Model) -> Model: ...
def with_label_types(model: Model, types: list[str]) -> Model: ...
def save_labels(models: Sequence[tuple[str, Model]], path: str) -> None: ...
def stated(
    weights: list[list[float]], intercept: list[float], classes: list[str], names: list[str], *, log_odds: bool, target_is_text: bool
) -> Model: ...
def evaluate(
    model: Model,
    x: _Features,
    y_codes: NDArray[Any] | None = None,
    *,
    sample_weight: NDArray[np.float64] | None = None,
    details: bool = False,
    wanted: list[tuple[str, float]] = ...,
    against: Model | None = None,
    replicates: int = 1999,
    seed: int = 0,
    unknown: str | None = None,
    n_threads: int = 0,
) -> tuple[str, str]: ...
def geometry(
    model: Model,
    x: _Features | None = None,
    y_codes: NDArray[Any] | None = None,
    *,
    projection: bool = False,
    mahalanobis: bool = False,
    regions: bool = False,
    window: list[tuple[str, float, float]] | None = None,
    unknown: str | None = None,
    n_threads: int = 0,
) -> tuple[str, str, dict[str, NDArray[Any]] | None]: ...
def online_pass(
    x: _Features,
    y_codes: NDArray[np.int64],
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    order: NDArray[np.int64],
    *,
    loss: str,
    rate: str,
    alpha: float,
    l1_ratio: float,
    penalised: bool,
    eta0: float,
    power: float,
    fit_intercept: bool,
    first_step: float,
    sample_weight: NDArray[np.float64] | None = None,
    class_factors: list[float] | None = None,
) -> None: ...

def simulate(
    parameters: str,
    rows: int | None = None,
    seed: int = 0,
    own: NDArray[Any] | None = None,
    own_names: list[str] | None = None,
) -> tuple[NDArray[Any], NDArray[Any], str]: ...
