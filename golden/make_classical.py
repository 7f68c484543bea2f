"""Golden values of inference about Gaussian classes and least squares, by statsmodels and scipy.

Hotelling's T², Wilks' Λ and Pillai's trace (MANOVA), Box's M, exact binomial intervals, t intervals, least squares with HC0 to HC3
and type II F tests. What statsmodels does not have (sets of means, tests with own covariances, Wilks' Λ of terms) is computed here
in 50 digits by mpmath from the textbook formulas, and so is everything else once more: both must agree.
"""

import mpmath as mp
import numpy as np
import pandas as pd
import scipy
import statsmodels
import statsmodels.api as sm
from scipy import stats
from statsmodels.multivariate.manova import MANOVA
from statsmodels.stats.multivariate import test_cov_oneway, test_mvmean_2indep
from statsmodels.stats.proportion import proportion_confint

from common import DATA, load, write

mp.mp.dps = 50
LEVEL = 0.95


def close(a, b, tolerance=1e-9):
    a, b = float(a), float(b)
    assert abs(a - b) <= tolerance * max(1e-300, abs(a), abs(b)), (a, b)


def scatter(rows):
    """Mean and sum of squares about it, in 50 digits."""
    rows = mp.matrix([[mp.mpf(str(v)) for v in row] for row in rows])
    n, d = rows.rows, rows.cols
    mean = mp.matrix([sum(rows[i, j] for i in range(n)) / n for j in range(d)])
    about = mp.matrix(n, d)
    for i in range(n):
        for j in range(d):
            about[i, j] = rows[i, j] - mean[j]
    return mean, about.T * about


def f_tail(f, d1, d2):
    """log10 of the upper tail of F."""
    x = mp.mpf(d2) / (d2 + d1 * mp.mpf(f))
    return mp.log10(mp.betainc(mp.mpf(d2) / 2, mp.mpf(d1) / 2, 0, x, regularized=True))


def chi_tail(x, df):
    return mp.log10(mp.gammainc(mp.mpf(df) / 2, mp.mpf(x) / 2, regularized=True))


def rao(ln_wilks, p, q, freedom):
    t = mp.sqrt(mp.mpf(p * p * q * q - 4) / (p * p + q * q - 5)) if p * p + q * q > 5 else mp.mpf(1)
    df2 = (freedom + q - mp.mpf(p + q + 1) / 2) * t - mp.mpf(p * q - 2) / 2
    root = mp.e ** (ln_wilks / t)
    return (1 - root) / root * df2 / (p * q), p * q, df2


def gaussian(frame, features, target):
    classes = sorted(frame[target].unique())
    parts = {c: frame.loc[frame[target] == c, features].to_numpy(float) for c in classes}
    sums = {c: scatter(rows) for c, rows in parts.items()}
    n, k, d = len(frame), len(classes), len(features)
    counts = [len(parts[c]) for c in classes]
    within = sum((s for _, s in sums.values()), mp.zeros(d))
    total = scatter(frame[features].to_numpy(float))[1]
    found = {"target": target, "features": features, "classes": classes, "counts": counts, "n": n}

    low, high = proportion_confint(counts, n, alpha=1 - LEVEL, method="beta")
    found["share_low"], found["share_high"] = low, high

    # Means with the pooled variance, and with that of the class.
    for name, freedom, matrix in [
        ("shared", lambda c: n - k, lambda c: within),
        ("own", lambda c: len(parts[c]) - 1, lambda c: sums[c][1]),
    ]:
        lines, radii, variances = [], [], []
        for c in classes:
            nu, own = freedom(c), len(parts[c])
            se = [float(mp.sqrt(matrix(c)[j, j] / nu / own)) for j in range(d)]
            t = stats.t.ppf(0.5 + LEVEL / 2, nu)
            mean = [float(m) for m in sums[c][0]]
            lines.append({"mean": mean, "se": se, "low": [m - t * s for m, s in zip(mean, se)]})
            radii.append(d * nu / (nu - d + 1) * stats.f.ppf(LEVEL, d, nu - d + 1))
            s2 = [float(matrix(c)[j, j] / nu) for j in range(d)]
            ends = nu / stats.chi2.ppf([0.5 + LEVEL / 2, 0.5 - LEVEL / 2], nu)
            variances.append({"low": [v * ends[0] for v in s2], "high": [v * ends[1] for v in s2]})
        found[name] = {"means": lines, "radius_squared": radii, "variances": variances}

    # Wilks and Pillai by statsmodels, and in 50 digits.
    ln_wilks = mp.log(mp.det(within)) - mp.log(mp.det(total))
    f, df1, df2 = rao(ln_wilks, d, k - 1, n - k)
    between = total - within
    pillai = sum((between * total**-1)[j, j] for j in range(d))
    table = MANOVA.from_formula(" + ".join(features) + f" ~ C({target})", frame).mv_test().results[f"C({target})"]["stat"]
    close(mp.e**ln_wilks, table.loc["Wilks' lambda", "Value"])
    close(f, table.loc["Wilks' lambda", "F Value"])
    close(df2, table.loc["Wilks' lambda", "Den DF"])
    close(pillai, table.loc["Pillai's trace", "Value"])
    found["wilks"] = {"value": float(mp.e**ln_wilks), "f": float(f), "df": [df1, float(df2)], "log10_p": float(f_tail(f, df1, df2))}
    row = table.loc["Pillai's trace"]
    f, df = row["F Value"], [row["Num DF"], row["Den DF"]]
    found["pillai"] = {"value": float(pillai), "f": f, "df": df, "log10_p": float(f_tail(f, *map(mp.mpf, df)))}

    # Box's M.
    covariances = [np.cov(parts[c].T) for c in classes]
    by = test_cov_oneway(covariances, counts)
    nu = [m - 1 for m in counts]
    m = sum(nu) * mp.log(mp.det(within / sum(nu))) - sum(v * mp.log(mp.det(sums[c][1] / v)) for v, c in zip(nu, classes))
    close(by.statistic_base if hasattr(by, "statistic_base") else m, m, 1e-8)
    found["box"] = {
        "m": float(m),
        "chi_squared": float(by.statistic_chi2),
        "df": float(by.df_chi2),
        "log10_p": float(chi_tail(by.statistic_chi2, by.df_chi2)),
        "f": float(by.statistic_f),
        "f_df": [float(by.df_f[0]), float(by.df_f[1])],
    }

    # One column at a time.
    anova = [stats.f_oneway(*(parts[c][:, j] for c in classes)).statistic for j in range(d)]
    found["columns"] = [float(f) for f in anova]

    # σ²I.
    trace_w = sum(within[j, j] for j in range(d))
    trace_b = sum(between[j, j] for j in range(d))
    f = (trace_b / (d * (k - 1))) / (trace_w / (d * (n - k)))
    found["spherical"] = {"f": float(f), "log10_p": float(f_tail(f, d * (k - 1), d * (n - k)))}

    if k == 2:
        by = test_mvmean_2indep(parts[classes[0]], parts[classes[1]])
        delta = sums[classes[1]][0] - sums[classes[0]][0]
        t2 = mp.mpf(counts[0] * counts[1]) / n * (delta.T * (within / (n - 2)) ** -1 * delta)[0]
        close(t2, by.t2)
        f = t2 * (n - d - 1) / ((n - 2) * d)
        close(f, by.statistic)
        found["hotelling"] = {"value": float(t2), "f": float(f), "df": [d, n - d - 1], "log10_p": float(f_tail(f, d, n - d - 1))}
        # Krishnamoorthy and Yu (2004).
        each = [sums[c][1] / (len(parts[c]) - 1) / len(parts[c]) for c in classes]
        whole = each[0] + each[1]
        t2 = (delta.T * whole**-1 * delta)[0]
        weight = mp.mpf(0)
        for s, c in zip(each, counts):
            a = s * whole**-1
            square = a * a
            weight += (sum(square[j, j] for j in range(d)) + sum(a[j, j] for j in range(d)) ** 2) / (c - 1)
        nu = (d + d * d) / weight
        f = t2 * (nu - d + 1) / (nu * d)
        found["unequal"] = {"value": float(t2), "f": float(f), "df": [d, float(nu - d + 1)], "log10_p": float(f_tail(f, d, nu - d + 1))}
    return found


def squares_of(x, y):
    """Residual products of the columns of y on x with an intercept."""
    x = np.column_stack([np.ones(len(x)), x]) if x.shape[1] else np.ones((len(x), 1))
    x = mp.matrix(x.tolist())
    y = mp.matrix(y.tolist())
    b = (x.T * x) ** -1 * (x.T * y)
    e = y - x * b
    return e.T * e, b


def least_squares(frame, numbers, text, target):
    classes = sorted(frame[target].unique())
    n = len(frame)
    blocks = {name: frame[[name]].to_numpy(float) for name in numbers}
    for name in text:
        levels = sorted(frame[name].unique())[1:]
        blocks[name] = np.column_stack([(frame[name] == level).to_numpy(float) for level in levels])
    x = np.column_stack(list(blocks.values()))
    d = x.shape[1]
    indicator = np.column_stack([(frame[target] == c).to_numpy(float) for c in classes])
    found = {"target": target, "numbers": numbers, "text": text, "classes": classes, "n": n, "classes_lines": []}
    used = [1] if len(classes) == 2 else range(len(classes))
    for k in used:
        y = 2 * indicator[:, k] - 1 if len(classes) == 2 else indicator[:, k]
        fit = sm.OLS(y, sm.add_constant(x)).fit()
        line = {"estimate": fit.params, "se": fit.bse, "t": fit.tvalues}
        for kind in ["HC0", "HC1", "HC2", "HC3"]:
            line[kind.lower()] = getattr(fit, f"{kind}_se")
        found["classes_lines"].append(line)
        if len(classes) == 2:
            found["r_squared"] = fit.rsquared
            found["overall_f"] = fit.fvalue
    # Every term beside the others, by Wilks' Λ of all classes but the first.
    response = indicator[:, 1:]
    full, _ = squares_of(x, response)
    found["terms"] = []
    p = response.shape[1]
    for left in list(blocks) + [None]:
        rest = [b for name, b in blocks.items() if left is not None and name != left]
        smaller = np.column_stack(rest) if rest else np.empty((n, 0))
        some, _ = squares_of(smaller, response)
        q = d - smaller.shape[1]
        ln_wilks = mp.log(mp.det(full)) - mp.log(mp.det(some))
        f, df1, df2 = rao(ln_wilks, p, q, n - d - 1)
        name = "(all)" if left is None else left
        found["terms"].append({"name": name, "value": float(mp.e**ln_wilks), "f": float(f), "df": [df1, float(df2)], "log10_p": float(f_tail(f, df1, df2))})
    if len(classes) == 2:
        close(found["terms"][-1]["f"], found["overall_f"])
    return found


def main():
    penguins = pd.read_csv(DATA / "penguins.csv").dropna()
    iris = pd.read_csv(DATA / "iris.csv")
    iris.columns = [c.replace(".", "_") for c in iris.columns]
    measures = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    write(
        "classical.json",
        {
            "source": f"statsmodels {statsmodels.__version__}, scipy {scipy.__version__}, mpmath {mp.__version__} (50 digits)",
            "level": LEVEL,
            "gaussian": [
                {"data": "penguins"} | gaussian(penguins, measures, "species"),
                {"data": "penguins"} | gaussian(penguins, measures[:3], "sex"),
                {"data": "iris"} | gaussian(iris, [c for c in iris.columns if c != "Species"], "Species"),
            ],
            "least_squares": [
                {"data": "penguins"} | least_squares(penguins, ["bill_depth_mm", "body_mass_g"], ["island"], "sex"),
                {"data": "penguins"} | least_squares(penguins, measures[:3], [], "sex"),
                {"data": "penguins"} | least_squares(penguins, ["flipper_length_mm", "body_mass_g"], ["sex"], "species"),
            ],
        },
    )


if __name__ == "__main__":
    main()
