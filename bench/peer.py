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

from lasso import lambda_max, load


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


def solver_of(args):
    """scikit-learn's class, or scikit-learn-intelex's, and the name of the solver."""
    if not args.peer.startswith("intelex-"):
        return LogisticRegression, args.peer
    from sklearnex.linear_model import LogisticRegression as Intelex
    return Intelex, args.peer.removeprefix("intelex-")


def vowpal_wabbit(args, x, y):
    """Vowpal Wabbit by BFGS, the intercept left out of the penalty; its weights are singles.

    The text and the cache of the rows are written before and kept beside the data. What is timed is all passes over the
    cache: Vowpal Wabbit keeps no rows in memory.
    """
    from vowpalwabbit import Workspace
    rows, (n, columns) = scipy.sparse.csr_matrix(x), x.shape
    text, cache = (Path(args.x).with_name(f"{Path(args.x).stem}-vw.{end}") for end in ("txt", "cache"))
    # Names that are numbers are places: with enough bits none collide, not even with the intercept.
    constant, bits = 11650396, max(18, int(columns).bit_length() + 1)
    flags = f"-d {text} --cache_file {cache} -b {bits} --loss_function logistic --holdout_off --quiet"
    if not cache.exists():
        with open(text, "w") as f:
            for i in range(n):
                part = slice(rows.indptr[i], rows.indptr[i + 1])
                cells = " ".join(f"{j}:{v:.9g}" for j, v in zip(rows.indices[part], rows.data[part]))
                f.write(f"{1 if y[i] == 1 else -1} | {cells}\n")
        Workspace(f"{flags} --passes 1 --sgd").finish()

    def fit():
        return Workspace(f"{flags} --passes 1000 --bfgs --l2 {args.lam * n!r} --no_bias_regularization --termination {args.tol!r}")

    def run():
        seconds, work = timed(fit)
        w, b = np.array([work.get_weight(j) for j in range(columns)]), float(work.get_weight(constant))
        work.finish()
        return seconds, w, b
    return run


def logistic(args, x, y):
    if args.peer == "vw-bfgs":
        work = vowpal_wabbit(args, x, y)

        def run_vw():
            seconds, w, b = work()
            return {"seconds": seconds, "coef": w.tolist(), "intercept": b}
        return run_vw
    kind, solver = solver_of(args)

    def run():
        model = kind(C=1 / (args.lam * len(x)), solver=solver, tol=args.tol, max_iter=100_000)
        seconds, _ = timed(lambda: model.fit(x, y))
        w, b = model.coef_[0], model.intercept_[0]
        return {"seconds": seconds, "coef": w.tolist(), "intercept": float(b),
                "accuracy": float(np.mean((x @ w + b > 0) == (y == 1))), "iterations": int(model.n_iter_[0])}
    return run


def liblinear(args, x, y):
    """LIBLINEAR -s 6 with the intercept left out of the penalty."""
    from liblinear.liblinearutil import parameter, problem, train
    rows = problem(np.where(y == 1, 1.0, -1.0), scipy.sparse.csr_matrix(x))

    def fit(lam):
        model = train(rows, parameter(f"-s 6 -c {1 / (lam * x.shape[0])!r} -B 1 -R -e {args.tol!r} -q"))
        w = np.ctypeslib.as_array(model.w, shape=(x.shape[1] + 1,)).copy()
        w = w if model.label[0] == 1 else -w
        return w[:-1], w[-1]
    return fit


def skglm(args, x, y):
    from skglm import SparseLogisticRegression
    x = scipy.sparse.csc_matrix(x) if scipy.sparse.issparse(x) else np.asfortranarray(x)
    share = getattr(args, "share", 1.0)
    model = SparseLogisticRegression(tol=args.tol, l1_ratio=share, max_iter=1000, max_epochs=100_000, warm_start=True)

    # Compiled before it is timed, on rows of the same layout and a penalty that leaves a column in.
    few, labels = x[:50] if scipy.sparse.issparse(x) else np.asfortranarray(x[:50]), np.arange(min(50, x.shape[0])) % 2
    model.alpha = 0.5 * lambda_max(few, labels) / max(share, 1e-3)
    model.fit(few, labels)

    def fit(lam):
        model.alpha = lam
        if not args.task.startswith("path"):
            model.coef_ = None
        model.fit(x, y)
        return model.coef_.ravel().copy(), float(np.ravel(model.intercept_)[0])
    return fit


def sklearn_solver(args, x, y):
    """scikit-learn by the name of its solver; saga for a lasso, others for a ridge."""
    share = 0.0 if args.task == "path-ridge" else 1.0
    model = LogisticRegression(l1_ratio=share, solver=args.peer, tol=args.tol, max_iter=100_000, warm_start=True)

    def fit(lam):
        model.C = 1 / (lam * x.shape[0])
        if not args.task.startswith("path") and hasattr(model, "coef_"):
            del model.coef_
        model.fit(x, y)
        return model.coef_[0].copy(), float(model.intercept_[0])
    return fit


def snapml(args, x, y):
    from snapml import LogisticRegression as SnapLogistic
    x = scipy.sparse.csr_matrix(x, dtype=np.float32) if scipy.sparse.issparse(x) else x.astype(np.float32)

    def fit(lam):
        model = SnapLogistic(penalty="l1", dual=False, regularizer=lam * x.shape[0], tol=args.tol, max_iter=100_000,
                             fit_intercept=True, n_jobs=2)
        model.fit(x, y)
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return fit


SPARSE_FITS = {"liblinear": liblinear, "skglm": skglm, "snapml": snapml}


def lasso(args, x, y):
    fit = SPARSE_FITS.get(args.peer, sklearn_solver)(args, x, y)

    def run():
        seconds, (w, b) = timed(lambda: fit(args.lam))
        entries = [(int(j), float(w[j])) for j in np.flatnonzero(w)]
        return {"seconds": seconds, "entries": entries, "intercept": float(b)}
    return run


def path(args, x, y):
    """100 sizes of the penalty from --lambda down to 1e-4 of it, each started at the last where the peer can."""
    sizes = args.lam * 1e-4 ** (np.arange(100) / 99)
    if args.peer == "adelie":
        return adelie_path(args, x, y, sizes)
    fit = SPARSE_FITS.get(args.peer, sklearn_solver)(args, x, y)

    def run():
        seconds, points = timed(lambda: [fit(lam) for lam in sizes])
        return {"seconds": seconds, "coef": [w.tolist() for w, _ in points], "intercept": [float(b) for _, b in points]}
    return run


def adelie_path(args, x, y, sizes):
    import adelie
    dense = np.asfortranarray(x.toarray() if scipy.sparse.issparse(x) else x)
    share = 0.0 if args.task == "path-ridge" else 1.0

    def run():
        work = lambda: adelie.grpnet(  # noqa: E731
            adelie.matrix.dense(dense, n_threads=2), adelie.glm.binomial(y.astype(float)), lmda_path=sizes, alpha=share,
            tol=args.tol, irls_tol=args.tol, progress_bar=False, early_exit=False, adev_tol=1.0, ddev_tol=0.0)
        seconds, state = timed(work)
        return {"seconds": seconds, "coef": state.betas.toarray().tolist(), "intercept": list(map(float, state.intercepts))}
    return run


def claimed(args, x, y):
    """Ridge logistic regression of many coefficients; the objective is computed here, untimed."""
    c, classes = 1 / (args.lam * len(y)), int(y.max()) + 1

    def liblinear():
        # -s 0: trust-region Newton with a free intercept (-R); -s 7: dual, which penalises it.
        from liblinear.liblinearutil import parameter, problem, train
        prepared = problem(np.where(y == 1, 1.0, -1.0), x, bias=1)
        solver = "-s 0 -R" if args.peer == "liblinear-primal" else "-s 7"
        options = parameter(f"{solver} -c {c!r} -e {args.tol!r} -B 1 -q")
        seconds, model = timed(lambda: train(prepared, options))
        w, b = model.get_decfun()
        turn = 1.0 if model.get_labels()[0] == 1 else -1.0
        return seconds, turn * np.array(w)[None, :x.shape[1]], np.array([turn * b])

    if args.peer == "vw-bfgs":
        work = vowpal_wabbit(args, x, y)

        def vw():
            seconds, w, b = work()
            return seconds, w[None, :], np.array([b])
    kind, solver = solver_of(args)

    def sklearn():
        model = kind(C=c, solver=solver, tol=args.tol, max_iter=100_000)
        seconds, _ = timed(lambda: model.fit(x, y))
        return seconds, model.coef_, model.intercept_

    def run():
        seconds, w, b = liblinear() if args.peer.startswith("liblinear") else vw() if args.peer == "vw-bfgs" else sklearn()
        scores = np.asarray(x @ w.T) + b
        if classes == 2:
            losses = np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * scores[:, 0])
        else:
            top = scores.max(axis=1)
            losses = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - scores[np.arange(len(y)), y]
        return {"seconds": seconds, "objective": float(losses.mean() + args.lam / 2 * (w**2).sum())}
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


def dual(coefficients, support, gamma, c, rows):
    """[Σα − ½ αᵀQα]/(C n) in double precision."""
    from sklearn.metrics.pairwise import rbf_kernel
    squared = sum(coefficients[s:s + 1000] @ rbf_kernel(support[s:s + 1000], support, gamma=gamma) @ coefficients
                  for s in range(0, len(coefficients), 1000))
    return float((np.abs(coefficients).sum() - squared / 2) / (c * rows))


def dual_of(model, gamma, c, rows):
    """The dual, of several classes that of all pairs together, from LIBSVM's layout: of class i the machine against j is
    row j − 1 or j."""
    coefficients, support = np.asarray(model.dual_coef_), np.asarray(model.support_vectors_)
    if len(coefficients) == 1:
        return dual(coefficients[0], support, gamma, c, rows)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    total = 0.0
    for i in range(len(model.n_support_)):
        for j in range(i + 1, len(model.n_support_)):
            of_i, of_j = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            both = np.concatenate([coefficients[j - 1, of_i], coefficients[i, of_j]])
            total += dual(both, np.concatenate([support[of_i], support[of_j]]), gamma, c, rows)
    return total


def rbf(args, x, y):
    """Kernel machines at LIBSVM's ε = 1e-3; linsep, where it takes part here, at the tolerance given."""
    if args.peer == "intelex-SVC":
        from sklearnex.svm import SVC
    elif args.peer == "linsep":
        from linsep import SVC
    else:
        from sklearn.svm import SVC
    tolerance = {"tol": args.tol} if args.peer == "linsep" else {}
    make = lambda: SVC(gamma=args.gamma, C=args.C, cache_size=2000 if args.peer == "SVC-2GB" else args.cache / 1e6, **tolerance)  # noqa: E731
    if args.task == "rbf-predict":
        rows, model = np.load(args.test), make().fit(x, y)
        value = dual_of(model, args.gamma, args.C, len(y))
        return lambda: {"seconds": timed(lambda: model.predict(rows))[0], "dual": value}

    def run():
        seconds, model = timed(lambda: make().fit(x, y))
        return {"seconds": seconds, "dual": dual_of(model, args.gamma, args.C, len(y))}
    return run


def separable(args, x, y):
    """Nobody gives a verdict with a proof; one fit of a support vector machine at LIBLINEAR's own tolerance is what there is."""
    from liblinear.liblinearutil import parameter, problem, train
    prepared = problem(np.where(y == 1, 1.0, -1.0), scipy.sparse.csr_matrix(x), bias=1)

    def run():
        seconds, _ = timed(lambda: train(prepared, parameter("-s 2 -c 1 -B 1 -q")))
        return {"seconds": seconds}
    return run


TASKS = {f"{name}-{what}": work for name in CLOSED_FORMS for what, work in (("fit", fit), ("predict", predict))}
TASKS["logistic"] = logistic
TASKS |= {"lasso": lasso, "path-lasso": path, "path-ridge": path}
TASKS["hinge"] = TASKS["sqhinge"] = margin
TASKS["separable"] = separable
TASKS["rbf-fit"] = TASKS["rbf-predict"] = rbf
TASKS["logistic-wide"] = TASKS["softmax"] = claimed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("x")
    parser.add_argument("y")
    parser.add_argument("--peer", required=True)
    parser.add_argument("--lambda", dest="lam", type=float)
    parser.add_argument("--tol", type=float)
    parser.add_argument("--gamma", type=float)
    parser.add_argument("--C", type=float)
    parser.add_argument("--cache", type=float, help="bytes")
    parser.add_argument("--test", help="rows to predict")
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
