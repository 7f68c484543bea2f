"""Reference values of scalar functions by mpmath, 60 digits, rounded once to the nearest double: special.json.

Run: python golden/make_special.py   (mpmath)
"""
import mpmath as mp

from common import write

mp.mp.dps = 60


def double(x):
    """The nearest double, by way of a decimal string (correct for subnormal numbers as well)."""
    return float(mp.nstr(x, 50))


def both(values):
    return [v for a in values for v in ((a, -a) if a else (a,))]


LOGISTIC_GRID = both([0.0, 5e-324, 1e-300, 1e-100, 1e-20, 1e-16, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0,
                      1.5, 2.0, 3.0, 5.0, 8.0, 10.0, 15.0, 18.0, 20.0, 25.0, 30.0, 33.0, 35.0, 36.0, 36.7, 36.8, 37.0, 38.0,
                      40.0, 50.0, 100.0, 300.0, 500.0, 700.0, 708.0, 709.0, 709.78, 710.0, 720.0, 740.0, 744.0, 745.0,
                      745.2, 746.0, 800.0, 1e4, 1e10])
EXP_GRID = both([0.0, 1e-300, 1e-17, 1e-10, 1e-5, 0.001, 0.1, 0.25, 0.34657359027997264, 0.34657359027997270, 0.5,
                 0.6931471805599453, 1.0, 1.5, 2.0, 3.141592653589793, 5.0, 10.0, 20.0, 36.0, 50.0, 88.7, 100.0, 200.0, 350.0,
                 500.0, 600.0, 700.0, 708.0, 708.39, 709.0, 709.7]) + [-710.0, -720.0, -740.0, -744.44, -745.0, -745.13, -745.2, -746.0, -1000.0]
LOG_GRID = [5e-324, 2.2250738585072014e-308, 1e-300, 1e-10, 0.1, 0.5, 0.7071067811865475, 0.7071067811865476, 0.999999, 1.0 - 2**-53,
            1.0, 1.0 + 2**-52, 1.000001, 1.1, 1.4142135623730951, 2.0, 2.718281828459045, 10.0, 12345.678, 1e100, 1.7976931348623157e308]
LOG1P_GRID = [-1 + 2**-53, -0.999, -0.5, -0.1, -1e-5, -1e-10, -1e-300, 0.0, 1e-300, 1e-17, 1e-10, 1e-5, 0.1, 0.5, 1.0, 2.0, 100.0, 1e16, 1e300]
PROBABILITY_GRID = [5e-324, 1e-300, 1e-100, 1e-20, 1e-12, 1.3887943864964021e-11, 1.3887943864964023e-11, 1e-10, 1e-7, 1e-5, 1e-3, 0.01,
                    0.025, 0.05, 0.075, 0.07500000000000001, 0.1, 0.25, 0.4, 0.49, 0.5 - 1e-9, 0.5, 0.5 + 1e-9, 0.6, 0.75, 0.9, 0.925,
                    0.9250000000000002, 0.95, 0.975, 0.999, 0.99999, 1 - 1e-7, 1 - 1e-12, 1 - 2**-53]
VECTORS = [[0.0], [0.0, 0.0], [1.0, 2.0, 3.0], [-1.0, 0.5, 0.25, 2.0], [1000.0, 1000.0], [1000.0, 999.0, -1000.0],
           [-1000.0, -1001.0, -1002.0], [-745.0, -746.0], [1e-300, -1e-300], [1e10, 1e10 - 1.0], [0.1] * 10,
           [0.0, -36.0], [0.0, -40.0], [0.0, -700.0], [700.0, -700.0, 0.0], [1e300, 0.0], [-0.3, 0.7, 1.9, -2.2, 0.05]]


def logistic(z):
    x = mp.mpf(z)
    mp.mp.dps = 60 + 2 * (int(abs(z)) if abs(z) < 2000 else 0)  # digits enough for 1 + exp(-|z|)
    if abs(z) > 2000:
        big = z > 0
        value = [x if big else mp.mpf(0), mp.mpf(1 if big else 0), mp.mpf(0 if big else 1)]
    else:
        e = mp.exp(x)
        value = [mp.log1p(e), e / (1 + e), 1 / (1 + e)]
    result = [double(v) for v in value]
    mp.mp.dps = 60
    return result


def log_sum_exp(v):
    with mp.workdps(800):  # so that 1 + e^-700 keeps its small part
        top = mp.mpf(max(v))
        return double(top + mp.log(mp.fsum(mp.exp(mp.mpf(a) - top) for a in v)))


def normal_quantile(p):
    with mp.workdps(700):  # so that 2p - 1 keeps a p of 1e-300
        return double(mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1)) if p > 1e-30 else double(tail_quantile(mp.mpf(p)))


def tail_quantile(p):
    """Far out erfinv is slow at many digits; Newton on the logarithm of the tail is not."""
    with mp.workdps(60):
        x = -mp.sqrt(-2 * mp.log(p))
        for _ in range(60):
            cdf = mp.erfc(-x / mp.sqrt(2)) / 2
            density = mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
            x -= (mp.log(cdf) - mp.log(p)) * cdf / density
        return x


def column(grid, function):
    return {"x": grid, "value": [double(function(mp.mpf(x))) for x in grid]}


rows = [logistic(z) for z in LOGISTIC_GRID]
write("special.json", {
    "source": f"mpmath {mp.__version__}, 60 digits or more",
    "what": "Values at the given doubles, rounded to the nearest double (0 where they underflow). logistic: softplus "
            "log(1+e^z), sigma 1/(1+e^-z), and its complement 1/(1+e^z). exp: inputs whose result is finite. "
            "normal_quantile: the inverse of the standard normal distribution function.",
    "logistic": {"z": LOGISTIC_GRID, "softplus": [r[0] for r in rows], "sigma": [r[1] for r in rows],
                 "one_minus_sigma": [r[2] for r in rows]},
    "log_sum_exp": [{"x": v, "value": log_sum_exp(v)} for v in VECTORS],
    "exp": column(EXP_GRID, mp.exp), "log": column(LOG_GRID, mp.log), "log1p": column(LOG1P_GRID, mp.log1p),
    "normal_quantile": {"p": PROBABILITY_GRID, "value": [normal_quantile(p) for p in PROBABILITY_GRID]}})
