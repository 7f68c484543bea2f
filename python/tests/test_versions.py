"""One extension for all versions of Python: every estimator fits and predicts on others that are here, with numpy alone."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import linsep

PROGRAM = """
import sys
import numpy as np
import linsep

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = X[:, 0] + rng.normal(size=80) > 0
counts = np.round(np.abs(X) * 2)
for name in linsep.__all__:
    kind = getattr(linsep, name)
    if not hasattr(kind, "fit") or name in ("FittedModel", "HardMarginSVC", "MultiLabelClassifier"):
        continue
    model = kind(linsep.LogisticRegression()) if name.startswith("OneVs") else kind()
    rows = counts if name in ("MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB") else X
    assert model.fit(rows, y).predict(rows).shape == (80,), name
assert linsep.evaluate(linsep.LogisticRegression(missing="mean").fit(X, y), X, y).accuracy.value > 0.5
assert not {"sklearn", "scipy", "pandas"} & set(sys.modules)
"""

OTHERS = [version for version in ("3.10", "3.12", "3.13", "3.14") if version != f"3.{sys.version_info.minor}"]


def interpreter(version):
    """Another Python: on the path, or among those of pyenv."""
    named = shutil.which(f"python{version}")
    if named and subprocess.run([named, "-c", ""], capture_output=True).returncode == 0:
        return named
    found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else None


@pytest.mark.parametrize("version", OTHERS)
@pytest.mark.filterwarnings("ignore")
def test_another_version(version, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not here")
    shutil.copytree(Path(linsep.__file__).parent, tmp_path / "package" / "linsep", ignore=shutil.ignore_patterns("__pycache__"))
    home = tmp_path / "home"
    made = subprocess.run([python, "-m", "venv", str(home)], capture_output=True)
    own = str(home / "bin" / "python")
    if made.returncode or subprocess.run([own, "-m", "pip", "install", "-q", "numpy"], capture_output=True, timeout=300).returncode:
        pytest.skip(f"numpy cannot be had for Python {version}")
    environment = {"PYTHONPATH": str(tmp_path / "package"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([own, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
