"""Quantile transform and polynomial features by scikit-learn: recipe_sklearn.json.

Run: python golden/make_recipe.py   (scikit-learn, pandas)
"""
import numpy as np
import sklearn
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer

from common import load, write

values, _, _, features, _ = load("penguins")
train = values[::2]
cases = []
for n_quantiles in (len(train), 50, 7):
    for output in ("uniform", "normal"):
        transformer = QuantileTransformer(n_quantiles=n_quantiles, output_distribution=output, subsample=None)
        transformer.fit(train)
        # The quantiles by a second way: the values at evenly spaced places of the sorted column.
        places = np.linspace(0, len(train) - 1, n_quantiles)
        for j in range(train.shape[1]):
            column = np.sort(train[:, j])
            assert np.allclose(np.interp(places, np.arange(len(train)), column), transformer.quantiles_[:, j], rtol=1e-13, atol=0)
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
            "applied to every fifth. polynomial: products of every fortieth row as they are.",
    "data": "penguins.csv", "features": features, "rows": len(values), "quantile": cases, "polynomial": polynomial})
