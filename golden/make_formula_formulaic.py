"""Design matrices of formulas by formulaic: formula_formulaic.json.

Run: python golden/make_formula_formulaic.py   (formulaic, pandas)
"""

import json
import re

import formulaic
import numpy as np  # formulas name it
import pandas as pd

READ = {"keep_default_na": False, "na_values": ["NA", ""]}
TABLES = {
    "penguins": pd.read_csv("examples/penguins.csv", **READ).dropna(),
    "iris": pd.read_csv("examples/iris.csv", **READ),
}

#: The table, linsep's right side, and formulaic's where its words differ.
CASES = [
    ("penguins", "bill_length_mm"),
    ("penguins", "bill_length_mm + bill_depth_mm + body_mass_g"),
    ("penguins", "bill_length_mm + island"),
    ("penguins", "island + sex"),
    ("penguins", "island * sex"),
    ("penguins", "island * bill_depth_mm"),
    # Not island:sex, of which formulaic leaves a column out and R none.
    ("penguins", "island:bill_depth_mm"),
    ("penguins", "bill_depth_mm + island:bill_depth_mm"),
    ("penguins", "bill_depth_mm:bill_length_mm"),
    ("penguins", "bill_depth_mm * bill_length_mm"),
    ("penguins", "island + island:sex"),
    ("penguins", "sex + island:sex"),
    ("penguins", "0 + island"),
    ("penguins", "0 + island + sex"),
    ("penguins", "bill_depth_mm + sex + island - 1"),
    ("penguins", "0 + island:sex"),
    ("penguins", "(island + sex + bill_depth_mm)^2", "(island + sex + bill_depth_mm)**2"),
    ("penguins", "(island + sex + bill_depth_mm)^3 - island:sex", "(island + sex + bill_depth_mm)**3 - island:sex"),
    ("penguins", "(bill_length_mm + bill_depth_mm + body_mass_g)^2", "(bill_length_mm + bill_depth_mm + body_mass_g)**2"),
    ("penguins", "island * sex * bill_depth_mm"),
    ("penguins", "island * sex - sex"),
    ("penguins", "log(body_mass_g)"),
    ("penguins", "log(body_mass_g) + sqrt(bill_depth_mm) + exp(bill_depth_mm / 10)", "np.log(body_mass_g) + np.sqrt(bill_depth_mm) + np.exp(bill_depth_mm / 10)"),
    ("penguins", "log1p(body_mass_g) + sin(bill_depth_mm) + cos(bill_depth_mm)", "np.log1p(body_mass_g) + np.sin(bill_depth_mm) + np.cos(bill_depth_mm)"),
    ("penguins", "abs(bill_depth_mm - 17) * sex", "np.abs(bill_depth_mm - 17) * sex"),
    ("penguins", "log10(body_mass_g) + log2(body_mass_g)", "np.log10(body_mass_g) + np.log2(body_mass_g)"),
    ("penguins", "I(bill_length_mm^2)", "I(bill_length_mm**2)"),
    ("penguins", "I(bill_length_mm / bill_depth_mm) + I(2 * (bill_length_mm - 1))"),
    ("penguins", "I(-bill_depth_mm^3)", "I(-bill_depth_mm**3)"),
    ("penguins", "poly(body_mass_g, 3)", "poly(body_mass_g, degree=3)"),
    ("penguins", "poly(body_mass_g, 2, raw = TRUE)", "poly(body_mass_g, degree=2, raw=True)"),
    ("penguins", "poly(body_mass_g, 2) * sex", "poly(body_mass_g, degree=2) * sex"),
    ("penguins", "bs(body_mass_g, 6)", "bs(body_mass_g, df=6)"),
    ("penguins", "bs(body_mass_g, df = 7, degree = 2)", "bs(body_mass_g, df=7, degree=2)"),
    ("penguins", "bs(bill_depth_mm, degree = 1, knots = c(16, 18))", "bs(bill_depth_mm, degree=1, knots=[16, 18])"),
    ("penguins", "bs(body_mass_g, df = 5, intercept = TRUE) - 1", "bs(body_mass_g, df=5, include_intercept=True) - 1"),
    ("penguins", "bs(body_mass_g, 4):sex + island", "bs(body_mass_g, df=4):sex + island"),
    ("penguins", 'C(island, ref = "Dream") * bill_depth_mm', "C(island, contr.treatment(base='Dream')) * bill_depth_mm"),
    ("penguins", "C(island, sum) * C(sex, sum)", "C(island, contr.sum) * C(sex, contr.sum)"),
    ("penguins", "C(island, sum) + bill_depth_mm", "C(island, contr.sum) + bill_depth_mm"),
    ("penguins", "C(year) * sex", "C(year) * sex"),
    ("penguins", "0 + C(year) + bill_depth_mm"),
    ("iris", ". - Petal.Width", "Sepal_Length + Sepal_Width + Petal_Length"),
    ("iris", ".^2", "(Sepal_Length + Sepal_Width + Petal_Length + Petal_Width)**2"),
    ("iris", "poly(Petal.Width, 2) + bs(Petal.Length, 4)", "poly(Petal_Width, degree=2) + bs(Petal_Length, df=4)"),
    ("iris", "Sepal.Length * Sepal.Width * Petal.Length", "Sepal_Length * Sepal_Width * Petal_Length"),
]


def one(table: str, ours: str, theirs: str | None = None) -> dict:
    theirs = theirs or ours
    frame = TABLES[table].rename(columns=lambda name: name.replace(".", "_"))
    matrix = formulaic.model_matrix("~ " + theirs, frame)
    values = matrix.drop(columns="Intercept", errors="ignore").to_numpy(dtype=float)
    rows = [[float(v) for v in row] for row in values[::9]]
    return {"table": table, "formula": ours, "formulaic": theirs, "columns": values.shape[1], "values": rows}


found = []
for case in CASES:
    found.append(one(*case))
out = {
    "source": f"formulaic {formulaic.__version__}",
    "what": "model_matrix without its intercept, every ninth row; penguins without rows that miss a cell",
    "cases": found,
}
text = json.dumps(out)
text = re.sub(r"(\{\"table\")", r"\n\1", text)
with open("golden/formula_formulaic.json", "w") as file:
    file.write(text + "\n")
print(len(found), "formulas")
