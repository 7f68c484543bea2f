"""Inference against statsmodels, and profile intervals in the time of plain fits; interleaved, medians of rounds.

    python bench/inference.py [--rounds 5]

prints one JSON object per task: {"task", "linsep_s", "peer_s", "ratio"}. Run it on an idle machine.
"""

import argparse
import json
import time
import warnings

import numpy as np
import statsmodels.api as sm

import linsep


def table(rows, cols, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, cols))
    w = rng.normal(size=cols) * 0.3
    return x, (rng.random(rows) < 1 / (1 + np.exp(-(x @ w + 0.2)))).astype(int)


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(task, ours, theirs, rounds):
    """Both in turn, after one round that nobody counts."""
    ours(), theirs()
    pairs = [(timed(ours), timed(theirs)) for _ in range(rounds)]
    own, peer = (float(np.median([p[i] for p in pairs])) for i in (0, 1))
    print(json.dumps({"task": task, "linsep_s": own, "peer_s": peer, "ratio": peer / own}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore")
    x, y = table(200_000, 50, 1)
    design = sm.add_constant(x)
    ours = lambda: linsep.infer(x, y)  # noqa: E731
    compare("full table, 200,000 x 50, Logit", ours, lambda: sm.Logit(y, design).fit(disp=0).summary(), rounds)
    glm = lambda: sm.GLM(y, design, family=sm.families.Binomial()).fit().summary()  # noqa: E731
    compare("full table, 200,000 x 50, GLM", ours, glm, rounds)
    x2, y2 = table(20_000, 50, 2)
    profile = lambda: linsep.infer(x2, y2, interval="profile")  # noqa: E731
    plain = lambda: linsep.LogisticRegression(C=np.inf).fit(x2, y2)  # noqa: E731
    compare("profile intervals of 50 coefficients, 20,000 rows, against one plain fit", profile, plain, rounds)


if __name__ == "__main__":
    main()
