"""What several tests share: other processes, the command, and data whose answers are known."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linsep

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def one_thread_for_peers():
    """scikit-learn's products are small here; on a busy machine their threads wait for each other."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def python():
    """Runs code in a fresh interpreter that finds the same package; gives the finished process."""
    paths = [str(Path(linsep.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def run(code, *flags, timeout=60, **more):
        done = subprocess.run(
            [sys.executable, *flags, "-c", code],
            capture_output=True, text=True, timeout=timeout, env={**environment, **more},
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    run.environment = environment
    return run


@pytest.fixture(scope="session")
def command():
    """The command `linsep` of the same build: LINSEP_COMMAND, or the one that cargo made."""
    named = os.environ.get("LINSEP_COMMAND")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = Path(named) if named else target / "release" / "linsep"
    if not path.exists():
        assert not named, f"LINSEP_COMMAND names {path}, which does not exist"
        pytest.skip(f"the command is not built: cargo build --release makes {path}; or set LINSEP_COMMAND")

    def run(*arguments, code=0):
        # As wide as the summaries of the package.
        wide = {**os.environ, "COLUMNS": "99"}
        done = subprocess.run([str(path), *map(str, arguments)], capture_output=True, text=True, timeout=60, env=wide)
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(6)


@pytest.fixture
def two_classes(rng):
    """120 rows of a logistic model with overlap: X, and labels 0 and 1."""
    X = rng.normal(size=(120, 4))
    chance = 1 / (1 + np.exp(-(X @ [1.5, -1.0, 0.5, 0.0] + 0.3)))
    return X, (rng.random(120) < chance).astype(int)


@pytest.fixture
def three_classes(rng):
    """90 rows around three means that overlap: X, and labels as text."""
    means = np.array([[0.0, 0.0, 0.0], [1.5, 0.0, 1.0], [0.0, 2.0, -1.0]])
    y = np.repeat([0, 1, 2], 30)
    return means[y] + rng.normal(size=(90, 3)), np.array(["ash", "birch", "cedar"])[y]
