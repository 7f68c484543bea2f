"""Losses, slopes and curvatures far out, by mpmath with at least 100 digits, rounded once to doubles: losses.json.

Run: python golden/make_losses.py   (mpmath)
"""
import mpmath as mp

from common import write

DIGITS = 100
ONE = [s * z for z in (1e-300, 1e-8, 0.3, 1.0, 1.0 - 2**-53, 1.0 + 2**-52, 2.0, 20.0, 36.7, 40.0, 300.0, 372.0, 700.0, 745.0, 746.0,
                       1e4, 1e10, 1e150) for s in (1, -1)] + [0.0]
FOUR = [[0.0, 0.0, 0.0, 0.0], [1.0, -2.0, 0.5, 3.0], [40.0, 0.0, -1.0, 2.0], [0.0, -300.0, -300.5, -700.0], [1e4, 0.0, 3.0, -1e4],
        [1000.0, 1000.0, 999.0, -1000.0], [-745.0, 0.0, -746.0, -0.5], [1e10, 1e10, 0.0, -1e10], [1e-300, -1e-300, 0.0, 1e-8]]


def digits_for(z):
    """Enough for 1 + exp(−|z|) and its square to keep the small part wherever it is a double."""
    return DIGITS + 2 * int(min(max(abs(v) for v in z) + 1, 1000))


def double(x):
    return float(mp.nstr(x, 50)) if abs(x) > mp.mpf("1e-330") else 0.0


def softmax(z, y):
    """The symmetric form: a score for every class."""
    full = [mp.mpf(v) for v in z]
    top = max(full)
    e = [mp.exp(v - top) for v in full]
    total = mp.fsum(e)
    p, k = [v / total for v in e], len(z)
    others = mp.fsum(v for j, v in enumerate(e) if j != y)
    value = mp.log1p(others / e[y]) if e[y] > 0 else top + mp.log(total) - full[y]
    slope = [p[j] if j != y else -others / total for j in range(k)]
    rest = [mp.fsum(v for i, v in enumerate(e) if i != j) / total for j in range(k)]
    curvature = [p[a] * rest[a] if a == b else -p[a] * p[b] for a in range(k) for b in range(a + 1)]
    return value, slope, curvature


def logistic(z, y):
    x = mp.mpf(z[0]) * (1 if y else -1)
    e = mp.exp(-abs(x))
    p, q = (1 / (1 + e), e / (1 + e)) if x >= 0 else (e / (1 + e), 1 / (1 + e))
    return mp.log1p(e) + max(-x, 0), [(-q if y else q)], [p * q]


def hinge(z, y):
    m = 1 - mp.mpf(z[0]) * (1 if y else -1)
    return max(m, mp.mpf(0)), [mp.mpf(0) if m <= 0 else mp.mpf(-1 if y else 1)], None


def squared_hinge(z, y):
    m = max(1 - mp.mpf(z[0]) * (1 if y else -1), mp.mpf(0))
    return m * m, [-2 * m * (1 if y else -1)], [mp.mpf(2 if m > 0 else 0)]


def squared(z, y):
    r = mp.mpf(z[0]) - (1 if y else -1)
    return r * r / 2, [r], [mp.mpf(1)]


def squared_sigmoid(z, y):
    x = mp.mpf(z[0])
    e = mp.exp(-abs(x))
    p, q = (1 / (1 + e), e / (1 + e)) if x >= 0 else (e / (1 + e), 1 / (1 + e))
    r = -q if y else p
    return r * r / 2, [r * p * q], [(p * q) ** 2 + r * p * q * (q - p)]


FUNCTIONS = {"logistic": (logistic, [[z] for z in ONE], 2), "hinge": (hinge, [[z] for z in ONE], 2),
             "squared hinge": (squared_hinge, [[z] for z in ONE], 2), "squared, two targets": (squared, [[z] for z in ONE], 2),
             "squared sigmoid": (squared_sigmoid, [[z] for z in ONE], 2),
             "softmax": (softmax, FOUR, 4)}
cases = []
for name, (function, grid, classes) in FUNCTIONS.items():
    for z in grid:
        for y in range(classes):
            with mp.workdps(digits_for(z)):
                value, slope, curvature = function(z, y)
                cases.append({"loss": name, "class": y, "z": z, "value": double(value), "slope": [double(v) for v in slope],
                              "curvature": curvature and [double(v) for v in curvature]})
write("losses.json", {"source": f"mpmath {mp.__version__}, {DIGITS} digits and more",
                      "content": "loss, slope and curvature (lower triangle by rows) of one row of weight one", "cases": cases})
