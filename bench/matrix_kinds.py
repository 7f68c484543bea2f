"""The problem kinds of bench/matrix.py, and who solves them: linsep by its Python package, and its peers.

Run as a server by matrix.py: it prints `ready`, answers {"load", "task"}, a table and a task, with {}, and each line
{"who", "tol", "judge"} with three: {} when it is prepared, {"seconds"} when it has fitted, {"objective"} (risks and machines)
or {"labels"} (closed forms); or with {"error"}. Only the fit is timed. Objectives are computed here, in double precision, from
the coefficients for the columns as given:

    F = mean loss + lambda [(1 - a)/2 |W|^2 + a |W|_1]  (+ lambda/2 |b|^2 where the intercept is penalised)

linsep and scikit-learn have lambda = 1/(C n). LIBLINEAR penalises the intercept (-B 1) unless -R is given.
"""
import base64
import importlib.util
import json
import sys
import warnings
import zlib
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from lasso import lambda_max
from matrix_tables import SEVERAL, load

OURS = "linsep"
DENSIFIED = {"a9a", "a9a.t", "ijcnn1.train", "ijcnn1.test", "w8a"}     # sparse tables of few columns
COUNTS = {"spam", "letterrecognition", "satellite", "mnist-train", "mnist-t10k", "20news_bigram_binary", "a9a", "a9a.t", "farm_ads",
          "rcv1_small.train", "rcv1_small.test", "reuters.train", "reuters.test", "w8a", "topics", "clicks", "counts"}
LEVELS = {"votes", "lizards", "letterrecognition", "satellite", "counts", "a9a", "a9a.t"}


@dataclass(frozen=True)
class Task:
    name: str
    family: str                 # a draw gives every family its turn
    loss: str                   # of a risk; or `rbf`, or the name of a closed form
    classes: str                # two, several, any
    peers: tuple
    C: float = 1.0
    size: float = 0.0           # share of the smallest lambda without a column, instead of C
    share: float = 0.0          # of the lasso
    penalised: bool = False     # the intercept
    dense: bool = False         # rows must be dense
    tables: frozenset = None    # those it makes sense for, as they are
    work: float = 1e8           # rows x columns x classes, above which rows are left out
    rows: int = 10**9

    @property
    def closed(self):
        return self.loss in CLOSED

    def lam(self, x, y):
        if not self.size:
            return 1 / (self.C * len(y))
        if y.max() == 1:
            return self.size * lambda_max(x, y) / self.share
        residual = np.eye(y.max() + 1)[y] - np.bincount(y) / len(y)
        return self.size * float(np.abs(x.T @ residual).max()) / len(y) / self.share

    def applies(self, group, form):
        base, scale, classes, _ = form.split(":")
        several = base in SEVERAL and classes == "all"
        return ((self.classes == "any" or several == (self.classes == "several"))
                and (self.tables is None or (base in self.tables and scale == "raw"))
                and not (self.dense and (group == "sparse" and base not in DENSIFIED or base in ("topics", "clicks"))))

    def most_rows(self, n, entries, classes):
        return min(self.rows, max(200, int(n * min(1.0, self.work / (entries * (classes if classes > 2 else 1))))))


def _risks():
    sklearn = ("newton-cholesky", "lbfgs", "newton-cg", "intelex-lbfgs", "intelex-newton-cg")
    for c in (0.1, 1.0, 10.0, 100.0):
        yield Task(f"logistic-C{c:g}", "logistic", "logistic", "two", (*sklearn, "liblinear -s 0 -R", "liblinear -s 7"), C=c)
        yield Task(f"softmax-C{c:g}", "softmax", "logistic", "several", sklearn, C=c, work=2e8)
    for size in (0.1, 0.01, 0.001):
        yield Task(f"lasso-{size:g}", "lasso", "logistic", "two", ("liblinear -s 6 -R", "skglm", "saga"), size=size, share=1.0)
        yield Task(f"elastic-{size:g}", "elastic net", "logistic", "two", ("skglm", "saga"), size=size, share=0.5)
        yield Task(f"softmax-lasso-{size:g}", "softmax lasso", "logistic", "several", ("saga",), size=size, share=1.0, work=2e7)
    for c in (0.1, 1.0, 10.0):
        yield Task(f"sqhinge-free-C{c:g}", "squared hinge", "sqhinge", "two", ("liblinear -s 2 -R",), C=c)
        yield Task(f"sqhinge-C{c:g}", "squared hinge", "sqhinge", "two",
                   ("liblinear -s 2", "liblinear -s 1", "LinearSVC-dual", "LinearSVC"), C=c, penalised=True)
        yield Task(f"hinge-free-C{c:g}", "hinge free", "hinge", "two", ("SVC", "intelex-SVC"), C=c, work=2e7, rows=8000)
        yield Task(f"hinge-C{c:g}", "hinge", "hinge", "two", ("liblinear -s 3", "LinearSVC-dual"), C=c, penalised=True)
        yield Task(f"ovr-sqhinge-C{c:g}", "one-vs-rest", "sqhinge", "several",
                   ("LinearSVC-dual", "LinearSVC", "liblinear -s 2", "liblinear -s 1"), C=c, penalised=True)
        yield Task(f"ovr-sqhinge-free-C{c:g}", "one-vs-rest", "sqhinge", "several", ("liblinear -s 2 -R",), C=c)
        yield Task(f"ovr-hinge-C{c:g}", "one-vs-rest", "hinge", "several", ("LinearSVC-dual", "liblinear -s 3"), C=c,
                   penalised=True, work=5e7)
        yield Task(f"crammer-C{c:g}", "Crammer-Singer", "crammer", "several", ("liblinear -s 4", "LinearSVC-crammer"), C=c,
                   penalised=True, work=5e7)
        yield Task(f"rbf-C{c:g}", "RBF", "rbf", "any", ("intelex-SVC", "SVC"), C=c, dense=True, rows=8000, work=1e7)


def _closed():
    yield Task("lda", "LDA", "lda", "any", ("lda-lsqr", "lda-svd", "lda-eigen"), dense=True, work=1e9)
    yield Task("qda", "QDA", "qda", "any", ("qda",), dense=True, work=1e9)
    yield Task("gaussian-nb", "naive Bayes", "gnb", "any", ("gnb",), dense=True, work=1e9)
    yield Task("bernoulli-nb", "naive Bayes", "bnb", "any", ("bnb",), work=1e9)
    yield Task("multinomial-nb", "naive Bayes", "mnb", "any", ("mnb",), tables=frozenset(COUNTS), work=1e9)
    yield Task("categorical-nb", "naive Bayes", "cnb", "any", ("cnb",), dense=True, tables=frozenset(LEVELS), work=1e9)
    yield Task("ridge-squares", "least squares", "squared", "any",
               ("cholesky", "svd", "lsqr", "sparse_cg", "intelex-ridge"), C=1.0, work=1e9)
    yield Task("least-squares", "least squares", "ols", "any", ("LinearRegression", "intelex-LinearRegression"), dense=True, work=1e9)


CLOSED = ("lda", "qda", "gnb", "bnb", "mnb", "cnb")
DIRECT = (*CLOSED, "ols")           # whose fits have no tolerance
TASKS = {t.name: t for t in (*_risks(), *_closed())}


def has_tolerance(task, who):
    return task.loss not in DIRECT and who not in ("cholesky", "svd", "intelex-ridge")


def peers_of(task, x, classes):
    """Without those that the table is nothing for: Hessians of thousands of columns, sparse rows where dense are needed."""
    columns, sparse = x.shape[1] * (classes if classes > 2 else 1), sp.issparse(x)
    for who in task.peers:
        if who in ("newton-cholesky", "cholesky", "lda-eigen", "lda-lsqr") and columns > 3000:
            continue
        if sparse and (who.startswith("intelex") or who == "svd"):
            continue
        if who == "skglm" and not importlib.util.find_spec("skglm"):
            continue
        yield who


# ---------------------------------------------------------------- objectives

def objective(task, x, y, lam, w, b):
    n, classes = len(y), int(y.max()) + 1
    z = np.asarray(x @ w.T) + b
    own = z[np.arange(n), y] if z.shape[1] > 1 else None
    signs = np.where(y[:, None] == (np.arange(classes) if z.shape[1] > 1 else 1), 1.0, -1.0)
    if task.loss == "logistic" and own is None:
        loss = np.logaddexp(0.0, -signs * z)
    elif task.loss == "logistic":
        top = z.max(axis=1)
        loss = top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - own
    elif task.loss == "crammer":
        loss = np.maximum(0.0, (z + (signs < 0) - own[:, None]).max(axis=1))
    elif task.loss in ("squared", "ols"):
        loss = (z - signs) ** 2 / 2
    else:
        loss = np.maximum(0.0, 1.0 - signs * z) ** (2 if task.loss == "sqhinge" else 1)
    penalty = 0.0 if task.loss == "ols" else (1 - task.share) / 2 * (w**2).sum() + task.share * np.abs(w).sum()
    return float(loss.sum() / n + lam * (penalty + (b**2).sum() / 2 * task.penalised))


# ---------------------------------------------------------------- contestants: prepare(problem)(tol) -> coefficients, or a model

def linsep_risk(p):
    import linsep
    t, several = p.task, p.y.max() > 1
    common = {} if t.loss in ("squared", "ols") else {"lam": p.lam}

    def fit(gap):
        tol = gap**0.5
        if t.loss == "logistic":
            model = linsep.LogisticRegression(l1_ratio=t.share, tol=tol, **common)
        elif t.loss == "squared":
            model = linsep.RidgeClassifier(alpha=1.0, tol=tol)
        elif t.loss == "ols":
            model = linsep.LeastSquaresClassifier()
        else:
            kind = "crammer_singer" if t.loss == "crammer" else "ovr"
            model = linsep.LinearSVC(loss="squared_hinge" if t.loss == "sqhinge" else "hinge", multi_class=kind,
                                     penalise_intercept=t.penalised, tol=tol, **common)
        model.fit(p.x, p.y)
        w, b = model.coef_, model.intercept_
        # One-hot targets, where the others have -1 and 1.
        return (2 * w, 2 * b - 1) if several and t.loss in ("squared", "ols") else (w, b)
    return fit


def liblinear(p, flags):
    from liblinear.liblinearutil import parameter, problem, train
    rows = problem(p.y.astype(float), sp.csr_matrix(p.x), bias=1)

    def fit(tol):
        model = train(rows, parameter(f"{flags} -c {1 / (p.lam * len(p.y))!r} -B 1 -e {tol!r} -q"))
        labels = model.get_labels()
        many = 1 if len(labels) == 2 else len(labels)
        w = np.ctypeslib.as_array(model.w, shape=((model.nr_feature + 1) * many,)).reshape(-1, many).T
        w = (w if labels[0] == 1 else -w) if many == 1 else w[np.argsort(labels)]
        full = np.zeros((many, p.x.shape[1]))
        full[:, :model.nr_feature] = w[:, :-1]
        return full, w[:, -1].copy()
    return fit


def skglm(p):
    from peer import skglm as prepared
    made = {}

    def fit(tol):
        w, b = made[tol](p.lam)
        return w[None, :], np.array([b])

    def ready(tol):         # compiled and turned into columns before the clock starts
        if tol not in made:
            made[tol] = prepared(SimpleNamespace(tol=tol, task="lasso", share=p.task.share), p.x, p.y)
    fit.ready = ready
    return fit


def sklearn_risk(p, who):
    t, c = p.task, 1 / (p.lam * len(p.y))
    loss = "squared_hinge" if t.loss == "sqhinge" else "hinge"
    kinds = sys.modules["sklearnex" if who.startswith("intelex") else "sklearn"]
    solver = who.removeprefix("intelex-")

    def model(tol):
        if t.loss == "logistic":
            return kinds.linear_model.LogisticRegression(C=c, l1_ratio=t.share, solver=solver, tol=tol, max_iter=100_000)
        if t.loss == "ols":
            return kinds.linear_model.LinearRegression()
        if solver == "ridge":
            return kinds.linear_model.Ridge(alpha=1.0)
        if t.loss == "squared":
            return kinds.linear_model.RidgeClassifier(alpha=1.0, solver=solver, tol=tol or 1e-4)
        if solver == "SVC":
            return kinds.svm.SVC(C=c, kernel="linear", tol=tol, cache_size=1000)
        if solver == "LinearSVC-crammer":
            return kinds.svm.LinearSVC(C=c, multi_class="crammer_singer", tol=tol, max_iter=1_000_000)
        return kinds.svm.LinearSVC(C=c, loss=loss, dual=solver == "LinearSVC-dual", tol=tol, max_iter=1_000_000)

    targets = p.y
    if solver in ("LinearRegression", "ridge"):
        targets = np.where(p.y[:, None] == np.arange(p.y.max() + 1), 1.0, -1.0) if p.y.max() > 1 else 2.0 * p.y - 1

    def fit(tol):
        made = model(tol).fit(p.x, targets)
        w = made.coef_.toarray() if sp.issparse(made.coef_) else np.atleast_2d(made.coef_)
        return w, np.atleast_1d(made.intercept_)
    return fit


def machine(p, who):
    c = 1 / (p.lam * len(p.y))
    if who == OURS:
        from linsep import SVC
    elif who == "intelex-SVC":
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    # Of ours the relative gap is the square of `tol`.
    return lambda tol: SVC(C=c, gamma=p.gamma, tol=tol**0.5 if who == OURS else tol, cache_size=1000).fit(p.x, p.y)


def closed_form(p, who):
    kind, way = p.task.loss, who.partition("-")[2]
    names = {"lda": "LinearDiscriminantAnalysis", "qda": "QuadraticDiscriminantAnalysis", "gnb": "GaussianNB", "bnb": "BernoulliNB",
             "mnb": "MultinomialNB", "cnb": "CategoricalNB"}
    if who == OURS:
        import linsep as module
        # Divisors as scikit-learn has them.
        options = {"qda": {"divisor": "unbiased"}}.get(kind, {})
    else:
        from sklearn import discriminant_analysis, naive_bayes
        module, options = (discriminant_analysis, {"solver": way} if way else {}) if kind in ("lda", "qda") else (naive_bayes, {})
    return lambda tol: getattr(module, names[kind])(**options).fit(p.x, p.y)


def contestant(p, who):
    if p.task.closed:
        return closed_form(p, who)
    if p.task.loss == "rbf":
        return machine(p, who)
    if who == OURS:
        return linsep_risk(p)
    if who.startswith("liblinear"):
        return liblinear(p, who.removeprefix("liblinear "))
    if who == "skglm":
        return skglm(p)
    import sklearn.linear_model
    import sklearn.svm  # noqa: F401
    if who.startswith("intelex"):
        import sklearnex.linear_model
        import sklearnex.svm  # noqa: F401
    return sklearn_risk(p, who)


# ---------------------------------------------------------------- the server

def problem_of(task, path):
    x, y = load(path)
    p = SimpleNamespace(task=task, x=x, y=y, lam=task.lam(x, y))
    if task.loss == "rbf":
        p.gamma = 1 / (x.shape[1] * max(float(x.var()), 1e-300))
    return p


def judged(p, found):
    if p.task.closed:
        codes = np.asarray(found.predict(p.x)).astype(np.int16)
        return {"labels": base64.b64encode(zlib.compress(codes.tobytes(), 1)).decode()}
    if p.task.loss == "rbf":
        from peer import dual_of
        return {"objective": -dual_of(found, p.gamma, 1 / (p.lam * len(p.y)), len(p.y))}
    return {"objective": objective(p.task, p.x, p.y, p.lam, *found)}


def labels_of(text):
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), np.int16)


def answers(p, made, who, tol, judge):
    """Three lines: prepared, fitted, judged, so that each has a time limit of its own."""
    from peer import timed
    try:
        if who not in made:
            made[who] = contestant(p, who)
        getattr(made[who], "ready", lambda tol: None)(tol)
        yield {}
        seconds, found = timed(lambda: made[who](tol))
        yield {"seconds": seconds}
        yield judged(p, found) if judge else {}
    except Exception as reason:  # noqa: BLE001 - whatever a contestant raises is its result
        kinds = [k.__name__ for k in type(reason).__mro__]
        yield {"error": f"{type(reason).__name__}: {reason}"[:500], "refused": "LinsepError" in kinds}


def main():
    warnings.simplefilter("ignore")
    p, made = None, {}
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "load" in asked:
            p, made = problem_of(TASKS[asked["task"]], asked["load"]), {}
            print("{}", flush=True)
            continue
        for told in answers(p, made, **asked):
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
