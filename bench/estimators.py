"""Every estimator's fit, predict and predict_proba on ten tables, against scikit-learn at equal accuracy.

Run: python bench/estimators.py [--scale 1] [--runs 5] [--only LogisticRegression,…] with the package installed.

Both sides get the same arrays in one process, in turn, and the best of the runs counts: on a busy machine the two are disturbed
alike, and the table says how busy it was. A cell is scikit-learn's time divided by ours. Tolerances are those at which the
predictions agree on 99.5 % of the rows; where they do not, the cell is marked.
"""
import argparse
import os
import statistics
import time
import warnings

import numpy as np
from sklearn import datasets, discriminant_analysis, linear_model, naive_bayes, svm

import linsep


def tables(scale):
    """Ten tables by name: small toy sets, and larger ones of the usual shapes."""
    n = lambda rows: max(200, int(rows * scale))  # noqa: E731
    rng = np.random.default_rng(0)

    def classes(rows, cols, k, spread=1.0):
        y = rng.integers(0, k, rows)
        means = spread * np.random.default_rng(1).normal(size=(k, cols)) / np.sqrt(cols)
        return means[y] * 2 + rng.normal(size=(rows, cols)), y

    toys = {name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in ("iris", "wine", "breast_cancer", "digits")}
    scaled = {name: ((X - X.mean(0)) / np.maximum(X.std(0), 1e-12), y) for name, (X, y) in toys.items()}
    return {
        **scaled,
        "2k x 5, 2": classes(n(2_000), 5, 2),
        "2k x 100, 3": classes(n(2_000), 100, 3),
        "20k x 20, 2": classes(n(20_000), 20, 2),
        "20k x 50, 5": classes(n(20_000), 50, 5),
        "100k x 10, 2": classes(n(100_000), 10, 2),
        "1k x 500, 2": classes(n(1_000), 500, 2),
    }


#: Ours, theirs, whether features are counts, and the most rows: kernel machines take long.
CONTESTS = {
    "LogisticRegression": (lambda: linsep.LogisticRegression(), lambda: linear_model.LogisticRegression(max_iter=1000), False, None),
    "RidgeClassifier": (lambda: linsep.RidgeClassifier(), lambda: linear_model.RidgeClassifier(), False, None),
    "LinearSVC": (lambda: linsep.LinearSVC(penalise_intercept=True), lambda: svm.LinearSVC(max_iter=10_000), False, None),
    "SGDClassifier": (lambda: linsep.SGDClassifier(), lambda: linear_model.SGDClassifier(loss="log_loss"), False, None),
    "Perceptron": (lambda: linsep.Perceptron(max_iter=20), lambda: linear_model.Perceptron(max_iter=20), False, None),
    "SVC": (lambda: linsep.SVC(), lambda: svm.SVC(), False, 2_000),
    "LinearDiscriminantAnalysis": (
        lambda: linsep.LinearDiscriminantAnalysis(shrinkage=0.01, solver="lsqr"),
        lambda: discriminant_analysis.LinearDiscriminantAnalysis(shrinkage=0.01, solver="lsqr"), False, None),
    "QuadraticDiscriminantAnalysis": (
        lambda: linsep.QuadraticDiscriminantAnalysis(reg_param=0.1),
        lambda: discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1), False, None),
    "GaussianNB": (lambda: linsep.GaussianNB(), lambda: naive_bayes.GaussianNB(), False, None),
    "BernoulliNB": (lambda: linsep.BernoulliNB(), lambda: naive_bayes.BernoulliNB(), False, None),
    "MultinomialNB": (lambda: linsep.MultinomialNB(), lambda: naive_bayes.MultinomialNB(), True, None),
    "ComplementNB": (lambda: linsep.ComplementNB(), lambda: naive_bayes.ComplementNB(), True, None),
}
#: A cell lasts at least so long, by repetition.
LEAST = 0.01


def seconds(work, runs):
    """The shortest time of one call."""
    start = time.perf_counter()
    work()
    once = time.perf_counter() - start
    calls = max(1, int(LEAST / max(once, 1e-7)))
    best = once if calls == 1 else np.inf
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - start) / calls)
        if time.perf_counter() - start > 2:
            break
    return best


def contest(make, X, y, runs):
    """scikit-learn's times over ours, by method, and the share of equal predictions."""
    ours, theirs = make[0]().fit(X, y), make[1]().fit(X, y)
    same = float((ours.predict(X) == theirs.predict(X)).mean())
    found = {"fit": seconds(lambda: make[1]().fit(X, y), runs) / seconds(lambda: make[0]().fit(X, y), runs)}
    for method in ("predict", "predict_proba"):
        if hasattr(theirs, method) and hasattr(ours, method):
            found[method] = seconds(lambda: getattr(theirs, method)(X), runs) / seconds(lambda: getattr(ours, method)(X), runs)
    return found, same


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    cells = []
    for name, make in CONTESTS.items():
        if options.only and name not in options.only.split(","):
            continue
        for table, (X, y) in tables(options.scale).items():
            if make[3] is not None and len(y) > make[3]:
                continue
            X = np.ascontiguousarray(np.round(np.abs(X) * 3) if make[2] else X)
            try:
                found, same = contest(make, X, y, options.runs)
            except Exception as error:
                print(f"{name:30} {table:14} refused by one of the two: {str(error).splitlines()[0][:70]}")
                continue
            mark = "" if same >= 0.995 else f"  (equal predictions {same:.3f})"
            print(f"{name:30} {table:14} " + "  ".join(f"{m} {r:7.2f}" for m, r in found.items()) + mark, flush=True)
            cells += [(r, f"{name}.{m}, {table}") for m, r in found.items()]
    ratios = [r for r, _ in cells]
    below = sorted(cell for cell in cells if cell[0] < 1)
    print(f"load after: {os.getloadavg()[0]:.1f}; {len(cells)} cells, median {statistics.median(ratios):.2f}, {len(below)} below 1:")
    for ratio, what in below:
        print(f"  {ratio:5.2f}  {what}")


if __name__ == "__main__":
    main()
