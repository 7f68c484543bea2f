"""Golden values from scikit-learn's SVC (LIBSVM) on whole data sets: kernel_svm_full.json.

Run: python golden/make_kernel_svm_full.py   (numpy, pandas, scikit-learn, zstd; versions are recorded in the file)

ijcnn1 (49,990 rows) and a9a (32,561 rows), and every pair of classes of letter (20,000 rows) and USPS (7,291 rows), from ../shared/data, with
the parameters of the benchmarks and columns as they are. Only dual objectives are kept, on the scale of linsep:
D = [Σα − ½ αᵀQα]/(C n), computed here in double precision from LIBSVM's multipliers, a lower bound on the optimum.
"""
import io
import json
import subprocess
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent / "shared" / "data"


def unpacked(name):
    return io.BytesIO(subprocess.run(["zstd", "-dc", str(SHARED / name)], check=True, capture_output=True).stdout)


def dual(x, y, c, gamma, tol):
    model = SVC(C=c, gamma=gamma, tol=tol, cache_size=1000).fit(x, y)
    a, s = model.dual_coef_[0], x[model.support_]
    quadratic = sum(a[i:i + 500] @ rbf_kernel(s[i:i + 500], s, gamma=gamma) @ a for i in range(0, len(a), 500))
    return (np.abs(a).sum() - quadratic / 2) / (c * len(y))


def pairs(name, target, c, gamma):
    frame = pd.read_csv(unpacked(name))
    x, y = frame.drop(columns=target).to_numpy(float), frame[target].to_numpy()
    found = []
    for low, high in combinations(sorted(set(y)), 2):
        keep = (y == low) | (y == high)
        found.append(dual(x[keep], y[keep] == high, c, gamma, 1e-6))
    return dict(file=name, target=target, c=c, gamma=gamma, duals=found)


def main():
    cases = [
        pairs("dense/letterrecognition.csv.zst", "lettr", 8.0, 0.02),
        pairs("dense/usps_zip_train.csv.zst", "digit", 10.0, 1 / 128),
    ]
    print(*[(c["file"], len(c["duals"]), sum(c["duals"])) for c in cases])
    for name, cols, c, gamma in [("ijcnn1.train", 22, 32.0, 2.0), ("a9a", 123, 1.0, 0.05)]:
        x, y = load_svmlight_file(unpacked(f"sparse/{name}.svm.zst"), n_features=cols)
        whole = dual(x.toarray(), y > 0, c, gamma, 1e-5)
        cases.append(dict(file=f"sparse/{name}.svm.zst", target="label", c=c, gamma=gamma, duals=[whole]))
        print(name, whole)
    text = json.dumps(dict(versions=dict(sklearn=sklearn.__version__, numpy=np.__version__), cases=cases))
    (HERE / "kernel_svm_full.json").write_text(text + "\n")


main()
