"""Marginal effects, robust and clustered errors by statsmodels: inference_statsmodels.json; and the check of inference_r.json by mpmath.

Run: python golden/make_inference.py   (statsmodels, mpmath; after make_inference.R)

Estimates are polished by Newton steps; statsmodels must agree. Standard errors of effects: delta method, the derivative by a
complex step. Discrete changes of a text column from its reference level to another are those of the definition (all other
indicators of the column are 0 in both states); statsmodels changes one indicator and leaves the others as they are, which
puts a row into two levels at once: its numbers are stored apart, as `one_indicator`.
The check: at 50 digits, Newton's step from the doubles of inference_r.json (and inference_shared_r.json, where the data are there)
must be below 1e-11 standard errors, standard errors must agree to 1e-10, and the log-likelihood at refits with one
coefficient held at a profile limit must lie half the chi-square quantile below the maximum.
"""
import json
import os
import sys
from pathlib import Path

import mpmath as mp
import numpy as np
import pandas as pd
import scipy
import statsmodels
import statsmodels.api as sm

from common import DATA, HERE, write

SHARED = Path(os.environ.get("LINSEP_SHARED", "../shared/data")) / "small"


# ---- data and columns
def table(case, folder):
    frame = pd.read_csv(folder / case["data"], keep_default_na=False, na_values=["", "NA"])
    if case["data"].endswith("lizards.csv"):
        rows = [dict(row, species=s, count=row[s]) for row in frame.to_dict("records") for s in ("grahami", "opalinus")]
        frame = pd.DataFrame([r for r in rows if r["count"] > 0])
    if case["name"] == "sim3_ab":
        frame = frame[frame["class"] != "c"]
    names = case["coefficients"]["names"] if "coefficients" in case else case["names"]
    used = {part.split("=")[0] for name in names if name != "(intercept)" for part in name.split("*")}
    return frame.dropna(subset=sorted(used) + [case["target"]]).reset_index(drop=True)


def column(frame, name):
    if name == "(intercept)":
        return np.ones(len(frame))
    value = np.ones(len(frame))
    for part in name.split("*"):
        base, _, level = part.partition("=")
        value = value * ((frame[base].astype(str) == level) if level else frame[base].to_numpy(float))
    return value


def unpack(case, folder):
    frame = table(case, folder)
    assert len(frame) == case.get("rows_in_file", len(frame))
    names = case["coefficients"]["names"] if "coefficients" in case else case["names"]
    names = list(dict.fromkeys(names))
    X = np.column_stack([column(frame, name) for name in names])
    y = frame[case["target"]].astype(str).map({c: k for k, c in enumerate(case["classes"])}).to_numpy()
    w = frame[case["weights_column"]].to_numpy(float) if case.get("weights_column") else (
        frame["count"].to_numpy(float) if case.get("weights") else np.ones(len(frame)))
    return frame, names, X, y, w


# ---- 50 digits
mp.mp.dps = 50


def mp_at(X, y, w, K, theta, offset=None, firth=False):
    """Log-likelihood, score and information; parameters class by class."""
    p, q = len(X[0]), len(X[0]) * (K - 1)
    u, info, ll, probabilities = [mp.mpf(0)] * q, mp.zeros(q), mp.mpf(0), []
    for i, x in enumerate(X):
        eta = [mp.fdot(x, theta[a * p:(a + 1) * p]) + (offset[i] if offset else 0) for a in range(K - 1)]
        e = [mp.exp(v) for v in eta]
        den = 1 + mp.fsum(e)
        P = [v / den for v in e]
        probabilities.append(P)
        ll += w[i] * ((eta[y[i] - 1] if y[i] else 0) - mp.log(den))
        for a in range(K - 1):
            r = w[i] * ((1 if y[i] == a + 1 else 0) - P[a])
            for j in range(p):
                if x[j]:
                    u[a * p + j] += r * x[j]
            for b in range(a + 1):
                v = w[i] * P[a] * ((1 if a == b else 0) - P[b])
                for j in range(p):
                    if x[j]:
                        vx = v * x[j]
                        for k in range(p if a != b else j + 1):
                            if x[k]:
                                info[a * p + j, b * p + k] += vx * x[k]
    for a in range(q):
        for b in range(a):
            info[b, a] = info[a, b]
    if firth:
        V = info ** -1
        for i, x in enumerate(X):
            pi = probabilities[i][0]
            h = pi * (1 - pi) * mp.fsum(x[j] * mp.fsum(V[j, k] * x[k] for k in range(p)) for j in range(p))
            for j in range(p):
                u[j] += h * (mp.mpf(1) / 2 - pi) * x[j]
    return ll, mp.matrix(u), info


def exact(X, w):
    return [[mp.mpf(float(v)) for v in row] for row in X], [mp.mpf(float(v)) for v in w]


def check(case, folder):
    _, names, X, y, w = unpack(case, folder)
    K = len(case["classes"])
    Xm, wm = exact(X, w)
    estimate, se = case["coefficients"]["estimate"], case["coefficients"]["se"]
    ll, u, info = mp_at(Xm, y, wm, K, [mp.mpf(v) for v in estimate])
    V = info ** -1
    step = V * u
    worst = max(abs(step[j]) / se[j] for j in range(len(se)))
    relative = max(abs(step[j] / estimate[j]) for j in range(len(se)))
    errors = max(abs(mp.sqrt(V[j, j]) / se[j] - 1) for j in range(len(se)))
    vcov = max(abs(V[i, j] - case["vcov"][i][j]) / mp.sqrt(V[i, i] * V[j, j]) for i in range(len(se)) for j in range(len(se)))
    likelihood = abs(ll / case["fit"]["log_likelihood"] - 1)
    print(f"{case['name']:24} step/se {mp.nstr(worst, 2)} relative {mp.nstr(relative, 2)} se {mp.nstr(errors, 2)} vcov {mp.nstr(vcov, 2)} ll {mp.nstr(likelihood, 2)}", flush=True)
    assert worst < 1e-11 and relative < 1e-10 and errors < 1e-10 and vcov < 1e-10 and likelihood < 1e-13
    return Xm, y, wm, K, ll


def check_profile(case, folder, which):
    """Refits at 50 digits with one coefficient held at its limit (two classes)."""
    Xm, y, wm, K, ll = check(case, folder)
    assert K == 2
    quantile = mp.mpf("3.841458820694124035857")
    for j in which:
        for side in ("profile_low", "profile_high"):
            b = mp.mpf(case["coefficients"][side][j])
            rest = [[v for k, v in enumerate(x) if k != j] for x in Xm]
            offset = [b * x[j] for x in Xm]
            estimate, V = case["coefficients"]["estimate"], case["vcov"]    # start on the tangent of the profile
            theta = [mp.mpf(v + V[k][j] / V[j][j] * (float(b) - estimate[j])) for k, v in enumerate(estimate) if k != j]
            for _ in range(7):
                low, u, info = mp_at(rest, y, wm, 2, theta, offset)
                step = mp.lu_solve(info, u)
                theta = [t + s for t, s in zip(theta, step)]
            gap = 2 * (ll - low) - quantile
            print("  limit", j, side, mp.nstr(gap, 3), flush=True)
            assert abs(gap) < 1e-10


def check_firth(case, folder):
    _, names, X, y, w = unpack(case, folder)
    Xm, wm = exact(X, w)
    f = case["firth"]
    _, u, info = mp_at(Xm, y, wm, 2, [mp.mpf(v) for v in f["estimate"]], firth=True)
    V = info ** -1
    step = V * u
    worst = max(abs(step[j]) / f["se"][j] for j in range(len(names)))
    errors = max(abs(mp.sqrt(V[j, j]) / f["se"][j] - 1) for j in range(len(names)))
    print(f"firth {case['name']:18} step/se {mp.nstr(worst, 2)} se {mp.nstr(errors, 2)}", flush=True)
    assert worst < 1e-11 and errors < 1e-10


# ---- maximum likelihood in doubles, softmax, parameters class by class
def probabilities(X, theta, K):
    e = np.exp(X @ theta.reshape(K - 1, -1).T)
    den = 1 + e.sum(axis=1)
    return np.column_stack([1 / den] + [e[:, a] / den for a in range(K - 1)])


def information(X, theta, K):
    P, p = probabilities(X, theta, K), X.shape[1]
    H = np.zeros((p * (K - 1),) * 2)
    for a in range(K - 1):
        for b in range(K - 1):
            H[a * p:(a + 1) * p, b * p:(b + 1) * p] = X.T @ (X * (P[:, a + 1] * ((a == b) - P[:, b + 1]))[:, None])
    return P, H


def effects(X, theta, K, j):
    """Average derivative of each class's probability in column j."""
    P = probabilities(X, theta, K)
    slope = np.concatenate([[0], theta.reshape(K - 1, -1)[:, j]])
    return (P * (slope - (P @ slope)[:, None])).mean(axis=0)


def change(X, theta, K, set_high, set_low):
    high, low = X.copy(), X.copy()
    for j, v in set_high.items():
        high[:, j] = v
    for j, v in set_low.items():
        low[:, j] = v
    return (probabilities(high, theta, K) - probabilities(low, theta, K)).mean(axis=0)


def delta(function, theta, V):
    value = function(theta)
    J = np.empty((len(value), len(theta)))
    for k in range(len(theta)):
        z = theta.astype(complex)
        z[k] += 1e-30j
        J[:, k] = function(z).imag / 1e-30
    return value.real, np.sqrt(np.diag(J @ V @ J.T))


def summary(value, se):
    z = value / se
    return {"effect": value, "se": se, "z": z, "p": 2 * scipy.stats.norm.sf(np.abs(z)),
            "low": value - 1.959963984540054 * se, "high": value + 1.959963984540054 * se}


def marginal(case, folder, cluster=None):
    frame, names, X, y, w = unpack(case, folder)
    K, p = len(case["classes"]), X.shape[1]
    copies = np.repeat(np.arange(len(y)), w.astype(int))
    X, y = X[copies], y[copies]
    n, theta = len(y), np.array(case["coefficients"]["estimate"])
    P, H = information(X, theta, K)
    V = np.linalg.inv(H)
    assert np.abs(np.sqrt(np.diag(V)) / case["coefficients"]["se"] - 1).max() < 1e-8
    Model = sm.Logit if K == 2 else sm.MNLogit
    fit = Model(y, X).fit(method="newton", maxiter=200, tol=1e-15, disp=0)
    params = np.asarray(fit.params)
    params = params if K == 2 else params.T.ravel()
    assert np.abs(params - theta).max() < 1e-7 * np.abs(theta).max(), np.abs(params - theta).max()
    numeric = [j for j in range(1, p) if "=" not in names[j]]
    binary_columns = [j for j in numeric if set(np.unique(X[:, j])) <= {0.0, 1.0}]
    text = [j for j in range(1, p) if "=" in names[j]]
    shown = slice(1, 2) if K == 2 else slice(0, K)      # two classes: of the second class

    def listing(rows):
        out = []
        for name, (value, se) in rows:
            if K == 2:
                out.append({"name": name, **{k: float(v[0]) for k, v in summary(value[1:2], se[1:2]).items()}})
            else:
                out += [{"name": name, "class": c, **{k: float(v[k2]) for k, v in summary(value, se).items()}} for k2, c in enumerate(case["classes"])]
        return out

    derivative = [(names[j], delta(lambda t, j=j: effects(X, t, K, j), theta, V)) for j in range(1, p)]
    one = [(names[j], delta(lambda t, j=j: change(X.astype(t.dtype), t, K, {j: 1}, {j: 0}), theta, V)) for j in binary_columns + text]
    levels = []
    for j in text:
        family = [k for k in text if names[k].split("=")[0] == names[j].split("=")[0]]
        levels.append((names[j], delta(lambda t, j=j, family=family: change(
            X.astype(t.dtype), t, K, {k: float(k == j) for k in family}, {k: 0.0 for k in family}), theta, V)))
    # statsmodels: derivatives overall; with dummy, changes of single indicators
    ours = np.array([v[shown] for _, (v, _) in derivative]); ours_se = np.array([s[shown] for _, (_, s) in derivative])
    sm_all = fit.get_margeff(at="overall", method="dydx")
    assert np.allclose(sm_all.margeff.reshape(ours.shape), ours, rtol=1e-6, atol=1e-10), (sm_all.margeff, ours)
    assert np.allclose(sm_all.margeff_se.reshape(ours.shape), ours_se, rtol=1e-5)
    if K == 2:  # MNLogit's own fails with dummy=True (shapes)
        sm_dummy = fit.get_margeff(at="overall", method="dydx", dummy=True)
        value, se = sm_dummy.margeff.reshape(ours.shape), sm_dummy.margeff_se.reshape(ours.shape)
        for name, (v, s) in one:
            j = names.index(name) - 1
            assert np.allclose(value[j], v[shown], rtol=1e-6, atol=1e-10) and np.allclose(se[j], s[shown], rtol=1e-5), (name, value[j], v)
    mean = fit.get_margeff(at="mean", method="dydx")
    at_mean = [(names[j], delta(lambda t, j=j: effects(X.mean(axis=0, keepdims=True), t, K, j), theta, V)) for j in range(1, p)]
    assert np.allclose(mean.margeff.reshape(ours.shape), np.array([v[shown] for _, (v, _) in at_mean]), rtol=1e-6, atol=1e-10)
    out = {"name": case["name"], "data": case["data"], "target": case["target"], "classes": case["classes"], "formula": case["formula"],
           "weights_column": case.get("weights_column"), "n": n, "log_likelihood": float(fit.llf), "statsmodels_estimate": params,
           "average_derivative": listing(derivative),
           "discrete_change": listing([r for r in one if "=" not in r[0]] + levels),
           "one_indicator": listing([r for r in one if "=" in r[0]]) if K == 2 else [],
           "derivative_at_mean": listing(at_mean)}
    # robust errors: scores of rows
    U = np.column_stack([X * ((y == a + 1) - P[:, a + 1])[:, None] for a in range(K - 1)])
    q = len(theta)
    robust = {"hc0": V @ (U.T @ U) @ V}
    robust["hc1"] = robust["hc0"] * n / (n - q)
    if K == 2:
        # statsmodels calls this HC0 and, for Logit, gives the same under the names HC1 to HC3
        other = Model(y, X).fit(method="newton", maxiter=200, tol=1e-15, disp=0, cov_type="HC0").cov_params()
        assert np.allclose(other, robust["hc0"], rtol=1e-5, atol=1e-12)
    if cluster:
        g = pd.factorize(frame[cluster].to_numpy()[copies])[0]
        G = g.max() + 1
        sums = np.zeros((G, q))
        np.add.at(sums, g, U)
        robust["cluster"] = V @ (sums.T @ sums) @ V * G / (G - 1)
        if K == 2:  # statsmodels' correction has a further (n-1)/(n-k)
            other = Model(y, X).fit(method="newton", maxiter=200, tol=1e-15, disp=0, cov_type="cluster", cov_kwds={"groups": g}).cov_params()
            ratio = (other / robust["cluster"])
            assert np.allclose(ratio, (n - 1) / (n - q), rtol=1e-6) or np.allclose(ratio, 1, rtol=1e-6), ratio
            out["statsmodels_cluster_factor"] = float(np.median(ratio))
    for kind in robust:
        assert np.allclose(robust[kind], np.array(case["robust"][kind]), rtol=1e-7, atol=1e-12 * np.abs(V).max()), kind
    out["se"] = np.sqrt(np.diag(V))
    out["robust_se"] = {k: np.sqrt(np.diag(v)) for k, v in robust.items()}
    return out


def cases(file):
    path = HERE / file
    return json.loads(path.read_text()) if path.exists() else None


WHAT = ("Average marginal effects of maximum likelihood fits (two classes: on the probability of the second class, more: of every class). "
        "average_derivative: mean over rows of dp/dx_j, for indicators and 0/1 columns as well (statsmodels get_margeff, overall, dydx). discrete_change: mean of "
        "p(x_j = 1) - p(x_j = 0) for 0/1 columns, and of p(level) - p(reference level) for text columns (all indicators of the column set). one_indicator: what "
        "statsmodels gives with dummy=True for an indicator, the other indicators left as observed. derivative_at_mean: at the means of the columns. "
        "se: delta method, rows as given. robust_se: hc0, hc1 and cluster (G/(G-1)) as in inference_r.json; statsmodels_cluster_factor: what statsmodels' own "
        "clustered covariance is multiplied by against it.")
full = "--no-check" not in sys.argv
for file, folder, out in (("inference_r.json", DATA, "inference_statsmodels.json"), ("inference_shared_r.json", SHARED, "inference_shared_statsmodels.json")):
    golden = cases(file)
    if golden is None or not folder.exists():
        print("without", file)
        continue
    clusters = {"infer": "clinic", "infer_counts": "clinic", "infer_grade": "clinic", "infer_grade_counts": "clinic"}
    done = [marginal(c, folder, clusters.get(c["name"])) for c in golden["binary"] + golden.get("multinomial", []) if not any("*" in v for v in c["coefficients"]["names"])]
    write(out, {"source": f"statsmodels {statsmodels.__version__}, numpy {np.__version__}; estimates polished, checked by mpmath {mp.__version__}", "what": WHAT, "cases": done})
    if full:
        for c in golden["binary"] + golden.get("multinomial", []):
            if c["name"] in ("infer", "birthwt"):
                check_profile(c, folder, [0, 1, 3, 4])
            else:
                check(c, folder)
        for c in golden["firth"]:
            check_firth(c, folder)
