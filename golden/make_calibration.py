"""Golden values of calibration maps: calibration_sklearn.json.

Run: python golden/make_calibration.py   (numpy, scipy, scikit-learn; versions are recorded in the file)

Platt: scikit-learn's sigmoid calibration, whose stopping rule leaves about six digits, and the minimum of the same objective
by scipy to full precision; the two are compared before they are written. Isotonic: IsotonicRegression, its thresholds and
its predictions at other scores. Temperature: the root of the derivative by scipy, for hard labels (no smoothing).
"""
import numpy as np
import scipy
import sklearn
from scipy.optimize import brentq, root
from scipy.special import expit, softmax
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression

from common import write


def platt(z, y, s):
    a0, b0 = _sigmoid_calibration(z, y, sample_weight=s)
    low, high = np.sum(s[y == 0]), np.sum(s[y == 1])
    t = np.where(y == 1, (high + 1) / (high + 2), 1 / (low + 2))

    def gradient(v):
        r = s * (expit(v[0] * z + v[1]) - t)
        return [np.sum(r * z), np.sum(r)]

    found = root(gradient, [-a0, -b0], tol=1e-14).x
    assert np.allclose(found, [-a0, -b0], rtol=1e-3), (found, a0, b0)
    # scikit-learn has p = 1/(1 + exp(a z + b)).
    return {"slope": found[0], "intercept": found[1], "sklearn": [-a0, -b0]}


def isotonic(z, y, s):
    model = IsotonicRegression(out_of_bounds="clip").fit(z, y, sample_weight=s)
    at = np.concatenate([np.linspace(z.min() - 1, z.max() + 1, 41), z[:10]])
    return {"scores": model.X_thresholds_, "values": model.y_thresholds_, "at": at, "predicted": model.predict(at)}


def temperature(z, y, s):
    own = z[np.arange(len(y)), y]
    derivative = lambda b: np.sum(s * (np.sum(softmax(b * z, axis=1) * z, axis=1) - own))
    return 1 / brentq(derivative, 1e-6, 1e3, xtol=1e-15, rtol=8.9e-16)


def main():
    random = np.random.default_rng(7)
    cases = []
    for name, n, scale, ties, weighted in [
        ("plain", 60, 1.0, False, False),
        ("weighted", 80, 30.0, False, True),
        ("ties", 100, 0.01, True, True),
    ]:
        z = random.normal(0.4, 1.5, n)
        y = (random.random(n) < expit(1.3 * z - 0.8)).astype(int)
        z = np.round(z, 1) if ties else z
        z = scale * z
        s = random.integers(1, 5, n).astype(float) if weighted else np.ones(n)
        cases.append({"name": name, "scores": z, "labels": y, "weights": s,
                      "platt": platt(z, y, s), "isotonic": isotonic(z, y, s)})
    n, k = 120, 4
    z = random.normal(0, 2, (n, k))
    y = np.array([random.choice(k, p=p) for p in softmax(z / 1.7, axis=1)])
    s = random.integers(1, 4, n).astype(float)
    versions = {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__}
    write("calibration_sklearn.json", {
        "source": "golden/make_calibration.py", "versions": versions, "cases": cases,
        "temperature": {"scores": z, "labels": y, "weights": s, "temperature": temperature(z, y, s)},
    })


main()
