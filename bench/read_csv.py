"""A fresh process that times reading a CSV file, without its imports: python bench/read_csv.py HOW file.csv TARGET

HOW: c (pandas.read_csv as it comes), pyarrow (its parallel engine), c+lda (read, then fit scikit-learn's LDA).
Prints one line of JSON {"seconds", "rows", "columns"}.
"""
import json
import sys
import time
import warnings

import pandas as pd

how, path, target = sys.argv[1:]
if how == "pyarrow":
    import pyarrow  # noqa: F401  (imported outside the timing)
if how == "c+lda":
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    warnings.simplefilter("ignore")

start = time.perf_counter()
frame = pd.read_csv(path, engine="pyarrow") if how == "pyarrow" else pd.read_csv(path)
if how == "c+lda":
    LinearDiscriminantAnalysis(solver="lsqr").fit(frame.drop(columns=target).to_numpy(float), frame[target].to_numpy())
print(json.dumps({"seconds": time.perf_counter() - start, "rows": len(frame), "columns": frame.shape[1] - 1}))
