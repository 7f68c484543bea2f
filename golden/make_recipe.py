"""Quantile transform and polynomial features by scikit-learn: recipe_sklearn.json.

Run: python golden/make_recipe.py   (scikit-learn, pandas)
"""
from fractions import Fraction

import numpy as np
import sklearn
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer

from common import load, write



def quantile(column, place):
    """The value of a sorted column at a place between 0 and n - 1."""
    low = int(place)
    share = float(place - low)
    return column[low] if share == 0 else column[low] + share * (column[low + 1] - column[low])


values, _, _, features, _ = load("penguins")
train = values[::2]
cases, missed = [], 0
for n_quantiles in (len(train), 50, 7):
    for output in ("uniform", "normal"):
        transformer = QuantileTransformer(n_quantiles=n_quantiles, output_distribution=output, subsample=None)
        transformer.fit(train)
        # The quantiles by a second way: the values at evenly spaced places of the sorted column, the places as fractions.
        # numpy's percentiles miss some in the last digits, and a cell tied with such a knot then loses half a
        # rank; the definition says otherwise, so the knots are set to what they are meant to be.
        exact = np.array([[quantile(np.sort(column), Fraction(k * (len(train) - 1), n_quantiles - 1))
                           for column in train.T] for k in range(n_quantiles)])
        assert np.allclose(exact, transformer.quantiles_, rtol=1e-13, atol=0)
        missed += int((exact != transformer.quantiles_).sum())
        transformer.quantiles_ = exact
        cases.append({"n_quantiles": n_quantiles, "output": output, "values": transformer.transform(values)[::5]})
small = values[::40]
polynomial = []
for degree, interaction_only in ((2, True), (2, False), (3, False)):
    expand = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False).fit(small)
    names = [n.replace(" ", "*") for n in expand.get_feature_names_out(features)]
    polynomial.append({"degree": degree, "products_only": interaction_only, "names": names, "values": expand.transform(small)})
write("recipe_sklearn.json", {
    "source": f"scikit-learn {sklearn.__version__}",
    "what": "penguins, the four measures, rows without missing cells among them. quantile: learned from every second row, "
            "applied to every fifth; its knots are set to the exact quantiles, which differ from those it finds in the last "
            "digits. polynomial: products of every fortieth row as they are.",
    "data": "penguins.csv", "features": features, "rows": len(values), "quantile": cases, "polynomial": polynomial})
print("knots that were off by rounding:", missed)
