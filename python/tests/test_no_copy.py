"""Arrays that need no copy are not copied: memory of a process of its own before the fit against its peak after."""

import json

import pytest

# The rows are 80 MB as float64; blocks, labels, scores and threads may cost a few. The proof of a fit keeps five doubles a
# row (score, its error, two probabilities, slope): 8 MB here, a fifth of the rows as float32.
ROWS, COLS = 200_000, 50
BYTES = {"float64": 8 * ROWS * COLS, "float32": 4 * ROWS * COLS}
ALLOWED = 0.4

# A small fit warms threads and the allocator up. Memory before is what is in use, not the peak until then, behind which a
# copy could hide. The peak is not that of getrusage, which counts the process that started this one.
CODE = """
import json
import numpy as np
import linsep

def memory(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(what))

rng = np.random.default_rng(0)
X = np.empty(({rows}, {cols}), {dtype!r}, order={order!r})
for start in range(0, {rows}, 10_000):
    X[start:start + 10_000] = rng.standard_normal((10_000, {cols}))
y = (X[:, 0] > 0).astype(np.int64)
y[rng.random({rows}) < 0.2] ^= 1
{change}
small = {model}.fit(X[:500], y[:500])
small.predict(X[:500])
before = memory("VmRSS")
model = {model}.fit(X, y)
after_fit = memory("VmHWM")
model.{method}(X)
print(json.dumps([after_fit - before, memory("VmHWM") - before]))
"""

SPARSE = f"""
import scipy.sparse
np.abs(X, out=X)
indices = np.tile(np.arange({COLS}, dtype=np.int32), {ROWS})
X = scipy.sparse.csr_matrix((X.ravel(), indices, np.arange(0, X.size + 1, {COLS}, dtype=np.int32)), X.shape, copy=False)
X.has_canonical_format = True
"""

pytestmark = pytest.mark.skipif(
    not __import__("os").path.exists("/proc/self/status"), reason="memory in use is read from /proc, which is not there"
)


def growth(python, model="linsep.LogisticRegression()", dtype="float64", order="C", change="", method="predict"):
    """Bytes by which a fit, and then a prediction, raise the peak above what was in use before."""
    code = CODE.format(rows=ROWS, cols=COLS, model=model, dtype=dtype, order=order, change=change, method=method)
    # Every thread has blocks of its own, so a machine with many cores would need more.
    return json.loads(python(code, "-W", "ignore", LINSEP_NUM_THREADS="2").stdout)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_dense_rows_are_lent(python, dtype):
    fit, predict = growth(python, dtype=dtype, method="predict_proba")
    assert fit < ALLOWED * BYTES[dtype]
    # Probabilities are two doubles a row.
    assert predict < ALLOWED * BYTES[dtype] + 16 * ROWS


def test_the_measure_sees_a_copy(python):
    # Rows in Fortran order have to be turned round.
    fit, _ = growth(python, model="linsep.LinearDiscriminantAnalysis()", order="F")
    assert fit > 0.9 * BYTES["float64"]


def test_discriminant_analysis_borrows_rows(python):
    fit, predict = growth(python, model="linsep.LinearDiscriminantAnalysis()")
    assert max(fit, predict) < ALLOWED * BYTES["float64"]


def test_sparse_rows_are_lent(python):
    # Every number of the dense rows is an entry of the sparse ones: 80 MB of values and 40 MB of columns.
    fit, predict = growth(python, model="linsep.MultinomialNB()", change=SPARSE)
    assert max(fit, predict) < ALLOWED * 1.5 * BYTES["float64"]
