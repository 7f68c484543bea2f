"""Losses of links and their derivatives in 60 digits: links.json.

Run from the repository root: python golden/make_links.py     (mpmath)

Derivatives are mpmath's own, of the loss as it is written here: nothing of the formulas that linsep uses.
"""

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 80
SCORES = [-1e8, -3e3, -60.0, -37.5, -20.0, -8.0, -3.0, -1.4, -1.0, -0.5, -1e-3, 0.0, 1e-9, 0.2, 0.69, 1.0, 1.4, 2.5, 3.0, 4.0, 5.5,
          8.0, 20.0, 36.0]


def cdf(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


LOSSES = {
    ("probit", 1): lambda z: -mp.log(cdf(z)),
    ("probit", 0): lambda z: -mp.log(cdf(-z)),
    ("cloglog", 1): lambda z: -mp.log(-mp.expm1(-mp.exp(z))),
    ("cloglog", 0): lambda z: mp.exp(z),
    ("cauchit", 1): lambda z: -mp.log(mp.mpf(1) / 2 + mp.atan(z) / mp.pi),
    ("cauchit", 0): lambda z: -mp.log(mp.mpf(1) / 2 - mp.atan(z) / mp.pi),
}


def rows():
    for (link, label), loss in LOSSES.items():
        for z in SCORES:
            # Where the loss is below the least double nothing is to be compared; e^z of large z is not a score.
            if link == "cloglog" and z > 6 and label == 1 or z > 30 and link == "cloglog":
                continue
            with mp.workdps(2500 if abs(z) > 50 and link == "probit" else 1000):
                at = mp.mpf(z)
                value = loss(at)
                h = mp.mpf(10) ** -60 * max(1, abs(at))
                first = (loss(at + h) - loss(at - h)) / (2 * h)
                second = (loss(at + h) - 2 * value + loss(at - h)) / h**2
                found = [value, first, second]
            if abs(z) > 50 and link == "probit" and (z < 0) == (label == 0):
                continue
            yield {"link": link, "class": label, "z": z, **{n: float(v) for n, v in zip(["loss", "slope", "curvature"], found)}}


def main():
    golden = {"source": f"mpmath {mp.__version__}, central differences of 1e-60 in 1000 digits and more", "rows": list(rows())}
    path = Path(__file__).parent / "links.json"
    path.write_text(json.dumps(golden, indent=1) + "\n")
    print("wrote", path.name, len(golden["rows"]))


main()
