"""What a type checker makes of the package: a program that uses every public name, and the stub of the extension."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import linsep

pytest.importorskip("mypy")

HOME = Path(linsep.__file__).resolve().parents[1]

PROGRAM = '''
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linsep

X: NDArray[np.float64] = np.zeros((4, 2))
y = np.array([0, 1, 0, 1])

{estimators}

def use(model: linsep.LogisticRegression) -> float:
    labels: NDArray[Any] = model.predict(X)
    chances: NDArray[np.float64] = model.predict_proba(X)
    scores: NDArray[np.float64] = model.decision_function(X)
    proof: dict[str, Any] = model.certificate_
    model.save("model.json")
    print(labels, chances, scores, proof, model.stop_, model.summary(), model.set_params(C=2.0).sparsify())
    return model.score(X, y)

whole: linsep.LogisticRegression = linsep.LogisticRegression(C=1.0).fit(X, y)
naive: linsep.GaussianNB = linsep.GaussianNB().partial_fit(X, y, classes=[0, 1])
print(use(whole), naive.theta_, linsep.load("model.json").predict(X), linsep.__version__)
verdict: linsep.Separability = linsep.separability(X, y)
picture: linsep.Picture = linsep.plot.scatter(X, y)
path: linsep.RegularizationPath = linsep.regularization_path(X, y)
table: linsep.Inference = linsep.infer(X, y)
searched: linsep.Tuning = linsep.tune(whole, {{"C": [1.0, 2.0]}}, X, y, folds=2)
compared: linsep.Comparison = linsep.compare(X, y, folds=2)
print(searched.best_params, compared.finding)
figures: linsep.Evaluation = linsep.evaluate(whole, X, y, details=True)
added: linsep.Explanation = whole.explain(X)
drawn = linsep.simulate("logistic", weights=[1.0], rows=4)
print(added, drawn)
accuracy: linsep.Estimate | None = figures.accuracy
bounds: linsep.Geometry = linsep.geometry(whole, X, y)
careful = linsep.LinearSVC(missing="mean", calibration="platt", costs={{(0, 1): 2.0}}, offset="exposure")
several: NDArray[Any] = linsep.MultiLabelClassifier(careful).fit(X, np.zeros((4, 2))).predict(X)
try:
    linsep.HardMarginSVC().fit(X, y)
except linsep.NotFittedError as error:
    print(error)
except linsep.NoOptimumError as proof:
    print(proof.direction, proof.columns, proof.rows)
except linsep.NotSeparableError as proof:
    print(proof.witness, proof.rows)
except linsep.LinsepError as error:
    print(error.help)
print(verdict, path, table, accuracy, bounds, several, linsep.ConvergenceWarning, linsep.FittedModel)
'''


def check(*arguments):
    environment = {**os.environ, "MYPYPATH": str(HOME)} if HOME.name != "site-packages" else None
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, timeout=300, env=environment)


def test_a_program_that_uses_every_name(tmp_path):
    kinds = [name for name in linsep.__all__ if hasattr(getattr(linsep, name), "get_params") and name != "FittedModel"]
    wrappers = ("OneVsOneClassifier", "OneVsRestClassifier", "MultiLabelClassifier")
    inner = {name: "linsep.LogisticRegression()" for name in wrappers}
    lines = [f"m_{name}: linsep.{name} = linsep.{name}({inner.get(name, '')}).fit(X, y)" for name in kinds]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(estimators="\n".join(lines)), encoding="utf-8")
    used = {name for name in linsep.__all__ if f"linsep.{name}" in program.read_text(encoding="utf-8")}
    assert used == set(linsep.__all__)
    done = check("mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path), str(program))
    assert done.returncode == 0, done.stdout + done.stderr
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    done = check("pyright", "--pythonpath", sys.executable, str(program))
    if "0 errors" not in done.stdout and "node" in done.stderr + done.stdout:
        pytest.skip("pyright is there, but not the node that runs it")
    assert "0 errors" in done.stdout, done.stdout + done.stderr


def test_the_stub_is_that_of_the_extension():
    done = check("mypy.stubtest", "linsep._core", "--concise")
    assert done.returncode == 0, done.stdout + done.stderr
