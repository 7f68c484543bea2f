"""The objectives that scikit-learn documents, computed from coefficients: who is lower has the better fit."""

import numpy as np


def softmax_loss(Z, codes):
    """Σ over rows of log Σ exp(z_k) − z_y."""
    top = Z.max(axis=1)
    return np.log(np.exp(Z - top[:, None]).sum(axis=1)) + top - Z[np.arange(len(codes)), codes]


def losses(model, X, y, loss="log"):
    """The loss of every row under a linear classifier with `coef_` and `intercept_`."""
    codes = np.searchsorted(model.classes_, y)
    Z = np.asarray(X @ model.coef_.T) + model.intercept_
    if Z.shape[1] > 1:
        return softmax_loss(Z, codes)
    margin = np.where(codes == 1, 1.0, -1.0) * Z[:, 0]
    return {
        "log": lambda: np.logaddexp(0.0, -margin),
        "hinge": lambda: np.maximum(0.0, 1 - margin),
        "squared_hinge": lambda: np.maximum(0.0, 1 - margin) ** 2,
    }[loss]()


def penalised(model, X, y, C=1.0, l1_ratio=0.0, sample_weight=None, loss="log", penalised_intercept=False):
    """C·Σ s·loss + (1−a)/2·‖w‖² + a·‖w‖₁ over C·Σs, which is the scale of the library."""
    s = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight)
    w = model.coef_
    penalty = (1 - l1_ratio) / 2 * (w**2).sum() + l1_ratio * np.abs(w).sum()
    if penalised_intercept:
        penalty += (np.asarray(model.intercept_) ** 2).sum() / 2
    return float((s @ losses(model, X, y, loss) + penalty / C) / s.sum())


def kernel_dual(dual_coef, K, C):
    """Σα − ½ ΣΣ αα yy K, the objective that a kernel machine maximises."""
    return float(np.abs(dual_coef).sum() - dual_coef @ K @ dual_coef / 2)
