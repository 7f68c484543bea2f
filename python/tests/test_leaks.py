"""Work that is repeated does not keep memory."""

import json

import pytest

CODE = """
import json
import numpy as np
import linsep

def used():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = np.where(X[:, 0] + rng.normal(size=2000) > 0, "a", "b")
model = linsep.LogisticRegression().fit(X, y)

def work():
    {work}

for _ in range(20):
    work()
before = used()
for _ in range({times}):
    work()
print(json.dumps(used() - before))
"""

# Each would keep far more than the limit if what it makes were kept once per call: 320 kB of rows, or 16 kB of answers.
LIMIT = 4e6
WORK = {
    "fit": ("linsep.LogisticRegression().fit(X, y)", 1000),
    "fit of a copy": ("linsep.LogisticRegression().fit(np.asfortranarray(X), y)", 100),
    "predict": ("model.predict(X)", 1000),
    "one row": ("model.predict(X[:1])", 100_000),
    "probabilities": ("model.predict_proba(X)", 1000),
    "refusals": ("try:\n        model.predict(X[:, :3])\n    except ValueError:\n        pass", 2000),
    "callbacks": ("linsep.LogisticRegression(verbose=lambda step: None).fit(X, y)", 100),
    "pickles": ("import pickle; pickle.loads(pickle.dumps(model))", 200),
}


@pytest.mark.skipif(not __import__("os").path.exists("/proc/self/status"), reason="memory in use is read from /proc")
@pytest.mark.parametrize("name", WORK)
def test_memory_stays(python, name):
    work, times = WORK[name]
    assert json.loads(python(CODE.format(work=work, times=times), timeout=300, LINSEP_NUM_THREADS="2").stdout) < LIMIT
