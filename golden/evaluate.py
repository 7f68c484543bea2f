"""Writes evaluate.json: small data sets with the figures that scikit-learn and scipy give for them.

Run: python golden/evaluate.py        (the versions used are stored in the file)
"""

import json
import pathlib
import platform

import numpy as np
import scipy
import sklearn
from scipy.stats import binomtest
from sklearn import metrics


def case(name, rng, rows, n_classes, weighted, decimals):
    """Random labels and noisy probabilities; few decimals make ties."""
    truth = rng.integers(0, n_classes, rows)
    truth[:n_classes] = np.arange(n_classes)
    scores = rng.normal(size=(rows, n_classes)) + 1.2 * np.eye(n_classes)[truth]
    p = np.exp(scores)
    p /= p.sum(axis=1, keepdims=True)
    p = np.clip(np.round(p, decimals), 10.0**-decimals, None)
    p /= p.sum(axis=1, keepdims=True)
    # For two classes both columns come from one number, or ties in one would not be ties in the other.
    if n_classes == 2:
        p[:, 1] = np.round(p[:, 1], decimals).clip(0.01, 0.99)
        p[:, 0] = 1.0 - p[:, 1]
    predicted = p.argmax(axis=1)
    weights = rng.integers(0, 4, rows).astype(float) if weighted else None
    if weighted:
        weights[:n_classes] = 1.0
    labels = list(range(n_classes))
    f1 = metrics.f1_score(truth, predicted, labels=labels, average=None, sample_weight=weights, zero_division=0.0)
    w = np.ones(rows) if weights is None else weights
    total, right = w.sum(), w[truth == predicted].sum()
    if n_classes == 2:
        auc = metrics.roc_auc_score(truth, p[:, 1], sample_weight=weights)
        brier = metrics.brier_score_loss(truth, p[:, 1], sample_weight=weights)
    else:
        # roc_auc_score(multi_class="ovr") takes no weights; its definition does.
        auc = np.mean([metrics.roc_auc_score(truth == c, p[:, c], sample_weight=weights) for c in labels])
        if weights is None:
            same = metrics.roc_auc_score(truth, p, multi_class="ovr", average="macro", labels=labels)
            assert abs(auc - same) < 1e-14
        brier = metrics.brier_score_loss(truth, p, sample_weight=weights, labels=labels)
    wilson = binomtest(int(right), int(total)).proportion_ci(0.95, method="wilson")
    return {
        "name": name,
        "classes": [f"c{c}" for c in labels],
        "truth": truth.tolist(),
        "predicted": predicted.tolist(),
        "probabilities": p.ravel().tolist(),
        "weights": None if weights is None else weights.tolist(),
        "expected": {
            "accuracy": metrics.accuracy_score(truth, predicted, sample_weight=weights),
            "accuracy_interval": [wilson.low, wilson.high],
            "balanced_accuracy": metrics.balanced_accuracy_score(truth, predicted, sample_weight=weights),
            "log_loss": metrics.log_loss(truth, p, sample_weight=weights, labels=labels),
            "brier": brier,
            "auc": auc,
            "f1": f1.tolist(),
            "confusion": metrics.confusion_matrix(truth, predicted, labels=labels, sample_weight=weights).tolist(),
        },
    }


def main():
    rng = np.random.default_rng(20240611)
    document = {
        "generator": "golden/evaluate.py",
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "cases": [
            case("two classes", rng, 40, 2, False, 6),
            case("two classes, ties", rng, 60, 2, False, 1),
            case("two classes, weights", rng, 50, 2, True, 2),
            case("three classes", rng, 45, 3, False, 6),
            case("three classes, ties, weights", rng, 60, 3, True, 1),
            case("six classes", rng, 70, 6, False, 3),
        ],
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
