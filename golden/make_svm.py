"""Golden values from scikit-learn's SVC and LinearSVC: svm_sklearn.json.

Run: python golden/make_svm.py   (numpy, pandas, scikit-learn; versions are recorded in the file)

The objective at their weights is computed here, on the scale of linsep: mean loss + λ/2 ‖w‖² with λ = 1/(C n), the
intercept penalised as well for LinearSVC's own intercept. It is an upper bound on the optimum; `within` says how
close their duality gap (SVC) or tolerance brings it, relatively.
"""
import numpy as np
import sklearn
from sklearn.svm import SVC, LinearSVC

from common import load, write


def objective(x, y, w, b, c, squared, penalised):
    slack = np.maximum(0, 1 - y * (x @ w + b))
    return float(np.mean(slack**2 if squared else slack) + (w @ w + (b * b if penalised else 0)) / (2 * c * len(y)))


def case(name, data, classes, c, loss, intercept):
    x, codes, names, features, target = load(data)
    keep = np.isin(codes, classes)
    x, y = x[keep], np.where(codes[keep] == classes[1], 1.0, -1.0)
    squared = loss == "squared_hinge"
    if loss == "hinge" and intercept == "free":
        model = SVC(C=c, kernel="linear", tol=1e-9).fit(x, y)
        alpha = np.zeros(len(y))
        alpha[model.support_] = model.dual_coef_[0]
        w, b = model.coef_[0], model.intercept_[0]
        value = objective(x, y, w, b, c, squared, False)
        dual = (np.abs(alpha).sum() - w @ w / 2) / (c * len(y))
        within = max((value - dual) / value, 1e-9)
    else:
        # Its intercept is the weight of a column of ones.
        model = LinearSVC(C=c, loss=loss, dual=True, fit_intercept=intercept == "penalised", tol=1e-10,
                          max_iter=20_000_000, random_state=0).fit(x, y)
        w = model.coef_[0]
        b = float(np.ravel(model.intercept_)[0]) if intercept == "penalised" else 0.0
        value, within = objective(x, y, w, b, c, squared, intercept == "penalised"), 1e-6
    return {"name": name, "data": data, "features": features, "target": target, "classes": [names[k] for k in classes],
            "C": c, "loss": loss, "intercept": intercept, "objective": value, "within": within}


write("svm_sklearn.json", {
    "versions": {"sklearn": sklearn.__version__, "numpy": np.__version__},
    "cases": [
        case("iris, free intercept", "iris", [1, 2], 1.0, "hinge", "free"),
        case("iris, free intercept, C = 100", "iris", [1, 2], 100.0, "hinge", "free"),
        case("iris, separable", "iris", [0, 1], 10.0, "hinge", "free"),
        case("iris, no intercept", "iris", [1, 2], 1.0, "hinge", "none"),
        case("iris, penalised intercept", "iris", [1, 2], 1.0, "hinge", "penalised"),
        case("iris, squared hinge, penalised intercept", "iris", [1, 2], 1.0, "squared_hinge", "penalised"),
        case("iris, squared hinge, no intercept", "iris", [1, 2], 0.1, "squared_hinge", "none"),
    ],
})
