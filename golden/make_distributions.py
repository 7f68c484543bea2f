"""Tails and quantiles of distributions by mpmath, at least 60 good digits, rounded once to a double: distributions.json.

Every tail is a series of positive terms at the end where it converges, with as many more digits as the complement needs;
a part is checked by mpmath's own incomplete functions. Quantiles are Newton's method on the logarithm of these tails, from
scipy's value.

Run: python golden/make_distributions.py   (mpmath, scipy; half a minute)
"""
import itertools

import mpmath as mp
from scipy import stats

from common import write

DIGITS = 60


def double(x):
    return float(mp.nstr(x, 40))


def gamma_lower(a, x):
    """P(a, x) by its power series; all terms are positive."""
    term = total = mp.mpf(1)
    n = 0
    while term > total * mp.mpf(10) ** -(mp.mp.dps + 5) or n < x - a:
        n += 1
        term *= x / (a + n)
        total += term
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * total


def gamma_upper_far(a, x):
    """Q(a, x) by Legendre's continued fraction from the end, with twice the terms until two agree."""
    terms, last = 200, None
    while True:
        value = mp.mpf(0)
        for k in range(terms, 0, -1):
            value = k * (a - k) / (x + 2 * k + 1 - a + value)
        value = 1 / (x + 1 - a + value)
        if last is not None and abs(value / last - 1) < mp.mpf(10) ** -DIGITS:
            return a * mp.log(x) - x - mp.loggamma(a) + mp.log(value)
        terms, last = 2 * terms, value


def ln_gamma_tails(a, x):
    """Logarithms of both tails."""
    with mp.workdps(DIGITS + 40):
        a, x = mp.mpf(a), mp.mpf(x)
        if x > a + 30 * mp.sqrt(a) + 100:
            upper = gamma_upper_far(a, x)
            return mp.log1p(-mp.exp(upper)) if upper > -1000 else -mp.exp(upper), upper
    extra = 0
    while True:
        with mp.workdps(DIGITS + 40 + extra):
            lower = gamma_lower(a, x)
            upper = 1 - lower
            if upper > 0 and mp.log10(upper) > -extra - 30:
                return mp.log(lower), mp.log(upper)
        extra = 2 * extra + 100


def beta_lower(a, b, x, y):
    """I_x(a, b) by its power series for x at most one half; all terms are positive."""
    term = total = mp.mpf(1)
    n = 0
    while term > total * mp.mpf(10) ** -(mp.mp.dps + 5):
        term *= x * (a + b + n) / (a + 1 + n)
        total += term
        n += 1
    return mp.exp(a * mp.log(x) + b * mp.log(y) - mp.log(a) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)) * total


def ln_beta_tails(a, b, x, y=None):
    """Logarithms of I_x(a, b) and of its complement; x and y are functions of nothing, made anew at each precision."""
    extra = 0
    while True:
        with mp.workdps(DIGITS + 40 + extra):
            at, rest = x(), (1 - x() if y is None else y())
            swap = at > 0.5
            lower = beta_lower(b, a, rest, at) if swap else beta_lower(a, b, at, rest)
            upper = 1 - lower
            if upper > 0 and mp.log10(upper) > -extra - 30:
                lower, upper = mp.log(lower), mp.log(upper)
                return (upper, lower) if swap else (lower, upper)
        extra = 2 * extra + 100


def beta_tails(x, a, b):
    return ln_beta_tails(mp.mpf(a), mp.mpf(b), lambda: mp.mpf(x))


def f_tails(f, d1, d2):
    """Logarithms of P(F <= f) and P(F >= f)."""
    f, d1, d2 = mp.mpf(f), mp.mpf(d1), mp.mpf(d2)
    upper, lower = ln_beta_tails(d2 / 2, d1 / 2, lambda: d2 / (d2 + d1 * f), lambda: d1 * f / (d2 + d1 * f))
    return lower, upper


def student_tail(t, df):
    return f_tails(mp.mpf(t) ** 2, 1, df)[1]


def chi_tails(x, df):
    return ln_gamma_tails(mp.mpf(df) / 2, mp.mpf(x) / 2)


def quantile(start, p, tails, density):
    """Newton on the logarithm of the smaller tail, in the logarithm of the variable."""
    with mp.workdps(50):
        p, w = mp.mpf(p), mp.log(mp.mpf(start))
        for _ in range(30):
            x = mp.exp(w)
            lower, upper = tails(x)
            side, target, sign = (lower, mp.log(p), 1) if p < 0.5 else (upper, mp.log(1 - p), -1)
            step = sign * (target - side) * mp.exp(side) / (x * density(x))
            w += step
            if abs(step) < mp.mpf(10) ** -35:
                return double(mp.exp(w))
        raise ValueError("no quantile")


def chi_density(df):
    a = mp.mpf(df) / 2
    return lambda x: mp.exp((a - 1) * mp.log(x / 2) - x / 2 - mp.loggamma(a)) / 2


def beta_density(a, b):
    a, b = mp.mpf(a), mp.mpf(b)
    return lambda x: mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) + mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b))


def f_density(d1, d2):
    a, b = mp.mpf(d1) / 2, mp.mpf(d2) / 2
    scale = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b) + a * mp.log(a) + b * mp.log(b)
    return lambda f: mp.exp(scale + (a - 1) * mp.log(f) - (a + b) * mp.log(a * f + b))


def check():
    """Our series against mpmath's functions."""
    with mp.workdps(50):
        for a, x in [(0.3, 0.2), (0.01, 0.5), (3.0, 9.0), (20.0, 150.0), (200.0, 150.0), (4.5, 400.0)]:
            mine, theirs = ln_gamma_tails(a, x)[1], mp.log(mp.gammainc(mp.mpf(a), mp.mpf(x), mp.inf, regularized=True))
            assert abs(mine - theirs) < mp.mpf(10) ** -30 * max(1, abs(mine)), (a, x)
        for a, b, x in [(0.3, 0.2, 0.7), (3.0, 9.0, 0.01), (50.0, 20.0, 0.9), (2.5, 0.5, 0.999)]:
            mine, theirs = beta_tails(x, a, b)[0], mp.log(mp.betainc(mp.mpf(a), mp.mpf(b), 0, mp.mpf(x), regularized=True))
            assert abs(mine - theirs) < mp.mpf(10) ** -30 * max(1, abs(mine)), (a, b, x)


def rows(function, *arguments):
    """Arguments and value of every point."""
    out = []
    for point in arguments:
        value = double(function(*point))
        out.append([*map(float, point), value])
    return out


check()
NORMAL = [1e-300, 1e-20, 1e-9, 1e-3, 0.1, 0.5, 1.0, 1.2, 1.39999, 1.4, 1.40001, 1.5, 1.96, 2.0, 3.0, 5.0, 8.0, 10.0, 20.0, 30.0,
          37.0, 37.5, 40.0, 100.0, 1234.5, 1e5, 1e8, 1e16, 1e50, 1e100, 1e150]
normal = []
for z in NORMAL:
    with mp.workdps(400 if z < 1e-100 else 100):
        half = mp.mpf(z) / mp.sqrt(2)
        value = mp.log(mp.erfc(half)) if z < 2000 else (
            # The divergent series; from 1e5 on its twelfth term is below 1e-100.
            -mp.mpf(z) ** 2 / 2 + mp.log(2 / (mp.mpf(z) * mp.sqrt(2 * mp.pi)))
            + mp.log(mp.fsum((-1) ** k * mp.fac2(2 * k - 1) / mp.mpf(z) ** (2 * k) for k in range(12))))
        normal.append([z, double(value)])

DF = [0.01, 0.3, 1.0, 1.5, 2.0, 3.0, 7.0, 19.0, 21.0, 50.0, 333.3, 1e4, 1e6]
chi = []
for df in DF:
    spread = (2 * df) ** 0.5
    points = {1e-200, 1e-10, 0.01 * df, 0.5 * df, 0.9 * df, df, 1.0, 1.9, 2.5, df + 2 * spread, df + 8 * spread, df + 30 * spread,
              max(df - 3 * spread, 0.3 * df), 30.0, 300.0, 1300.0, 1e4, 1e8, 1e100}
    chi += [(x, df) for x in sorted(points) if not (df == 1e6 and x < 1e5)]
STUDENT_DF = [0.5, 1.0, 2.0, 3.0, 5.5, 10.0, 30.0, 100.0, 1e4, 1e6, 1e8, 1e10]
student = [(t, df) for df in STUDENT_DF for t in [1e-100, 1e-5, 0.1, 0.999, 1.0, 1.001, 2.0, 5.0, 15.0, 36.0, 1e4, 1e50, 1e170]
           if df <= 100 or t <= 36]
F_DF = [(1, 1), (1, 5), (5, 1), (2, 3), (3, 2), (4, 30), (30, 4), (0.5, 7), (12, 1000), (1000, 12), (1e4, 3e4), (1, 1e7), (6, 1e7),
        (1e5, 1e5)]
fisher = [(f, d1, d2) for d1, d2 in F_DF for f in [1e-50, 1e-3, 0.3, 0.97, 1.0, 1.02, 1.5, 4.0, 30.0, 1e3, 1e60]
          if max(d1, d2) < 1e4 or (0.9 < f < 2 or min(d1, d2) < 10 and 1e-5 < f < 50)]
BETA = [(0.5, 0.5), (0.05, 2.0), (2.0, 0.05), (1.0, 10.0), (10.0, 1.0), (3.0, 4.0), (0.3, 100.0), (100.0, 0.3), (50.0, 950.0),
        (1e4, 1e4), (1.0, 1e6), (2e5, 7e5), (1e6, 3.0)]
beta = []
for a, b in BETA:
    mean, spread = a / (a + b), (a * b / (a + b) ** 2 / (a + b + 1)) ** 0.5
    points = {1e-200, 1e-9, 0.01, 0.5, 0.9, 1 - 1e-9, mean, mean - 0.7 * spread, mean + 2 * spread, mean - 6 * spread, mean + 6 * spread,
              mean - 33 * spread, mean + 33 * spread, 0.5 * mean}
    points = [x for x in sorted(points) if 0 < x < 1]
    if a + b > 1e4:
        points = [x for x in points if abs(x - mean) < 40 * spread]
    beta += [(x, a, b) for x in points]

P = [1e-300, 1e-100, 1e-20, 1e-8, 0.001, 0.025, 0.3, 0.5, 0.7, 0.975, 0.9999, 1 - 1e-9, 1 - 2**-53]
chi_q, f_q, t_q, beta_q = [], [], [], []
for df, p in itertools.product([0.3, 1.0, 2.0, 5.0, 40.0, 1e4], P):
    start = stats.chi2.ppf(p, df)
    if start > 1e-300:
        chi_q.append([p, df, quantile(start, p, lambda x: chi_tails(x, df), chi_density(df))])
for (d1, d2), p in itertools.product([(1, 1), (1, 8), (3, 20), (20, 3), (0.7, 5), (300, 400)], P):
    start = stats.f.ppf(p, d1, d2)
    if 1e-300 < start < 1e300:
        f_q.append([p, d1, d2, quantile(start, p, lambda x: f_tails(x, d1, d2), f_density(d1, d2))])
for df, p in itertools.product([0.5, 1.0, 3.0, 10.0, 250.0, 1e6], [x for x in P if x != 0.5] + [0.5 + 1e-9, 0.5 - 1e-4]):
    with mp.workdps(50):
        lower = abs(2 * mp.mpf(p) - 1)
        # T² is F(1, df): quantile of |2p − 1|, from the tail where p is small.
        start = stats.t.ppf(p, df) ** 2
        if not 1e-300 < start < 1e300:
            continue
        square = mp.log(mp.mpf(start))
        for _ in range(30):
            low, up = f_tails(mp.exp(square), 1, df)
            two_sided = 2 * min(mp.mpf(p), 1 - mp.mpf(p))
            side, target, sign = (low, mp.log(lower), 1) if lower < 0.5 else (up, mp.log(two_sided), -1)
            step = sign * (target - side) * mp.exp(side) / (mp.exp(square) * f_density(1, df)(mp.exp(square)))
            square += step
            if abs(step) < mp.mpf(10) ** -35:
                break
        t_q.append([p, df, double(mp.exp(square / 2) * (1 if p > 0.5 else -1))])
for (a, b), p in itertools.product([(0.5, 0.5), (1.0, 10.0), (3.0, 98.0), (98.0, 3.0), (0.2, 4.0), (500.0, 1500.0), (7.0, 1e5)], P):
    start = stats.beta.ppf(p, a, b)
    if 1e-300 < start < 1 - 1e-12:
        beta_q.append([p, a, b, quantile(start, p, lambda x: beta_tails(x, a, b), beta_density(a, b))])

write("distributions.json", {
    "source": f"mpmath {mp.__version__}, at least {DIGITS} digits",
    "what": "Rows of arguments and value. normal_two_sided_ln: z. chi_square_ln_tail: x, df. student_two_sided_ln: t, df. "
            "f_ln_tail: x, d1, d2. beta_ln_cdf: x, a, b. Quantiles: p first. Tails are natural logarithms.",
    "normal_two_sided_ln": normal,
    "chi_square_ln_tail": rows(lambda x, df: chi_tails(x, df)[1], *chi),
    "student_two_sided_ln": rows(student_tail, *student),
    "f_ln_tail": rows(lambda f, d1, d2: f_tails(f, d1, d2)[1], *fisher),
    "beta_ln_cdf": rows(lambda x, a, b: beta_tails(x, a, b)[0], *beta),
    "chi_square_quantile": chi_q, "f_quantile": [[float(v) for v in row] for row in f_q], "student_quantile": t_q,
    "beta_quantile": beta_q})
