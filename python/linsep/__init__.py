"""Linear classifiers with proofs: scikit-learn's habits over the library and command `linsep`.

Every estimator has scikit-learn's methods and attributes, and beside them what the library proves: ``certificate_``
bounds how far the objective is from its optimum, ``stop_`` says why the fit ended, ``summary()`` prints what the
command prints, and ``save`` writes the command's model file.

>>> import linsep
>>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5], [0.5, 2.0]]
>>> model = linsep.LogisticRegression().fit(X, ["a", "a", "b", "b", "a"])
>>> model.predict([[3.0, 3.0]]).tolist()
['b']
>>> model.stop_
'converged'

Nothing but numpy is needed. Importing this package imports neither scikit-learn nor scipy nor pandas: names are looked
up when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # For type checkers and editors, which do not look names up when they are used.
    from ._core import LinsepError as LinsepError
    from ._core import NoOptimumError as NoOptimumError
    from ._core import NotSeparableError as NotSeparableError
    from ._core import __version__ as __version__
    from ._errors import ConvergenceWarning as ConvergenceWarning
    from ._errors import NotFittedError as NotFittedError
    from ._explain import Explanation as Explanation
    from .crossvalidated import LogisticRegressionCV as LogisticRegressionCV
    from .crossvalidated import RidgeClassifierCV as RidgeClassifierCV
    from .boundaries import Geometry as Geometry
    from .boundaries import geometry as geometry
    from .complement import ComplementNB as ComplementNB
    from .discriminant import GaussianBayes as GaussianBayes
    from .discriminant import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from .discriminant import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
    from .evaluation import Estimate as Estimate
    from .evaluation import Evaluation as Evaluation
    from .evaluation import evaluate as evaluate
    from .inference import Inference as Inference
    from .inference import infer as infer
    from .kernel import SVC as SVC
    from .kernel import HardMarginSVC as HardMarginSVC
    from .kernel import KernelPerceptron as KernelPerceptron
    from .linear import LeastSquaresClassifier as LeastSquaresClassifier
    from .linear import LinearSVC as LinearSVC
    from .linear import LogisticRegression as LogisticRegression
    from .linear import RidgeClassifier as RidgeClassifier
    from .linear import SGDClassifier as SGDClassifier
    from .links import LinkRegression as LinkRegression
    from .links import SigmoidLeastSquares as SigmoidLeastSquares
    from .loaded import FittedModel as FittedModel
    from .loaded import load as load
    from .multiclass import OneVsOneClassifier as OneVsOneClassifier
    from .multiclass import OneVsRestClassifier as OneVsRestClassifier
    from .multilabel import MultiLabelClassifier as MultiLabelClassifier
    from .naive_bayes import BernoulliNB as BernoulliNB
    from .naive_bayes import CategoricalNB as CategoricalNB
    from .naive_bayes import GaussianNB as GaussianNB
    from .naive_bayes import MixedNB as MixedNB
    from .naive_bayes import MultinomialNB as MultinomialNB
    from .naive_bayes import PoissonNB as PoissonNB
    from .path import RegularizationPath as RegularizationPath
    from .path import regularization_path as regularization_path
    from .perceptron import Perceptron as Perceptron
    from .perceptron import PocketPerceptron as PocketPerceptron
    from . import plot as plot
    from .plot import Picture as Picture
    from .search import Comparison as Comparison
    from .search import Tuning as Tuning
    from .search import compare as compare
    from .search import tune as tune
    from .separable import Separability as Separability
    from .simulated import simulate as simulate
    from .separable import separability as separability

_HOMES = {
    "LogisticRegression": "linear",
    "LogisticRegressionCV": "crossvalidated",
    "LeastSquaresClassifier": "linear",
    "RidgeClassifier": "linear",
    "RidgeClassifierCV": "crossvalidated",
    "LinearSVC": "linear",
    "SGDClassifier": "linear",
    "LinkRegression": "links",
    "SigmoidLeastSquares": "links",
    "Perceptron": "perceptron",
    "PocketPerceptron": "perceptron",
    "SVC": "kernel",
    "KernelPerceptron": "kernel",
    "HardMarginSVC": "kernel",
    "LinearDiscriminantAnalysis": "discriminant",
    "QuadraticDiscriminantAnalysis": "discriminant",
    "GaussianBayes": "discriminant",
    "GaussianNB": "naive_bayes",
    "BernoulliNB": "naive_bayes",
    "ComplementNB": "complement",
    "MultinomialNB": "naive_bayes",
    "PoissonNB": "naive_bayes",
    "CategoricalNB": "naive_bayes",
    "MixedNB": "naive_bayes",
    "OneVsOneClassifier": "multiclass",
    "OneVsRestClassifier": "multiclass",
    "tune": "search",
    "Tuning": "search",
    "compare": "search",
    "Comparison": "search",
    "regularization_path": "path",
    "RegularizationPath": "path",
    "MultiLabelClassifier": "multilabel",
    "evaluate": "evaluation",
    "Evaluation": "evaluation",
    "Estimate": "evaluation",
    "geometry": "boundaries",
    "Geometry": "boundaries",
    "separability": "separable",
    "simulate": "simulated",
    "Separability": "separable",
    "infer": "inference",
    "Inference": "inference",
    "Explanation": "_explain",
    "Picture": "plot",
    "load": "loaded",
    "FittedModel": "loaded",
    "LinsepError": "_core",
    "NoOptimumError": "_core",
    "NotSeparableError": "_core",
    "__version__": "_core",
    "NotFittedError": "_errors",
    "ConvergenceWarning": "_errors",
}

__all__ = [name for name in _HOMES if not name.startswith("_")]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if name == "plot":
        from importlib import import_module

        return import_module("linsep.plot")
    if home is None:
        raise AttributeError(f"module 'linsep' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"linsep.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "plot"})
