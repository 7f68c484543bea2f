"""A peer as a server: python bench/peer.py TASK X.npy y.npy --peer NAME [--lambda L --tol T]

The protocol of target/release/examples/bench: load, print `ready`, then for every line `run` do the work once
and print one line of JSON {"seconds", "objective", "accuracy", "gap", "coef", "intercept"}, some of them absent or
null. Only the fit or the prediction is timed; run.py computes the objective from the coefficients.
"""
import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


CLOSED_FORMS = {
    "lda": lambda args: LinearDiscriminantAnalysis(solver=args.peer),
    "qda": lambda args: QuadraticDiscriminantAnalysis(),
    "gnb": lambda args: GaussianNB(var_smoothing=0.0),
    "mnb": lambda args: MultinomialNB(),
    "ridge": lambda args: RidgeClassifier(alpha=1.0, solver=args.peer),
}


def fit(args, x, y):
    make = CLOSED_FORMS[args.task.removesuffix("-fit")]

    def run():
        seconds, model = timed(lambda: make(args).fit(x, y))
        return {"seconds": seconds, "accuracy": float(np.mean(model.predict(x) == y))}
    return run


def predict(args, x, y):
    model = CLOSED_FORMS[args.task.removesuffix("-predict")](args).fit(x, y)

    def run():
        seconds, labels = timed(lambda: model.predict(x))
        return {"seconds": seconds, "accuracy": float(np.mean(labels == y))}
    return run


def logistic(args, x, y):
    def run():
        model = LogisticRegression(C=1 / (args.lam * len(x)), solver=args.peer, tol=args.tol, max_iter=100_000)
        seconds, _ = timed(lambda: model.fit(x, y))
        w, b = model.coef_[0], model.intercept_[0]
        return {"seconds": seconds, "coef": w.tolist(), "intercept": float(b),
                "accuracy": float(np.mean((x @ w + b > 0) == (y == 1))), "iterations": int(model.n_iter_[0])}
    return run


def margin(args, x, y):
    """Support vector machines; the objective is computed here, untimed: wide coefficients would only fill the pipe."""
    squared, penalised = args.task == "sqhinge", args.penalise_intercept
    c, signs = 1 / (args.lam * len(y)), np.where(y == 1, 1.0, -1.0)

    def liblinear():
        # -s 2: trust-region Newton, -s 1: dual, -s 3: dual with the hinge; -R leaves the intercept (-B 1) unpenalised.
        from liblinear.liblinearutil import parameter, problem, train
        solver = {"liblinear-primal": 2, "liblinear-dual": 1 if squared else 3}[args.peer]
        free = "" if penalised else "-R"
        prepared = problem(signs, x, bias=1)
        options = parameter(f"-s {solver} -c {c!r} -e {args.tol!r} -B 1 {free} -q")
        seconds, model = timed(lambda: train(prepared, options))
        w, b = model.get_decfun()
        turn = 1.0 if model.get_labels()[0] == 1 else -1.0
        return seconds, turn * np.array(w), turn * b

    def sklearn():
        from sklearn.svm import SVC, LinearSVC
        if args.peer == "SVC":
            model = SVC(C=c, kernel="linear", tol=args.tol, cache_size=2000)
        else:
            loss = "squared_hinge" if squared else "hinge"
            model = LinearSVC(C=c, loss=loss, dual=args.peer == "LinearSVC-dual", tol=args.tol, max_iter=1_000_000)
        seconds, _ = timed(lambda: model.fit(x, signs))
        w = model.coef_
        w = (w.toarray() if scipy.sparse.issparse(w) else w).ravel()
        return seconds, w, float(np.ravel(model.intercept_)[0])

    def snapml():
        from snapml import SupportVectorMachine
        model = SupportVectorMachine(regularizer=1 / c, fit_intercept=True, intercept_scaling=1.0, n_jobs=2, tol=args.tol,
                                     max_iter=100_000, use_gpu=False)
        seconds, _ = timed(lambda: model.fit(x, signs))
        return seconds, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])

    def run():
        work = liblinear if args.peer.startswith("liblinear") else snapml if args.peer == "snapml" else sklearn
        seconds, w, b = work()
        scores = x[:, :len(w)] @ w + b
        slack = np.maximum(0.0, 1.0 - signs * scores)
        value = np.mean(slack**2 if squared else slack) + args.lam / 2 * (w @ w + (b * b if penalised else 0.0))
        return {"seconds": seconds, "objective": float(value), "accuracy": float(np.mean((scores > 0) == (y == 1)))}
    return run


TASKS = {f"{name}-{what}": work for name in CLOSED_FORMS for what, work in (("fit", fit), ("predict", predict))}
TASKS["logistic"] = logistic
TASKS["hinge"] = TASKS["sqhinge"] = margin


def load(path):
    """A dense array, or a sparse matrix by its column indices, row starts and, where they are not all one, values."""
    if not path.endswith("-indices.npy"):
        return np.load(path)
    indices, starts = np.load(path), np.load(path.replace("-indices.npy", "-starts.npy"))
    shape = (len(starts) - 1, int(indices.max()) + 1)
    stored = Path(path.replace("-indices.npy", "-values.npy"))
    values = np.load(stored) if stored.exists() else np.ones(len(indices))
    return scipy.sparse.csr_matrix((values, indices.astype(np.int32), starts.astype(np.int32)), shape=shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("x")
    parser.add_argument("y")
    parser.add_argument("--peer", required=True)
    parser.add_argument("--lambda", dest="lam", type=float)
    parser.add_argument("--tol", type=float)
    parser.add_argument("--penalise-intercept", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    run = TASKS[args.task](args, load(args.x), np.load(args.y))
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "run":
            print(json.dumps(run()), flush=True)


if __name__ == "__main__":
    main()
