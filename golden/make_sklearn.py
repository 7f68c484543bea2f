"""Golden values from scikit-learn: lda_sklearn.json, logistic_sklearn.json.

Run: python golden/make_sklearn.py   (numpy, pandas, scikit-learn; versions are recorded in the files)

Logistic values are polished by Newton steps whose gradient is summed in extended precision, until its
largest entry is below 1e-16, and scikit-learn's own values must agree with them.
"""
import numpy as np
import scipy
import sklearn
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from common import ROWS, load, write

SOURCE = f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, scipy {scipy.__version__}"


# ---------------------------------------------------------------- LDA

def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def within(x, y):
    """Residuals of within-class centring, the class means and the class shares."""
    classes = range(y.max() + 1)
    means = np.array([x[y == k].mean(axis=0) for k in classes])
    return x - means[y], means, np.array([np.mean(y == k) for k in classes])


def lda_from(cov, means, priors):
    coef = np.linalg.solve(cov, means.T).T
    return coef, -0.5 * np.sum(means * coef, axis=1) + np.log(priors)


def lda_reports(model, x, y, rows):
    scores = model.decision_function(x[rows])
    k = len(model.classes_)
    confusion = np.zeros((k, k), int)
    np.add.at(confusion, (y, model.predict(x)), 1)
    return {"coef": model.coef_, "intercept": model.intercept_, "scores": scores,
            "posterior": model.predict_proba(x[rows]), "confusion": confusion}


def lda_lsqr(x, y, rows, shrinkage=None):
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage, store_covariance=True).fit(x, y)
    residuals, means, priors = within(x, y)
    cov = residuals.T @ residuals / len(x)
    s = shrinkage or 0.0
    cov = (1 - s) * cov + s * np.trace(cov) / x.shape[1] * np.eye(x.shape[1])
    coef, intercept = lda_from(cov, means, priors)
    # one triangular solve against one least squares: the difference is rounding
    assert np.allclose(coef, model.coef_, rtol=1e-8), np.abs(coef / model.coef_ - 1).max()
    assert np.allclose(intercept, model.intercept_, rtol=1e-8)
    return {"covariance": cov, **lda_reports(model, x, y, rows)}


def lda_svd(x, y, rows):
    model = LinearDiscriminantAnalysis(solver="svd").fit(x, y)
    residuals, means, priors = within(x, y)
    exact = {}
    for divisor, d in (("n", len(x)), ("n-K", len(x) - len(means))):
        coef, intercept = lda_from(residuals.T @ residuals / d, means, priors)
        exact[divisor] = np.abs(softmax(x @ coef.T + intercept) - model.predict_proba(x)).max()
    divisor = min(exact, key=exact.get)
    assert exact[divisor] < 1e-10, exact
    return {"divisor": divisor,
            "note": "coef and intercept differ from the textbook ones by the same vector and number in every class",
            **lda_reports(model, x, y, rows)}


def lda_ledoit_wolf(x, y, rows, standardize):
    center, scale = np.zeros(x.shape[1]), np.ones(x.shape[1])
    if standardize:
        center, scale = x.mean(axis=0), x.std(axis=0)
    z = (x - center) / scale
    residuals, means, priors = within(z, y)
    cov, shrinkage = ledoit_wolf(residuals, assume_centered=True)
    coef, intercept = lda_from(cov, means, priors)
    scores = z[rows] @ coef.T + intercept
    return {"standardize": standardize, "center": center, "scale": scale, "shrinkage": shrinkage,
            "covariance": cov, "coef": coef, "intercept": intercept, "scores": scores,
            "posterior": softmax(scores)}


def lda_golden():
    sets = []
    for name in ("iris", "penguins"):
        x, y, classes, features, target = load(name)
        rows = ROWS[name]
        sets.append({
            "data": f"{name}.csv", "target": target, "features": features, "classes": classes, "n": len(x),
            "rows": rows, "priors": within(x, y)[2], "means": within(x, y)[1],
            "lsqr": {"divisor": "n", **lda_lsqr(x, y, rows)},
            "lsqr_shrunk": {"divisor": "n", "shrinkage": 0.3, **lda_lsqr(x, y, rows, 0.3)},
            "svd": lda_svd(x, y, rows),
            "ledoit_wolf": lda_ledoit_wolf(x, y, rows, False),
            "ledoit_wolf_standardized": lda_ledoit_wolf(x, y, rows, True),
        })
    write("lda_sklearn.json", {
        "source": SOURCE,
        "what": "LinearDiscriminantAnalysis. rows: 0-based among the rows used (penguins: rows complete in the "
                "features). scores = x coef' + intercept. confusion[true][predicted] over all rows used. "
                "Shrunk covariance = (1-s) S + s tr(S)/d I, S = pooled within-class / n. "
                "ledoit_wolf: sklearn.covariance.ledoit_wolf(within-class residuals, assume_centered=True) and the "
                "posterior it implies with class shares as priors; coef are in the units of (x - center) / scale. "
                "This is not shrinkage='auto', which estimates one shrinkage per class.",
        "sets": sets})


# ---------------------------------------------------------------- logistic

def objective(w, b, x, y, s, lam):
    """F and its gradient by extended precision. w is K x d (K = 1: binary), b has K entries."""
    long = np.longdouble
    x, s, w, b = (np.asarray(a, long) for a in (x, s, w, b))
    z = x @ w.T + b
    if len(b) == 1:
        sign = np.where(y == 1, long(1), long(-1))
        m = sign * z[:, 0]
        loss = np.where(m > 0, np.log1p(np.exp(-np.abs(m))), -m + np.log1p(np.exp(-np.abs(m))))
        p = 1 / (1 + np.exp(-z))
        r = p - (y == 1)[:, None]
    else:
        top = z.max(axis=1, keepdims=True)
        e = np.exp(z - top)
        p = e / e.sum(axis=1, keepdims=True)
        loss = np.log(e.sum(axis=1)) + top[:, 0] - z[np.arange(len(y)), y]
        r = p - np.eye(len(b), dtype=long)[y]
    total = s.sum()
    value = (s * loss).sum() / total + lam * (w * w).sum() / 2
    r = r * (s / total)[:, None]
    return value, r.T @ x + lam * w, r.sum(axis=0), np.asarray(p, float)


def newton(x, y, s, lam, classes, intercept, start=None):
    n, d = x.shape
    k = 1 if classes == 2 else classes
    w, b = np.zeros((k, d), np.longdouble), np.zeros(k, np.longdouble)
    if start is not None:
        w += start[0]
        b += start[1]
    xt = np.column_stack([x, np.ones(n)]) if intercept else x
    dt = xt.shape[1]
    for _ in range(200):
        value, gw, gb, p = objective(w, b, x, y, s, lam)
        g = np.column_stack([gw, gb]) if intercept else gw
        if np.abs(g).max() < 1e-17:
            break
        h = np.zeros((k, dt, k, dt))
        for a in range(k):
            for c in range(k):
                weight = (p[:, a] * (1 - p[:, a])) if a == c else -p[:, a] * p[:, c]
                h[a, :, c, :] = xt.T @ (xt * (weight * s / s.sum())[:, None])
            h[a, np.arange(d), a, np.arange(d)] += lam
        if intercept and k > 1:  # symmetric intercepts: fix the sum at 0
            h[:, d, :, d] += 1.0 / k
        step = np.linalg.solve(h.reshape(k * dt, k * dt), np.asarray(g, float).ravel()).reshape(k, dt)
        t = 1.0
        while True:
            w1, b1 = w - t * step[:, :d], b - (t * step[:, d] if intercept else 0)
            value1, gw1, gb1, _ = objective(w1, b1, x, y, s, lam)
            size1 = max(np.abs(gw1).max(), np.abs(gb1).max() if intercept else 0)
            # near the optimum the values are equal to the last digit, and the gradient decides
            if value1 < value or size1 < np.abs(g).max() or t < 1e-3:
                break
            t /= 2
        if t < 1e-3:
            break
        w, b = w1, b1
    if intercept and k > 1:
        b -= b.mean()
    value, gw, gb, _ = objective(w, b, x, y, s, lam)
    gradient = max(np.abs(gw).max(), np.abs(gb).max() if intercept else 0)
    assert gradient < 1e-16, gradient
    return np.asarray(w, float), np.asarray(b, float), float(value), float(gradient)


def weights_for(n):
    return 1.0 + np.arange(n) % 3


def logistic_case(name, classes, c, standardize, weighted, intercept):
    x, y, names, features, target = load(name)
    if classes == 2:
        keep = y > 0
        x, y, names = x[keep], y[keep] - 1, names[1:]
    n = len(x)
    s = weights_for(n) if weighted else np.ones(n)
    center, scale = np.zeros(x.shape[1]), np.ones(x.shape[1])
    if standardize:
        mean = np.average(x, axis=0, weights=s)
        scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=s))
        # A plane without an intercept goes through the origin of the columns, which centring would move.
        center = mean if intercept else center
    z = (x - center) / scale
    lam = 1.0 / (c * s.sum())
    model = LogisticRegression(C=c, fit_intercept=intercept, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    model.fit(z, y, sample_weight=s if weighted else None)
    b0 = model.intercept_ - (model.intercept_.mean() if classes > 2 else 0) if intercept else np.zeros(len(model.coef_))
    w, b, value, gradient = newton(z, y, s, lam, classes, intercept)
    assert np.abs(w - model.coef_).max() < 1e-6, np.abs(w - model.coef_).max()
    assert np.abs(b - b0).max() < 1e-6, np.abs(b - b0).max()
    ours = objective(np.asarray(model.coef_), np.asarray(b0), z, y, s, lam)[0]
    assert abs(float(ours) - value) < 1e-9 * value
    return {
        "data": f"{name}.csv", "target": target, "features": features, "classes": names, "n": n,
        "C": c, "lambda": lam, "standardize": standardize, "weighted": weighted, "intercept": "free" if intercept else "none",
        "center": center, "scale": scale, "S": s.sum(),
        "coef": w if classes > 2 else w[0], "intercepts": b if classes > 2 else b[0],
        "objective": value, "loss": value - lam / 2 * float((w * w).sum()), "gradient": gradient,
        "sklearn_max_difference": float(max(np.abs(w - model.coef_).max(), np.abs(b - b0).max())),
    }


def logistic_golden():
    cases = [logistic_case(name, k, c, standardize, weighted, intercept)
             for name, k in (("iris", 2), ("iris", 3), ("sim3", 3))
             for c in (1.0, 100.0)
             for standardize in (False, True)
             for weighted, intercept in ((False, True), (False, False), (True, True))]
    write("logistic_sklearn.json", {
        "source": SOURCE + "; polished by Newton with the gradient in extended precision",
        "what": "Ridge logistic (2 classes: iris without setosa, in file order, scores are for the second class) and "
                "symmetric softmax (3 classes, intercepts sum to 0). objective = sum s l / S + lambda/2 |W|^2 with "
                "lambda = 1/(C S), intercept not penalised; loss = objective without the penalty. "
                "Features are (x - center) / scale, sd with divisor S (weighted when weighted), and coef are in those "
                "units; nothing is centred where intercept is none. weights: 1 + i mod 3 for the i-th row "
                "used, from 0.",
        "cases": cases})


if __name__ == "__main__":
    lda_golden()
    logistic_golden()
