"""Whatever goes wrong is said in Python's words: keywords, classes, rows from 0, and never a flag of the command.

The bad-input table of the command (``crates/linsep-cli/tests/bad_input.rs``) is the list of what can go wrong. Every case of
it is either here, or among those that cannot happen in Python.
"""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import ROOT

import linsep
from linsep import _core, _fit

FLAG = re.compile(r"--[A-Za-z]")

PAIR = pd.DataFrame({"x": [1.0, 2, 3, 2, 4, 3, 5, 2], "kind": list("abaabbaa")})
Y = np.array(["no", "no", "yes", "no", "yes", "no", "yes", "yes"])
X = PAIR[["x"]].to_numpy()
THREE = np.array([[1.0, 1], [2, 1], [3, 2], [4, 1], [5, 3], [6, 5], [2, 3], [4, 4]])
Z = np.array(list("aabbccbc"))
APART = (np.array([[0.0, 1], [1, 0], [4, 5], [5, 4]]), np.array(list("aabb")))
OVERLAP = (np.array([[1.0, 2], [1, 2], [3, 1]]), np.array(list("abb")))


def raw(estimator, X=X, y=Y, scheme=None, **settings):
    """A fit with settings of the model file, past the checks of the estimator's own parameters."""
    data = _fit.training(estimator, X, y, None)
    return _fit.fitted(estimator, data, scheme, {**estimator._settings(data), **settings})


def weighted(weights, estimator=None):
    return (estimator or linsep.LogisticRegression()).fit(X, Y, sample_weight=weights)


def counts(values, estimator, y=("a", "a", "b", "b")):
    return estimator.fit(np.array(values, dtype=float).reshape(len(y), -1), list(y))


def saved(tmp_path, change=lambda text: text):
    path = tmp_path / "m.json"
    linsep.LogisticRegression().fit(X, Y).save(path)
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def edited(text):
    at = text.index('"intercept_at_centre":[')
    at = text.index(".", at) + 1
    return text[:at] + ("8" if text[at] == "7" else "7") + text[at + 1 :]


def starts(first, second, **data):
    """A fit that starts from another model."""
    start = raw(first, **data)
    given = _fit.training(second, X, Y, None)
    return _core.fit(
        np.ascontiguousarray(X), given.labels.codes, given.labels.names, second._method_for(given),
        json.dumps(second._settings(given)), target_is_text=True, init=start,
    )


L = linsep.LogisticRegression
NB = linsep.MixedNB

#: What to do, by the name of the command's case; where it is no error, what is said is returned.
CASES = {
    # conformal_sets
    "sets that are always right": lambda t: L().fit(X, Y, conformal=1),
    "no rows held back": lambda t: L().fit(X, Y, conformal=0.9, conformal_share=0),
    "a share of sets that are not asked for": lambda t: L().fit(X, Y, conformal_share=0.3),
    "sets of weighted rows": lambda t: L().fit(X, Y, sample_weight=np.r_[2.0, np.ones(7)], conformal=0.9),
    "a class held back as a whole": lambda t: L().fit(THREE, Z, conformal=0.9, conformal_share=0.9),
    "sets of a model without": lambda t: L().fit(X, Y).predict_set(X),
    # class_weights_and_starts
    "a weight of an unknown class": lambda t: L(class_weight={"maybe": 2}).fit(X, Y),
    "a negative class weight": lambda t: L(class_weight={"yes": -1}).fit(X, Y),
    "a class weight that is no number": lambda t: L(class_weight={"yes": np.nan}).fit(X, Y),
    "a class without weight": lambda t: weighted(np.where(Y == "yes", 0.0, 1.0)),
    "a class weight without a class": lambda t: L(class_weight=3).fit(X, Y),
    "a start for a closed form": lambda t: starts(L(), linsep.LinearDiscriminantAnalysis()),
    "a start with other columns": lambda t: starts(L(), L(), X=PAIR, y=Y),
    "a start with fewer columns": lambda t: starts(L(), L(), X=np.column_stack([X, X**2]), y=Y),
    "a start that is not linear": lambda t: starts(NB(default="gamma"), L()),
    "a start with other classes": lambda t: starts(L(), L(), X=X, y=np.where(Y == "no", "a", "b")),
    # stochastic
    "no rows in a batch": lambda t: raw(linsep.SGDClassifier(), stochastic={"batch": 0, "step": None, "seed": 0}),
    "a step back": lambda t: raw(linsep.SGDClassifier(), stochastic={"batch": 1, "step": -1.0, "seed": 0}),
    "stochastic maximum likelihood": lambda t: raw(L(C=np.inf), algorithm="svrg"),
    "a column without a penalty, by drawn rows": lambda t: raw(L(), algorithm="sgd", factors=[0.0]),
    # separability
    "one class to separate": lambda t: linsep.separability([[1.0], [2.0]], ["a", "a"]),
    "no such scope": lambda t: linsep.separability(THREE, Z, scope="both"),
    "identical rows with different labels": lambda t: str(linsep.separability(*OVERLAP)),
    "all rows equal": lambda t: str(linsep.separability([[1.0], [1.0], [1.0]], list("aab"))),
    # sigmoid
    "Gauss–Newton for a convex risk": lambda t: L(solver="gauss-newton").fit(X, Y),
    # columns_and_classes
    "solver of another method": lambda t: linsep.LeastSquaresClassifier(solver="newton").fit(X, Y),
    "solver of least squares for logistic": lambda t: L(solver="qr").fit(X, Y),
    "newton for the hinge": lambda t: linsep.LinearSVC(loss="hinge", solver="newton").fit(X, Y),
    "dual coordinate descent for logistic": lambda t: L(solver="dual-cd").fit(X, Y),
    "interior points for the squared hinge": lambda t: linsep.LinearSVC(solver="interior-point").fit(X, Y),
    "hinge without a penalty on a column": lambda t: raw(linsep.LinearSVC(loss="hinge"), factors=[0.0]),
    "γ = 0": lambda t: raw(linsep.SVC(), kernel={"name": "rbf", "gamma": 0.0}),
    "C = 0": lambda t: raw(linsep.SVC(), penalty={"ridge_cost": 0.0}),
    "C and a penalty": lambda t: linsep.LinearSVC(C=2, lam=1).fit(X, Y),
    "C that leaves no penalty": lambda t: linsep.SVC(C=1e308).fit(X, Y),
    "a kernel that overflows": lambda t: linsep.SVC(kernel="poly", gamma=1e300).fit(X, Y),
    "a kernel without a penalty": lambda t: linsep.SVC(C=np.inf).fit(X, Y),
    "a cache of no size": lambda t: linsep.SVC(cache_size="lots").fit(X, Y),
    "too little cache": lambda t: raw(linsep.SVC(), cache=8),
    "kernel of three classes at once": lambda t: raw(linsep.SVC(), THREE, Z, {"multiclass": "joint"}),
    "a precomputed kernel that is not square": lambda t: linsep.SVC(kernel="precomputed").fit(X, Y),
    "a precomputed kernel that is not symmetric": lambda t: linsep.SVC(kernel="precomputed").fit([[1, 0.5], [0.25, 1]], ["u", "v"]),
    "hinge without a penalty": lambda t: linsep.LinearSVC(loss="hinge", C=np.inf).fit(X, Y),
    "±1 for three classes": lambda t: linsep.LeastSquaresClassifier(targets="plus-minus").fit(THREE, Z),
    "a penalised intercept without a penalty, least squares": lambda t: raw(linsep.LeastSquaresClassifier(), intercept="penalised"),
    "a ridge that is not positive, least squares": lambda t: raw(linsep.LeastSquaresClassifier(), penalty={"ridge": 0.0}),
    "probabilities of least squares": lambda t: linsep.LeastSquaresClassifier().fit(X, Y).predict_proba(X),
    "one class": lambda t: L().fit([[1.0], [2.0]], ["a", "a"]),
    "missing cells refused": lambda t: L().fit(PAIR.assign(x=[np.nan, *PAIR["x"][1:]]), Y),
    "too many levels": lambda t: L().fit(pd.DataFrame({"x": [f"level{i}" for i in range(101)]}), [str(i % 2) for i in range(101)]),
    # values
    "infinite feature": lambda t: L().fit(np.where(X == 5, np.inf, X), Y),
    "a column of 1e300": lambda t: L().fit(X * 1e300, Y),
    "1e300 for LDA": lambda t: linsep.LinearDiscriminantAnalysis().fit(X * 1e300, Y),
    "singular within classes": lambda t: linsep.LinearDiscriminantAnalysis().fit([[0.0, 1], [0, 2], [1, 3], [1, 5]], list("aabb")),
    # weights
    "infinite weight": lambda t: weighted([np.inf, *[1] * 7]),
    "NaN weight": lambda t: weighted([np.nan, *[1] * 7]),
    "negative weight": lambda t: weighted([-1, *[1] * 7]),
    "all weights zero": lambda t: weighted(np.zeros(8)),
    "weights of text": lambda t: weighted(list("abababab")),
    # prediction
    "prediction without columns": lambda t: L().fit(PAIR, Y).predict(PAIR[["x"]]),
    "text where the model expects numbers": lambda t: L().fit(PAIR, Y).predict(PAIR.assign(x=list("abcdefgh"))),
    "unknown level refused": lambda t: L().fit(PAIR, Y).predict(PAIR.assign(kind="c")),
    "infinite value at prediction": lambda t: L().fit(PAIR, Y).predict(PAIR.assign(x=np.inf)),
    # model_files
    "truncated model": lambda t: linsep.load(saved(t, lambda text: text[: len(text) * 2 // 3])),
    "edited model": lambda t: linsep.load(saved(t, edited)),
    "model of an unknown version": lambda t: linsep.load(saved(t, lambda text: text.replace('"version":1', '"version":99', 1))),
    "a table as model": lambda t: linsep.load(saved(t, lambda text: "x,y\n1,a\n")),
    "other JSON as model": lambda t: linsep.load(saved(t, lambda text: '{"a": 1}')),
    "model not found": lambda t: linsep.load(t / "nowhere.json"),
    "model into no directory": lambda t: L().fit(X, Y).save(t / "no" / "such" / "m.json"),
    # settings
    "lasso of zero": lambda t: raw(L(), penalty={"elastic_net": {"l1_ratio": 1.0, "lambda": 0.0}}),
    "lasso by Newton": lambda t: L(l1_ratio=1.0, solver="newton").fit(X, Y),
    "ridge by proximal Newton": lambda t: L(solver="proximal-newton").fit(X, Y),
    "hinge with a lasso": lambda t: linsep.LinearSVC(loss="hinge", l1_ratio=1.0).fit(X, Y),
    "path of the hinge": lambda t: linsep.regularization_path(X, Y, loss="hinge"),
    "no λ": lambda t: linsep.regularization_path(X, Y, n_lambdas=0),
    "negative λ": lambda t: linsep.regularization_path(X, Y, lambdas=[0.1, -1]),
    "ratio of two": lambda t: linsep.regularization_path(X, Y, ratio=2),
    "negative ridge": lambda t: raw(L(), penalty={"ridge": -1.0}),
    "shrinkage of two": lambda t: linsep.LinearDiscriminantAnalysis(shrinkage=2).fit(X, Y),
    "priors that do not sum to one": lambda t: linsep.QuadraticDiscriminantAnalysis(priors=[0.5, 0.6]).fit(X, Y),
    "prior of a class missing": lambda t: linsep.LinearDiscriminantAnalysis(priors=[0.5]).fit(X, Y),
    "tolerance of zero": lambda t: L(tol=0).fit(X, Y),
    "time limit of minus one": lambda t: L(time_limit=-1).fit(X, Y),
    # naive_bayes
    "a count that is not whole": lambda t: counts([1, 2.5, 3, 4], NB(default="poisson")),
    "a negative count": lambda t: counts([1, -2, 3, 4], NB(default="multinomial")),
    "neither 0 nor 1": lambda t: counts([0, 1, 2, 1], NB(default="bernoulli")),
    "more successes than trials": lambda t: counts([1, 2, 5, 1], NB(default="binomial:3")),
    "a LIBSVM count that is not whole": lambda t: NB(default="poisson").fit(scipy.sparse.csr_matrix([[1, 0.5], [2, 1]]), ["a", "b"]),
    "a negative LIBSVM count": lambda t: NB(default="multinomial").fit(scipy.sparse.csr_matrix([[1, -0.5], [2, 1]]), ["a", "b"]),
    "a class of one row": lambda t: raw(NB(var_smoothing=0), [[1.0], [2.0], [3.0]], list("aab")),
    "a column that is constant within a class": lambda t: counts([1, 1, 3, 4], NB(var_smoothing=0)),
    "a share of zero without smoothing": lambda t: raw(NB(default="bernoulli"), [[0.0], [0.0], [0.0], [1.0]], list("aabb"), smoothing=0.0),
    "a gamma column at prediction": lambda t: NB(default="gamma").fit(X, Y).predict([[-1.0]]),
    "unknown family": lambda t: NB(default="normal").fit(X, Y),
    "family of an unknown column": lambda t: NB(families={"zebra": "poisson"}).fit(PAIR, Y),
    "family of a text column": lambda t: NB(families={"kind": "poisson"}).fit(PAIR, Y),
    "categorical numbers": lambda t: NB(families={"x": "categorical"}).fit(PAIR, Y),
    "negative smoothing": lambda t: raw(NB(), smoothing=-1.0),
    "naive Bayes priors that do not sum to one": lambda t: NB(class_prior=[0.5, 0.6]).fit(X, Y),
    # multiclass
    "scores that break ties of scores": lambda t: raw(linsep.LinearSVC(), THREE, Z, {"multiclass": "linear-machine", "ties": "scores"}),
    "ties of a joint fit": lambda t: raw(L(), THREE, Z, {"multiclass": "joint", "ties": "first"}),
    "a vote without pairs": lambda t: raw(linsep.LinearSVC(), THREE, Z, {"multiclass": "linear-machine", "vote": "majority"}),
    "an interior point of three classes at once": lambda t: linsep.LinearSVC(
        loss="hinge", multi_class="crammer_singer", solver="interior-point").fit(THREE, Z),
    "priors of two-class fits": lambda t: linsep.OneVsRestClassifier(
        linsep.LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5])).fit(THREE, Z),
    "one class of several": lambda t: linsep.OneVsOneClassifier(L()).fit([[1.0], [2.0]], ["a", "a"]),
    "a class of one row in a fit that needs two": lambda t: linsep.OneVsOneClassifier(
        linsep.QuadraticDiscriminantAnalysis()).fit([[1.0], [2], [3], [4], [5]], list("aabbc")),
    # perceptrons
    "a perceptron of three classes": lambda t: raw(linsep.Perceptron(), THREE, Z, {"multiclass": "joint"}),
    "a pocket of three classes": lambda t: raw(linsep.PocketPerceptron(), THREE, Z, {"multiclass": "joint"}),
    "a step of zero": lambda t: raw(linsep.PocketPerceptron(), step=0.0),
    "no epochs": lambda t: raw(linsep.Perceptron(), max_epochs=0),
    "a penalised intercept of a perceptron": lambda t: raw(linsep.Perceptron(), intercept="penalised"),
    "probabilities of a pocket": lambda t: linsep.PocketPerceptron().fit(X, Y).predict_proba(X),
    "a hard margin between three classes at once": lambda t: raw(linsep.HardMarginSVC(), THREE, Z, {"multiclass": "joint"}),
    "a tolerance of no hard margin": lambda t: raw(linsep.HardMarginSVC(), *APART, tolerance=2.0),
    "support vectors of a logistic model": lambda t: L().fit(X, Y).support_table(X, Y),
}

#: Cases that Python cannot make, by the function of the table that has them (`None` for all of it).
NOT_HERE = {
    "formats": None,  # Python reads no tables.
    "cells": None,  # The same.
    "lines_and_endings": None,  # The same.
    "formulas": None,  # test_formula.py has those of frames.
    "indicators_and_label_lists": None,  # Of files, and of formulas.
    "workbooks": None,  # Python reads no tables.
    "pictures": None,  # test_pictures.py has those that Python can make.
    "geometry": None,  # Of files and flags.
    "transforms_and_bases": None,  # scikit-learn's own transformers make features.
    "simulation": None,
    "other_inference": None,  # Of the command and of Rust.
    "resampling": None,  # The same.
    "studies": None,  # studies, and what inference by the command alone has
    "conformal_sets": ["sets of all rows under other priors"],  # Priors of new rows are of the command.
    "decisions": None,  # Thresholds and costs are scikit-learn's.
    "sigmoid": [  # There is no such estimator.
        "one sigmoid for three classes", "a lasso of sigmoid outputs", "a solver that sigmoid-ls has not", "restarts of a convex risk",
        "a penalised intercept without a penalty, sigmoid-ls", "a tolerance of nothing, sigmoid-ls",
    ],
    "class_weights_and_starts": [
        "two weights of a class", "a start that is not there",
        # Updates are of the command; partial_fit is theirs here.
        "statistics of a method without sums", "an update without rows", "an update of a model without sums",
    ],
    # Parameters that belong to no such estimator are a TypeError of Python's own.
    "stochastic": ["a step of Newton's", "a batch of Newton's", "a batch of one row at a time", "a batch of LDA's"],
    "separability": ["offsets of a separability", "a margin tolerance of zero", "no such target to separate", "a class with one row",
                     "a tolerance of separability above one"],
    "columns_and_classes": [
        "missing target", "target far from every name", "standardising independent columns", "targets of another method",
        "γ without a kernel", "degree of another kernel", "a solver with a kernel", "tolerance of a closed form",
        "least squares with offsets", "no target", "no label at all", "a class emptied by dropping rows", "no complete row",
        "target with missing cells", "a level that only a dropped row has", "features name the target", "unknown feature",
        "unknown column to drop", "nothing left", "unknown positive class", "a measurement as target",
    ],
    "values": ["bad number in a numeric column", "bad number in a forced column", "offset count", "offset missing", "offset of text"],
    "weights": ["missing weight", "no such weights"],
    "prediction": [
        "unknown level refused when asked", "unknown level filled in", "unknown level as missing", "unknown level as zero",
        "column to keep is not there", "output into no directory", "unknown class", "evaluation without target",
        "LIBSVM for a CSV model", "output over input",
        # Files in each other's place, flags, shells and manual pages.
        "a table in the place of a model", "a model in the place of a table", "a model as training rows", "a flag of another tool",
        "a shell that is not known", "a manual page that is not there", "manual pages into nowhere", "no weights to show",
        # Explanations and descriptions are of the command and of Rust.
        "an explanation of no columns", "an explanation of some columns", "explanations beside probabilities",
        "a row before the first", "a row behind the last", "a row without an explanation",
        "a row that misses a cell cannot be explained", "describing a target that is not there", "describing nothing",
    ],
    "workbooks": None,
    "model_files": ["damaged compressed model"],
    "settings": [
        "path of no penalty", "path with a size", "path of lda", "path by a solver", "no column penalised", "path over itself",
        "path into nowhere", "ridge in words", "prior of an unknown class", "prior without number", "LDA with offset",
        "LDA with penalty", "logistic with shrinkage", "one fold", "a thousand folds", "class with one row and folds", "unknown flag",
        "unknown method",
    ],
    "naive_bayes": [
        "a fault after a dropped row", "a fault in a fold", "a multinomial of frequencies",
        "a class of one row with a shared variance", "two families for all", "family for logistic regression",
        "penalty for naive Bayes",
    ],
    "multiclass": [
        "ties of two classes", "a vote of two classes", "ties of a model of two classes", "a vote of a joint model",
        "a vote of calibrated pairs", "a class that no score against the rest speaks for", "an approach that is none",
        "offsets of two-class fits", "costs of two-class fits", "rejection by two-class fits", "a start of two-class fits",
        "the squared hinge of three classes at once",
    ],
    "perceptrons": [
        "offsets of a perceptron", "a penalty for an algorithm", "a tolerance for an algorithm", "a pocket without one",
        "batches of a pocket", "an order of draws", "an order of batches", "one temperature is all that three classes have",
        "folds of no calibration", "more folds than rows", "one fold", "a class of one row cannot be held out",
        "scores that say nothing", "true priors without probabilities", "true priors of a model without probabilities",
        "true priors that do not sum to one", "a true prior of zero", "a class without a true prior", "a true prior of no class",
        "a class with two true priors", "a true prior that is no number", "priors and true priors", "a hard margin with a penalty",
        "a hard margin with offsets", "support vectors of another table", "no number of support vectors", "costs of a pocket",
        "an order of nothing",
    ],
}


def test_every_case_of_the_command_is_here_or_cannot_happen():
    text = (ROOT / "crates" / "linsep-cli" / "tests" / "bad_input.rs").read_text(encoding="utf-8")
    places = re.compile(r'^fn (\w+)\(|\b(?:bad|usage|fine|answer)\(\s*"((?:[^"\\]|\\.)*)"|^\s*name: "([^"]*)"', re.M)
    function, faults, seen = "", [], set()
    for found in places.finditer(text):
        function = found.group(1) or function
        name = found.group(2) or found.group(3)
        if name is None:
            continue
        seen.add(name)
        absent = NOT_HERE.get(function, [])
        if name not in CASES and absent is not None and name not in absent:
            faults.append(f"{function}: {name}")
    assert len(seen) > 250
    assert not faults, "neither driven nor said to be impossible:\n" + "\n".join(faults)
    assert not [name for name in CASES if name not in seen], "no such case of the command"


@pytest.mark.parametrize("name", CASES)
def test_no_case_names_a_flag(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            said = CASES[name](tmp_path)
        except Exception as error:
            assert not isinstance(error, (NameError, RuntimeError, KeyError)), repr(error)
            said = f"{error}\n{getattr(error, 'help', None) or ''}"
    assert isinstance(said, str), "nothing was refused"
    assert not FLAG.search(said), said
    assert "missing field" not in said and "unknown variant" not in said, f"the test is wrong: {said}"


@pytest.mark.parametrize("call, words", [
    (lambda: linsep.LinearSVC(loss="hinge", l1_ratio=1.0).fit(X, Y), ['use loss="squared_hinge", or l1_ratio=0']),
    (lambda: L(solver="dual-cd").fit(X, Y), ['solver="dual-cd" cannot minimise', 'solver="newton"']),
    (lambda: raw(linsep.Perceptron(), THREE, Z, {"multiclass": "joint"}), ["OneVsOneClassifier", "LogisticRegression"]),
    (lambda: counts([1, 1, 3, 4], NB(var_smoothing=0)), ["var_smoothing=1e-9", "GaussianNB(shared=True)", "drop the column"]),
    (lambda: counts([[1, 2], [2, 2.5], [3, 1], [4, 1]], NB(default="poisson")), ["row 1: column `x1` is 2.5", "another family (families=)"]),
    (lambda: NB(default="poisson").fit(scipy.sparse.csr_matrix([[1, 0.5], [2, 1]]), ["a", "b"]), ["row 0: column 1 is 0.5"]),
    (lambda: linsep.SVC(kernel="precomputed").fit([[1, 0.5], [0.25, 1]], ["u", "v"]), ["row 0 has 0.5", "row 1 has 0.25"]),
    (lambda: linsep.QuadraticDiscriminantAnalysis().fit([[1.0], [2], [3], [4], [5]], list("aabbc")), ["use LinearDiscriminantAnalysis"]),
    (lambda: L().fit(PAIR, Y).predict(PAIR.assign(x=[*PAIR["x"][:7], np.inf])), ["row 7, column `x`"]),
])
def test_remedies_are_keywords_and_classes_and_rows_count_from_zero(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_the_remedy_of_an_unknown_level_is_a_keyword():
    with pytest.raises(linsep.LinsepError) as caught:
        L().fit(PAIR, Y).predict(PAIR.assign(kind="c"))
    assert "known levels: a, b" in caught.value.help and 'unknown="zero"' in caught.value.help


def test_a_file_that_is_not_there_is_pythons_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        linsep.load(tmp_path / "nowhere.json")
    with pytest.raises(FileNotFoundError):
        L().fit(X, Y).save(tmp_path / "no" / "such" / "m.json")
    with pytest.raises(OSError):
        linsep.load(tmp_path)


ANSWERS = {
    "no optimum": lambda: L(C=np.inf).fit(*APART),
    "no optimum of a path": lambda: linsep.regularization_path(*APART, lambdas=[0.0]),
    "not separable": lambda: linsep.Perceptron(on_overlap="error").fit(*OVERLAP),
    "no margin": lambda: linsep.HardMarginSVC().fit(*OVERLAP),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_said_in_pythons_words(name):
    with pytest.raises(ValueError) as caught:
        ANSWERS[name]()
    said = str(caught.value)
    assert not FLAG.search(said) and "was written" not in said, said


def test_no_optimum_names_the_penalty():
    with pytest.raises(linsep.NoOptimumError, match="A penalty always has an optimum: a finite C"):
        L(C=np.inf).fit(*APART)


def test_verdicts_count_rows_from_zero_and_name_classes():
    overlap = linsep.separability(*OVERLAP)
    assert "row 0" in str(overlap) and "LinearSVC" in str(overlap) and "PocketPerceptron" in str(overlap)
    apart = linsep.separability(*APART)
    assert "HardMarginSVC" in str(apart)
    rng = np.random.default_rng(5)
    many = linsep.separability(rng.normal(size=(60, 12)), rng.integers(0, 3, 60).astype(str))
    for verdict in (overlap, apart, many):
        assert not FLAG.search(str(verdict)), str(verdict)


def test_summaries_and_notes_name_no_flag():
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(40, 6))
    wide = np.column_stack([wide, wide, np.ones((40, 12))])
    y = np.where(wide[:, 0] + 0.5 * rng.normal(size=40) > 0, "a", "b")
    three = rng.integers(0, 3, 40).astype(str)
    models = [
        L().fit(wide, y), linsep.LinearSVC().fit(wide, three), linsep.OneVsOneClassifier(L()).fit(wide, three),
        linsep.Perceptron(variant="averaged", max_iter=2).fit(*APART), linsep.LinearDiscriminantAnalysis().fit(wide[:, :6], y),
        linsep.SVC(kernel="sigmoid").fit(wide[:, :6], y), linsep.PocketPerceptron().fit(wide[:, :6], y),
    ]
    for model in models:
        for text in (model.summary(), str(model.model_.describe())):
            assert not FLAG.search(text), text
