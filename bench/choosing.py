"""Choosing settings: cross-validated paths, values of C, and comparisons of methods, against the same work elsewhere.

    python bench/choosing.py [--only lasso,costs,compare] [--rounds 3] [--data ../shared/data]

prints one JSON object per task: {"task", "linsep_s", "peer", "peer_s", "ratio", "load"}; load is that of the machine before the
task, 0 on an idle one. Both sides run in turn with two threads or jobs on the same folds; medians of the rounds.
R's glmnet (Debian: r-cran-glmnet) is timed inside R, without reading its data.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import linsep

TWO = 2


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def race(task, ours, peer, theirs, rounds):
    """Both in turn; `theirs` returns its own seconds, or is timed here."""
    load = os.getloadavg()[0]
    pairs = []
    for _ in range(rounds):
        own = timed(ours)
        start = time.perf_counter()
        said = theirs()
        pairs.append((own, said if isinstance(said, float) else time.perf_counter() - start))
    own, other = (float(np.median([pair[i] for pair in pairs])) for i in (0, 1))
    found = {"task": task, "linsep_s": round(own, 3), "peer": peer, "peer_s": round(other, 3), "ratio": round(other / own, 2)}
    print(json.dumps({**found, "load": round(load, 1)}), flush=True)


def spam(data):
    import pandas as pd

    frame = pd.read_csv(data / "small/kernlab_spam.csv")
    return frame.drop(columns="type").to_numpy(float), frame["type"].to_numpy(str)


def sparse_file(path):
    from sklearn.datasets import load_svmlight_file

    if path.suffix == ".zst":
        with tempfile.NamedTemporaryFile(suffix=".svm") as plain:
            subprocess.run(["zstd", "-dqfo", plain.name, str(path)], check=True)
            return load_svmlight_file(plain.name)
    return load_svmlight_file(str(path))


GLMNET = """
suppressMessages({library(glmnet); library(Matrix)})
given <- commandArgs(TRUE)
x <- as(readMM(file.path(given[1], "x.mtx")), "CsparseMatrix")
if (given[2] == "dense") x <- as.matrix(x)
y <- scan(file.path(given[1], "y.txt"), quiet = TRUE); fold <- scan(file.path(given[1], "fold.txt"), quiet = TRUE)
cat(system.time(cv.glmnet(x, y, family = "binomial", foldid = fold, nlambda = 100, lambda.min.ratio = 1e-4))["elapsed"])
"""


def lasso(name, X, y, rounds):
    """Five folds, 100 sizes of a lasso, standardised columns."""
    from scipy.io import mmwrite
    from scipy.sparse import csr_matrix, issparse

    codes = (y == np.unique(y)[1]).astype(int)
    fold = np.random.default_rng(0).permutation(np.arange(len(y)) % 5)
    top = linsep.regularization_path(X, codes, n_lambdas=1, standardize=True).lambdas[0]
    sizes = top * 1e-4 ** (np.arange(100) / 99)

    def ours():
        def one(at):
            learn, test = np.flatnonzero(fold != at), np.flatnonzero(fold == at)
            path = linsep.regularization_path(X[learn], codes[learn], lambdas=sizes, standardize=True, tol=1e-7)
            scores = X[test] @ path.coefs[:, 0].T + path.intercepts[:, 0]
            return np.logaddexp(0, np.where(codes[test] == 1, -1, 1)[:, None] * scores).mean(axis=0)

        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(TWO) as pool:
            return np.mean(list(pool.map(one, range(5))), axis=0).argmin()

    if shutil.which("Rscript") is None:
        print(json.dumps({"task": name, "left out": "there is no Rscript"}))
        return
    with tempfile.TemporaryDirectory() as folder:
        mmwrite(f"{folder}/x.mtx", csr_matrix(X))
        np.savetxt(f"{folder}/y.txt", codes, fmt="%d")
        np.savetxt(f"{folder}/fold.txt", fold + 1, fmt="%d")
        Path(folder, "run.R").write_text(GLMNET)
        kind = "sparse" if issparse(X) else "dense"
        command = ["Rscript", f"{folder}/run.R", folder, kind]
        theirs = lambda: float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)  # noqa: E731
        race(f"5 folds x 100 sizes of a lasso, {name}", ours, "cv.glmnet", theirs, rounds)


def costs(name, X, y, rounds, solvers):
    """Ten values of C in five folds."""
    from sklearn.linear_model import LogisticRegressionCV

    ours = lambda: linsep.LogisticRegressionCV(Cs=10, cv=5).fit(X, y)  # noqa: E731
    for solver in solvers:
        theirs = LogisticRegressionCV(Cs=10, cv=5, l1_ratios=(0,), solver=solver, n_jobs=TWO, max_iter=1000, use_legacy_attributes=False)
        race(f"10 values of C, 5 folds, {name}", ours, f"LogisticRegressionCV, {solver}", lambda: theirs.fit(X, y) and None, rounds)


def compare(X, y, rounds):
    """All linear methods in five folds, each tuned inside them as the comparison does."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import NearestCentroid
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    names = ["spherical", "naive-bayes", "lda", "least-squares", "logistic-lasso", "logistic", "svm", "averaged-perceptron"]
    sizes = np.logspace(-4, 3, 16)
    grids = [
        (DummyClassifier(), {}),
        (NearestCentroid(), {}),
        (GaussianNB(), {"var_smoothing": [0, 0.01]}),
        (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [None, "auto"]}),
        (RidgeClassifier(), {"alpha": [46, 460, 4600]}),
        (LogisticRegression(l1_ratio=1, solver="liblinear", max_iter=1000), {"C": sizes}),
        (LogisticRegression(solver="newton-cholesky"), {"C": sizes}),
        (LinearSVC(loss="hinge", max_iter=100_000), {"C": [0.01, 0.1, 1, 10]}),
        (Perceptron(), {}),
    ]

    def theirs():
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        for model, grid in grids:
            step = model.__class__.__name__.lower()
            whole = make_pipeline(StandardScaler(), model)
            tuned = GridSearchCV(whole, {f"{step}__{k}": v for k, v in grid.items()}, cv=5, n_jobs=TWO) if grid else whole
            cross_validate(tuned, X, y, cv=folds)

    ours = lambda: linsep.compare(X, y, folds=5, methods=names, n_jobs=TWO)  # noqa: E731
    race("compare, spam, all linear methods, 5 folds", ours, "the same loop in scikit-learn, two jobs", theirs, rounds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="lasso,costs,compare")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[1] / "../shared/data")
    said = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted, data = said.only.split(","), said.data
    if "lasso" in wanted:
        lasso("spam", *spam(data), said.rounds)
        lasso("a9a", *sparse_file(data / "sparse/a9a.svm.zst"), said.rounds)
    if "costs" in wanted:
        import pandas as pd

        lines = subprocess.run(["zstd", "-dcq", str(data / "dense/covtype.csv.zst")], capture_output=True, check=True)
        import io

        frame = pd.read_csv(io.BytesIO(lines.stdout)).sample(100_000, random_state=0)
        rows = frame.drop(columns="cover_type").to_numpy(float)
        rows = (rows - rows.mean(0)) / np.where(rows.std(0) > 0, rows.std(0), 1)
        costs("covtype 100,000 rows", rows, frame["cover_type"].to_numpy(int), said.rounds, ["newton-cholesky"])
        costs("20news", *sparse_file(data / "sparse/20news_bigram_binary.svm.zst"), said.rounds, ["lbfgs"])
    if "compare" in wanted:
        compare(*spam(data), said.rounds)


if __name__ == "__main__":
    main()
