"""Golden values from scikit-learn's SVC (LIBSVM) with kernels: kernel_svm.json.

Run: python golden/make_kernel_svm.py   (numpy, pandas, scikit-learn, zstd; versions are recorded in the file)

The rows are parts of a9a, ijcnn1, letter (two letters) and USPS (two digits) from ../shared/data, kept in the file. The dual
objective is computed here in double precision from LIBSVM's multipliers, on the scale of linsep:
D = [Σα − ½ αᵀQα]/(C n), a lower bound on the optimum; LIBSVM is run with tol = 1e-8.
"""
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent / "shared" / "data"


def unpacked(name):
    return io.BytesIO(subprocess.run(["zstd", "-dc", str(SHARED / name)], check=True, capture_output=True).stdout)


def sparse(name, rows, cols):
    x, y = load_svmlight_file(unpacked(name), n_features=cols)
    step = x.shape[0] // rows
    return x[::step][:rows].toarray(), np.where(y[::step][:rows] > 0, 1, 0)


def pair(name, target, low, high, rows):
    frame = pd.read_csv(unpacked(name))
    keep = frame[frame[target].astype(str).isin([low, high])].iloc[:rows]
    return keep.drop(columns=target).to_numpy(float), (keep[target].astype(str) == high).to_numpy(int)


def case(name, x, y, c, kernel, **parameters):
    x = np.round(x, 4)
    model = SVC(C=c, kernel=kernel, tol=1e-8, cache_size=500, **parameters).fit(x, y)
    a, s = model.dual_coef_[0], x[model.support_]
    shape = {k: v for k, v in parameters.items() if k in ("gamma", "coef0", "degree")}
    table = pairwise_kernels(s, metric=kernel, filter_params=True, **shape)
    dual = (np.abs(a).sum() - a @ table @ a / 2) / (c * len(y))
    entries = [[[int(j), float(r[j])] for j in np.flatnonzero(r)] for r in x]
    return dict(name=name, c=c, kernel=kernel, **parameters, cols=x.shape[1], entries=entries, y=y.tolist(), dual=dual,
                support_vectors=len(a))


def main():
    adult = sparse("sparse/a9a.svm.zst", 400, 123)
    neural = sparse("sparse/ijcnn1.train.svm.zst", 400, 22)
    letter = pair("dense/letterrecognition.csv.zst", "lettr", "D", "O", 300)
    digits = pair("dense/usps_zip_train.csv.zst", "digit", "3", "5", 60)
    cases = [
        case("a9a", *adult, 1.0, "rbf", gamma=0.05),
        case("a9a, polynomial", *adult, 0.1, "poly", gamma=0.1, coef0=1.0, degree=3),
        case("ijcnn1", *neural, 32.0, "rbf", gamma=2.0),
        case("letter", *letter, 8.0, "rbf", gamma=0.02),
        case("USPS", *digits, 10.0, "rbf", gamma=1 / 128),
    ]
    text = json.dumps(dict(versions=dict(sklearn=sklearn.__version__, numpy=np.__version__), cases=cases))
    (HERE / "kernel_svm.json").write_text(text + "\n")
    for c in cases:
        print(c["name"], len(c["y"]), c["dual"], c["support_vectors"])


main()
