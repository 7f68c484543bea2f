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


TASKS = {f"{name}-{what}": work for name in CLOSED_FORMS for what, work in (("fit", fit), ("predict", predict))}
TASKS["logistic"] = logistic


def load(path):
    """A dense array, or a sparse matrix of ones by its column indices and row starts."""
    if not path.endswith("-indices.npy"):
        return np.load(path)
    indices, starts = np.load(path), np.load(path.replace("-indices.npy", "-starts.npy"))
    shape = (len(starts) - 1, int(indices.max()) + 1)
    return scipy.sparse.csr_matrix((np.ones(len(indices)), indices.astype(np.int32), starts.astype(np.int32)), shape=shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("x")
    parser.add_argument("y")
    parser.add_argument("--peer", required=True)
    parser.add_argument("--lambda", dest="lam", type=float)
    parser.add_argument("--tol", type=float)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    run = TASKS[args.task](args, load(args.x), np.load(args.y))
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "run":
            print(json.dumps(run()), flush=True)


if __name__ == "__main__":
    main()
