"""Simulated data for the goldens: golden/data/sim3.csv (200 rows, 3 features, 3 overlapping classes).

Run: python golden/make_data.py      (numpy only; the file is stored, so this is needed only to change it)
"""
import numpy as np

from common import DATA

rng = np.random.default_rng(20240601)
counts = {"a": 80, "b": 70, "c": 50}
means = {"a": [0.0, 0.0, 0.0], "b": [1.2, -0.4, 0.5], "c": [0.3, 1.1, -0.8]}
mix = np.array([[1.0, 0.4, 0.0], [0.0, 0.9, 0.3], [0.0, 0.0, 1.1]])
rows = []
for label, n in counts.items():
    for x in rng.standard_normal((n, 3)) @ mix + np.array(means[label]):
        rows.append((x, label))
order = rng.permutation(len(rows))
with open(DATA / "sim3.csv", "w") as out:
    out.write("x1,x2,x3,class\n")
    for i in order:
        x, label = rows[i]
        out.write(",".join(f"{v:.4f}" for v in x) + f",{label}\n")
print("wrote data/sim3.csv")
