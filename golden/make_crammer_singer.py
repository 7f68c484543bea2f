"""Golden values from scikit-learn's LinearSVC(multi_class="crammer_singer"): crammer_singer_sklearn.json.

Run: python golden/make_crammer_singer.py   (numpy, pandas, scikit-learn; versions are recorded in the file)

The objective at its weights is computed here, on the scale of linsep: mean loss + λ/2 ‖W‖² with λ = 1/(C n), the
intercepts penalised as well where there are any (they are the weights of a column of ones). It is an upper bound on the
optimum; `within` says how close the tolerance is taken to bring it, relatively.
"""
import warnings

import numpy as np
import sklearn
from sklearn.svm import LinearSVC

from common import load, write


def objective(x, codes, w, b, c):
    z = x @ w.T + b
    own = z[np.arange(len(codes)), codes]
    margin = z - own[:, None] + 1
    margin[np.arange(len(codes)), codes] = 0
    return float(np.mean(margin.max(axis=1)) + ((w**2).sum() + (b**2).sum()) / (2 * c * len(codes)))


def case(name, data, c, intercept):
    x, codes, names, features, target = load(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(C=c, multi_class="crammer_singer", fit_intercept=intercept == "penalised", tol=1e-10,
                          max_iter=20_000_000, random_state=0).fit(x, codes)
    b = model.intercept_ if intercept == "penalised" else np.zeros(len(names))
    value = objective(x, codes, model.coef_, b, c)
    return {"name": name, "data": data, "features": features, "target": target, "classes": names, "C": c,
            "intercept": intercept, "objective": value, "within": 1e-6}


write("crammer_singer_sklearn.json", {
    "versions": {"sklearn": sklearn.__version__, "numpy": np.__version__},
    "cases": [
        case("iris, no intercept", "iris", 1.0, "none"),
        case("iris, penalised intercept", "iris", 1.0, "penalised"),
        case("iris, C = 0.01", "iris", 0.01, "penalised"),
        case("iris, C = 10", "iris", 10.0, "none"),
    ],
})
