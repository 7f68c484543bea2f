"""The normal distribution function, log gamma, and log densities of every family by mpmath, 60 digits, rounded once to the
nearest double; Bayes errors of Gaussian classes by numerical integration: density.json.

Run: python golden/make_density.py   (mpmath)
"""
import mpmath as mp

from common import write

mp.mp.dps = 60


def double(x):
    """The nearest double, by way of a decimal string (correct for subnormal numbers as well)."""
    return float(mp.nstr(x, 50))


def cdf(x):
    return mp.erfc(-mp.mpf(x) / mp.sqrt(2)) / 2


CDF_GRID = [s * v for v in (1e-300, 1e-20, 1e-8, 1e-3, 0.03125, 0.1, 0.5, 0.75, 1.0, 1.3, 1.3999999, 1.4, 1.4000001, 1.5, 1.7, 2.0,
                            2.5, 3.0, 4.0, 5.5, 7.0, 8.0, 8.3, 10.0, 13.7, 20.0, 26.6, 30.0, 35.0, 37.5) for s in (1, -1)]
GAMMA_GRID = [1e-10, 1e-3, 0.1, 0.3, 0.5, 0.9, 1.0, 1.1, 1.5, 1.9, 2.0, 2.5, 3.0, 5.5, 9.99, 10.0, 11.0, 20.5, 100.0, 1234.5, 1e6, 1e10]

log = lambda x: mp.log(mp.mpf(x))
lg = lambda x: mp.loggamma(mp.mpf(x))
m = mp.mpf
FAMILIES = [
    ("gaussian", {"mean": 1.5, "variance": 0.25}, [1.0, -3.0], lambda x, p: -(m(x) - p["mean"]) ** 2 / (2 * m(p["variance"])) - log(2 * mp.pi * p["variance"]) / 2),
    ("bernoulli", {"p": 0.2}, [0.0, 1.0], lambda x, p: log(p["p"]) if x else mp.log(1 - m(p["p"]))),
    ("poisson", {"rate": 3.5}, [0.0, 2.0, 40.0], lambda x, p: x * log(p["rate"]) - m(p["rate"]) - lg(m(x) + 1)),
    ("exponential", {"rate": 0.7}, [0.0, 1.2, 30.0], lambda x, p: log(p["rate"]) - m(p["rate"]) * m(x)),
    ("geometric", {"p": 0.3}, [0.0, 1.0, 17.0], lambda x, p: log(p["p"]) + x * mp.log(1 - m(p["p"]))),
    ("gamma", {"shape": 2.5, "rate": 4.0}, [0.1, 1.0, 9.0], lambda x, p: m(p["shape"]) * log(p["rate"]) - lg(p["shape"]) + (m(p["shape"]) - 1) * log(x) - m(p["rate"]) * m(x)),
    ("binomial", {"trials": 12, "p": 0.4}, [0.0, 5.0, 12.0], lambda x, p: log(mp.binomial(12, int(x))) + x * log(p["p"]) + (12 - x) * mp.log(1 - m(p["p"]))),
]


def closed_error(prior, distance):
    """P_e of N(0,1) with 1 - prior against N(distance,1) with prior, by integrating min(π₀φ₀, π₁φ₁)."""
    pdf = lambda x, c: mp.exp(-(x - c) ** 2 / 2) / mp.sqrt(2 * mp.pi)
    p1, p0, d = m(prior), 1 - m(prior), m(distance)
    cut = d / 2 - mp.log(p1 / p0) / d
    low, high = min(cut, 0) - 20, max(cut, d) + 20
    with mp.workdps(30):
        return (mp.quad(lambda x: p1 * pdf(x, d), [low, d - 12, d - 5, cut] if cut > d - 5 else [low, cut - 4, cut]) +
                mp.quad(lambda x: p0 * pdf(x, 0), [cut, 5, 12, high] if cut < 5 else [cut, cut + 4, high]))


def own_error(prior, mean, sd):
    """The same of N(0,1) against N(mean, sd²), by integrating the smaller of the two along the line."""
    pdf = lambda x, c, s: mp.exp(-((x - c) / s) ** 2 / 2) / (s * mp.sqrt(2 * mp.pi))
    p1, p0, s = m(prior), 1 - m(prior), m(sd)
    # π₁φ₁ = π₀φ₀ is quadratic in x.
    a, b = (1 - 1 / s**2) / 2, m(mean) / s**2
    c = mp.log(p1 / (p0 * s)) - m(mean) ** 2 / (2 * s**2)
    root = mp.sqrt(b * b - 4 * a * c)
    cuts = sorted([(-b - root) / (2 * a), (-b + root) / (2 * a)])
    with mp.workdps(30):
        return mp.quad(lambda x: min(p0 * pdf(x, 0, 1), p1 * pdf(x, m(mean), s)), [-40, -8, cuts[0], (cuts[0] + cuts[1]) / 2, cuts[1], 8, 40])


write("density.json", {
    "source": f"mpmath {mp.__version__}, 60 digits; integrals 30 digits",
    "what": "Values at the given doubles, rounded to the nearest double. closed: Bayes error of two unit normals `distance` apart, "
            "`prior` that of the second. own: of N(0,1) against N(mean, sd^2).",
    "normal_cdf": {"x": CDF_GRID, "value": [double(cdf(x)) for x in CDF_GRID]},
    "ln_gamma": {"x": GAMMA_GRID, "value": [double(lg(x)) for x in GAMMA_GRID]},
    "families": [{"family": name, "parameters": p, "x": xs, "value": [double(f(x, p)) for x in xs]} for name, p, xs, f in FAMILIES],
    "closed": [{"prior": p, "distance": d, "value": double(closed_error(p, d))}
               for p, d in [(0.5, 2.0), (0.3, 1.0), (0.9, 1.5), (0.05, 3.0), (0.5, 0.1), (0.999, 0.5), (0.4, 9.0)]],
    "own": [{"prior": p, "mean": mu, "sd": s, "value": double(own_error(p, mu, s))} for p, mu, s in [(0.5, 1.0, 2.0), (0.3, 2.0, 0.5), (0.6, 0.5, 3.0)]],
})
