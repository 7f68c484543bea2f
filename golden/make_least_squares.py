"""Golden values from scikit-learn's RidgeClassifier: least_squares_sklearn.json.

Run: python golden/make_least_squares.py   (numpy, pandas, scikit-learn; versions are recorded in the file)

Each case is solved again in extended precision from its normal equations, and scikit-learn's values must agree.
scikit-learn fits targets ±1 also for more than two classes: its scores are then 2z − 1 of the one-hot scores z.
"""
import numpy as np
import sklearn
from sklearn.linear_model import RidgeClassifier

from common import ROWS, load, write


def extended(x, t, s, alpha, intercept):
    """Ridge by elimination in extended precision: weights, then the intercept."""
    x, t, s = (np.asarray(v, np.longdouble) for v in (x, t, s))
    center = (s[:, None] * x).sum(0) / s.sum() if intercept else np.zeros(x.shape[1], np.longdouble)
    mean = (s[:, None] * t).sum(0) / s.sum() if intercept else np.zeros(t.shape[1], np.longdouble)
    z, r = x - center, t - mean
    a = z.T @ (s[:, None] * z) + alpha * np.eye(x.shape[1], dtype=np.longdouble)
    b = z.T @ (s[:, None] * r)
    n = len(a)
    m = np.concatenate([a, b], axis=1)
    for j in range(n):
        p = j + int(np.argmax(np.abs(m[j:, j])))
        m[[j, p]] = m[[p, j]]
        m[j] /= m[j, j]
        for i in range(n):
            if i != j:
                m[i] -= m[i, j] * m[j]
    w = m[:, n:].T
    return w, mean - w @ center


def case(name, alpha, intercept=True, weighted=False, classes=None):
    x, y, names, features, target = load(name)
    if classes is not None:
        keep = np.isin(y, classes)
        x, y, names = x[keep], np.searchsorted(classes, y[keep]), [names[k] for k in classes]
    s = 1.0 + np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    model = RidgeClassifier(alpha=alpha, fit_intercept=intercept, solver="svd").fit(x, y, sample_weight=s)
    t = np.where(y[:, None] == np.arange(len(names)), 1.0, -1.0)
    t = t[:, 1:] if len(names) == 2 else t
    w, b = extended(x, t, s, alpha, intercept)
    assert np.allclose(np.asarray(w, float), model.coef_, rtol=1e-7, atol=1e-9), np.abs(w - model.coef_).max()
    assert np.allclose(np.asarray(b, float), model.intercept_, rtol=1e-7, atol=1e-9)
    correct = int((model.predict(x) == y).sum())
    return {"data": f"{name}.csv", "target": target, "features": features, "classes": names, "n": len(y),
            "alpha": alpha, "intercept": intercept, "weighted": weighted,
            "coef": np.asarray(w, float), "offset": np.asarray(b, float), "correct": correct}


write("least_squares_sklearn.json", {
    "source": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}",
    "note": "RidgeClassifier on columns as they are, targets ±1; λ = α/Σs; weights 1 + i mod 3 where weighted",
    "cases": [
        case("iris", 1.0),
        case("iris", 25.0, weighted=True),
        case("penguins", 1.0),
        case("penguins", 0.01, classes=[0, 1]),
        case("penguins", 100.0, classes=[0, 2], weighted=True),
        case("iris", 1.0, intercept=False),
        case("iris", 2.0, intercept=False, classes=[1, 2]),
        case("sim3", 1.0),
    ],
})
