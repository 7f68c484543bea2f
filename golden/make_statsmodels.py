"""Maximum likelihood by statsmodels, tolerance at rounding: logistic_statsmodels.json.

Run: python golden/make_statsmodels.py   (statsmodels)
"""
import numpy as np
import statsmodels
import statsmodels.api as sm

from common import load, write

cases = []
for name, keep in (("iris", (1, 2)), ("sim3", (0, 1))):
    X, y, classes, features, target = load(name)
    rows = np.isin(y, keep)
    fit = sm.Logit((y[rows] == keep[1]).astype(float), sm.add_constant(X[rows])).fit(method="newton", maxiter=200, tol=1e-15, disp=0)
    gradient = fit.model.score(fit.params)
    assert np.abs(gradient).max() < 1e-8 * rows.sum(), gradient
    cases.append({"data": f"{name}.csv", "features": features, "target": target, "classes": [classes[k] for k in keep],
                  "intercept": [fit.params[0]], "coef": [fit.params[1:]], "log_likelihood": fit.llf})
X, y, classes, features, target = load("sim3")
fit = sm.MNLogit(y, sm.add_constant(X)).fit(method="newton", maxiter=200, tol=1e-15, disp=0)
assert np.abs(fit.model.score(fit.params.ravel(order="F"))).max() < 1e-8 * len(y)
cases.append({"data": "sim3.csv", "features": features, "target": target, "classes": classes, "intercept": fit.params[0],
              "coef": fit.params[1:].T, "log_likelihood": fit.llf})
write("logistic_statsmodels.json", {
    "source": f"statsmodels {statsmodels.__version__}",
    "content": "maximum likelihood; log-odds of the last class against the first (two), of each class against the first (more)",
    "cases": cases})
