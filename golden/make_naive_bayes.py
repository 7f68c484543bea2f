"""Golden values of naive Bayes: naive_bayes.json.

Run: python golden/make_naive_bayes.py   (numpy, scipy, scikit-learn; versions are recorded in the file)

Bernoulli, multinomial, categorical and Gaussian models are scikit-learn's. The families it does not have are put
together from scipy's mass functions and densities with maximum likelihood estimates, by Bayes' rule.
"""
import numpy as np
import scipy
import sklearn
from scipy import stats
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from common import load, write

RNG = np.random.default_rng(20261116)


def case(family, x, y, alpha, posterior, weights=None, **more):
    return {"family": family, "classes": int(y.max()) + 1, "cols": x.shape[1], "alpha": alpha,
            "x": x.ravel(), "y": y, "weights": weights, "posterior": posterior.ravel(), **more}


def labels(n, classes):
    y = RNG.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return y


def weights_for(n):
    return 1.0 + np.arange(n) % 3


def bernoulli(classes, alpha, weighted):
    y = labels(40, classes)
    x = (RNG.random((40, 4)) < 0.2 + 0.5 * RNG.random((classes, 4))[y]).astype(float)
    s = weights_for(40) if weighted else None
    model = BernoulliNB(alpha=alpha, force_alpha=True, binarize=None).fit(x, y, sample_weight=s)
    return case("bernoulli", x, y, alpha, model.predict_proba(x), s)


def multinomial(classes, alpha):
    y = labels(40, classes)
    x = RNG.poisson(3 * RNG.random((classes, 5))[y]).astype(float)
    model = MultinomialNB(alpha=alpha, force_alpha=True).fit(x, y)
    return case("multinomial", x, y, alpha, model.predict_proba(x))


def categorical(classes, alpha):
    y = labels(50, classes)
    levels = [3, 2, 4]
    codes = np.column_stack([(RNG.integers(0, n, 50) + (RNG.random(50) < 0.4) * y) % n for n in levels])
    for j, n in enumerate(levels):
        codes[:n, j] = np.arange(n)
    model = CategoricalNB(alpha=alpha, force_alpha=True, min_categories=levels).fit(codes, y)
    x = np.column_stack([np.eye(n)[codes[:, j]] for j, n in enumerate(levels)])
    return case("categorical", x, y, alpha, model.predict_proba(codes), levels=levels)


def gaussian(name, weighted, priors=None):
    x, y, *_ = load(name)
    s = weights_for(len(y)) if weighted else None
    model = GaussianNB(var_smoothing=0.0, priors=priors).fit(x, y, sample_weight=s)
    return case("gaussian", x, y, 0.0, model.predict_proba(x), s, priors=priors)


def by_rule(family, draw, log_density):
    """The posterior with parameters estimated class by class."""
    y = labels(45, 3)
    x = np.column_stack([draw(y, j) for j in range(3)]).astype(float)
    joint = np.column_stack([
        np.log(np.mean(y == k)) + sum(log_density(x[y == k, j], x[:, j]) for j in range(3)) for k in range(3)])
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    return case(family, x, y, 0.0, posterior / posterior.sum(axis=1, keepdims=True))


def gamma_density(own, x):
    shape, _, scale = stats.gamma.fit(own, floc=0)
    # polish the likelihood equation to rounding
    spread = np.log(own.mean()) - np.log(own).mean()
    for _ in range(50):
        shape -= (np.log(shape) - scipy.special.digamma(shape) - spread) / (1 / shape - scipy.special.polygamma(1, shape))
    return stats.gamma.logpdf(x, shape, scale=own.mean() / shape)


def main():
    rate = 1 + 4 * RNG.random((3, 3))
    cases = [bernoulli(2, 1.0, False), bernoulli(3, 0.3, True), multinomial(2, 1.0), multinomial(3, 0.25),
             categorical(2, 1.0), categorical(3, 0.5), gaussian("iris", False), gaussian("iris", True),
             gaussian("penguins", False, [0.2, 0.3, 0.5])]
    cases.append(by_rule("poisson", lambda y, j: RNG.poisson(rate[y, j]),
                         lambda own, x: stats.poisson.logpmf(x, own.mean())))
    cases.append(by_rule("exponential", lambda y, j: RNG.exponential(rate[y, j]),
                         lambda own, x: stats.expon.logpdf(x, scale=own.mean())))
    cases.append(by_rule("geometric", lambda y, j: RNG.geometric(1 / (1 + rate[y, j])) - 1,
                         lambda own, x: stats.geom.logpmf(x + 1, 1 / (1 + own.mean()))))
    cases.append(by_rule("binomial:6", lambda y, j: RNG.binomial(6, rate[y, j] / 6),
                         lambda own, x: stats.binom.logpmf(x, 6, own.mean() / 6)))
    cases.append(by_rule("gamma", lambda y, j: RNG.gamma(rate[y, j], 2.0), gamma_density))
    write("naive_bayes.json", {
        "source": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, scipy {scipy.__version__}",
        "what": "x row by row, y class codes, posterior row by row. alpha: smoothing (0: maximum likelihood). Gaussian "
                "variances have the divisor n_k and nothing added. categorical: x holds the indicators, levels the number "
                "of each column. Where alpha is 0 and the family is not scikit-learn's, estimates are by class and the "
                "posterior is by Bayes' rule.",
        "cases": cases})


if __name__ == "__main__":
    main()
