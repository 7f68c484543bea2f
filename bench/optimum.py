"""The referee: ridge logistic objective F = mean loss + lambda/2 |w|^2 (intercept free), and its optimum by Newton.

It shares no code with linsep or with the peers. The optimum comes with the bound |g|^2 / (2 lambda) on F - F*,
which holds when the intercept's gradient is zero to rounding.
"""
import json

import numpy as np

BLOCK = 16_384


def objective(x, y, w, b, lam):
    total = 0.0
    for start in range(0, len(x), BLOCK):
        rows = slice(start, start + BLOCK)
        total += np.logaddexp(0.0, np.where(y[rows] == 1, -1.0, 1.0) * (x[rows] @ w + b)).sum()
    return float(total / len(x) + lam / 2 * (w @ w))


def _newton_parts(x, y, w, b, lam):
    n, d = x.shape
    g, h = np.zeros(d + 1), np.zeros((d + 1, d + 1))
    for start in range(0, n, BLOCK):
        rows = slice(start, start + BLOCK)
        xt = np.column_stack([x[rows], np.ones(len(x[rows]))])
        p = 0.5 * (1 + np.tanh((xt[:, :d] @ w + b) / 2))
        g += xt.T @ (p - (y[rows] == 1))
        h += xt.T @ (xt * (p * (1 - p))[:, None])
    g, h = g / n, h / n
    g[:d] += lam * w
    h[np.arange(d), np.arange(d)] += lam
    return g, h


def newton(x, y, lam):
    w, b = np.zeros(x.shape[1]), 0.0
    value, best = objective(x, y, w, b, lam), np.inf
    for _ in range(100):
        g, h = _newton_parts(x, y, w, b, lam)
        size = np.abs(g).max()
        if size < 1e-15 or (size >= best and size < 1e-11):
            break
        best = size
        step, t = np.linalg.solve(h, g), 1.0
        while (new := objective(x, y, w - t * step[:-1], b - t * step[-1], lam)) > value + 1e-13 and t > 1e-6:
            t /= 2
        w, b, value = w - t * step[:-1], b - t * step[-1], new
    g, _ = _newton_parts(x, y, w, b, lam)
    return {"objective": objective(x, y, w, b, lam), "bound": float(g @ g / (2 * lam)),
            "gradient": float(np.abs(g).max())}


def optimum(x_path, y_path, lam):
    """Cached beside the data."""
    path = x_path.with_name(x_path.name.replace("-X.npy", f"-optimum-{lam:.6e}.json"))
    if not path.exists():
        path.write_text(json.dumps(newton(np.load(x_path), np.load(y_path), lam)))
    return json.loads(path.read_text())
