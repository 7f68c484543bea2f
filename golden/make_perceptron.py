"""Golden values from scikit-learn's Perceptron and averaged SGDClassifier: perceptron_sklearn.json.

Run: python golden/make_perceptron.py   (numpy, pandas, scikit-learn; versions are recorded in the file)

Rows are visited in their order for a given number of epochs. Each case is run again by the textbook's loop in exact
fractions, and scikit-learn's values must agree with it to rounding.
"""
from fractions import Fraction

import numpy as np
import sklearn
from sklearn.linear_model import Perceptron, SGDClassifier

from common import load, write


def textbook(x, y, epochs, intercept):
    """θ, its average over all steps and the number of mistakes, in exact arithmetic."""
    rows = [[Fraction(float(v)) for v in row] + [Fraction(int(intercept))] for row in x]
    theta, total, steps, mistakes = [Fraction(0)] * len(rows[0]), [Fraction(0)] * len(rows[0]), 0, 0
    for _ in range(epochs):
        for row, side in zip(rows, y):
            if side * sum(w * v for w, v in zip(theta, row)) <= 0:
                theta = [w + int(side) * v for w, v in zip(theta, row)]
                mistakes += 1
            total = [t + w for t, w in zip(total, theta)]
            steps += 1
    return [float(w) for w in theta], [float(t / steps) for t in total], mistakes


def case(name, classes, epochs, intercept=True, stride=1):
    x, codes, names, features, target = load(name)
    keep = np.isin(codes, classes)
    # Classes are sorted in the files; a stride mixes them.
    order = np.argsort(np.arange(keep.sum()) * stride % keep.sum(), kind="stable")
    x, y = x[keep][order], np.where(codes[keep] == classes[1], 1, -1)[order]
    model = Perceptron(shuffle=False, tol=None, max_iter=epochs, fit_intercept=intercept).fit(x, y)
    averaged = SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0, average=True,
                             shuffle=False, tol=None, max_iter=epochs, fit_intercept=intercept).fit(x, y)
    theta, average, mistakes = textbook(x, y, epochs, intercept)
    found = np.concatenate([model.coef_[0], model.intercept_])
    mean = np.concatenate([averaged.coef_[0], averaged.intercept_])
    assert np.allclose(found, theta, rtol=1e-12, atol=1e-9), (found, theta)
    assert np.allclose(mean, average, rtol=1e-9, atol=1e-9), (mean, average)
    return {"data": f"{name}.csv", "target": target, "features": features, "classes": [names[k] for k in classes],
            "order": order, "epochs": epochs, "intercept": intercept, "mistakes": mistakes,
            "theta": found, "averaged": mean, "exact": theta, "exact_average": average}


write("perceptron_sklearn.json", {
    "source": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}",
    "note": "Perceptron and SGDClassifier(average=True) on columns as they are, rows in `order` among those of the two "
            "classes, weights and then the intercept; `exact` by the textbook's loop in fractions, rounded once",
    "cases": [
        case("iris", (0, 1), 5, stride=37),
        case("iris", (0, 1), 1),
        case("iris", (1, 2), 7, stride=37),
        # Of this one another stride has a score that is zero but for rounding, where the two loops part.
        case("iris", (1, 2), 4, intercept=False, stride=41),
        case("penguins", (0, 2), 12, stride=101),
        case("penguins", (0, 1), 6, stride=101),
    ],
})
