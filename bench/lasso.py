"""The referee of lasso and path tasks: objectives, λ_max, and a duality gap that proves an optimum; numpy alone.

F = mean log-loss + lambda [(1 - a)/2 |w|^2 + a |w|_1], intercept free; a = 1 is the lasso, a = 0 the ridge.
The optimum is the best solution at hand (linsep's at its tightest) less the gap that this file computes for it.
"""
import numpy as np
import scipy.sparse


def load(x_path):
    """A dense matrix, or a sparse one by indices, starts and (ones where absent) values."""
    path = str(x_path)
    if not path.endswith("-indices.npy"):
        return np.load(path)
    part = lambda name: np.load(path.replace("-indices.npy", f"-{name}.npy"))  # noqa: E731
    indices, starts = np.load(path), part("starts")
    try:
        values = part("values")
    except FileNotFoundError:
        values = np.ones(len(indices))
    shape = (len(starts) - 1, int(indices.max()) + 1)
    return scipy.sparse.csr_matrix((values, indices.astype(np.int32), starts.astype(np.int32)), shape=shape)


def vector(outcome, columns):
    """Weights from a full list, or from (column, weight) pairs where most are zero."""
    if outcome.get("coef") is not None:
        return np.asarray(outcome["coef"], float)
    w = np.zeros(columns)
    for j, v in outcome["entries"]:
        w[j] = v
    return w


def lambda_max(x, y):
    return float(np.abs(x.T @ (y - y.mean())).max() / len(y))


def objective(x, y, w, b, lam, share):
    s = np.where(y == 1, 1.0, -1.0)
    return float(np.logaddexp(0.0, -s * (x @ w + b)).mean() + lam * (share * np.abs(w).sum() + (1 - share) / 2 * (w @ w)))


def gap(x, y, w, b, lam, share):
    """F - D at the derivative of the loss, balanced over the classes and, for a lasso, shrunk."""
    s, n = np.where(y == 1, 1.0, -1.0), len(y)
    for _ in range(50):     # the intercept alone is a smooth problem of one variable
        p = 1 / (1 + np.exp(-(x @ w + b)))
        step = (p - y).sum() / (p * (1 - p)).sum()
        b -= step
        if abs(step) < 1e-14:
            break
    u = 1 / (1 + np.exp(s * (x @ w + b)))
    totals = u[s > 0].sum(), u[s < 0].sum()
    u[s > 0] *= min(1.0, totals[1] / totals[0])
    u[s < 0] *= min(1.0, totals[0] / totals[1])
    v = np.abs(x.T @ (s * u)) / n
    if share == 1:
        shrink = min(1.0, lam / v.max())
        u, conjugate = shrink * u, 0.0
    else:
        conjugate = (np.maximum(0, v - lam * share) ** 2).sum() / (2 * lam * (1 - share))
    inside = (u > 0) & (u < 1)
    entropy = -(u[inside] * np.log(u[inside]) + (1 - u[inside]) * np.log1p(-u[inside])).sum()
    return objective(x, y, w, b, lam, share) - (entropy / n - conjugate)


class Referee:
    """Judges one lasso, or a path by its worst point relative to the optimum there."""

    def __init__(self, task, x_path, y_path):
        self.x, self.y = load(x_path), np.load(y_path)
        self.path = task.kind.startswith("path-")
        self.share = 0.0 if task.kind == "path-ridge" else 1.0
        if self.path:
            top = lambda_max(self.x, self.y) * (1 if self.share else 1e3)
            self.lambdas = top * 1e-4 ** (np.arange(100) / 99)
        else:
            self.lambdas = np.array([1.0 / len(self.y)])       # C = 1
        self.best = None

    def objectives(self, outcome):
        w = vector(outcome, self.x.shape[1])
        b = np.ravel(outcome["intercept"])
        points = w if self.path else [w]
        return [objective(self.x, self.y, w, b[i], lam, self.share) for i, (w, lam) in enumerate(zip(points, self.lambdas))]

    def settle(self, outcome):
        """Takes a tight solution for the optimum; returns the largest relative gap that is proved."""
        w, b = vector(outcome, self.x.shape[1]), np.ravel(outcome["intercept"])
        points = w if self.path else [w]
        self.best = self.objectives(outcome)
        gaps = [gap(self.x, self.y, w, b[i], lam, self.share) for i, (w, lam) in enumerate(zip(points, self.lambdas))]
        return max(g / f for g, f in zip(gaps, self.best))

    def __call__(self, outcome):
        """The objective over the optimum, at worst."""
        return max(f / best for f, best in zip(self.objectives(outcome), self.best))
