"""Fits can be stopped, limited, forked and run side by side, and none of that changes a bit of a result."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import linsep

# A Gaussian kernel on 12,000 rows of noise takes far longer than the test waits.
LONG = """
import numpy as np, linsep, time
rng = np.random.default_rng(0)
X, y = rng.normal(size=(12_000, 20)), rng.integers(0, 2, 12_000)
print("fitting", flush=True)
try:
    linsep.SVC(C=100.0, tol=1e-12).fit(X, y)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def processor_seconds(process):
    """What a process has computed so far."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_computing(process, seconds):
    """Until it has computed for so long from now on: it is in the middle of its work, however busy the machine."""
    begun = processor_seconds(process)
    while processor_seconds(process) < begun + seconds:
        assert process.poll() is None, "the fit ended before it could be interrupted"
        time.sleep(0.01)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="processor time is read from /proc, which is not there")
def test_ctrl_c_stops_a_fit(python):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=python.environment
    )
    try:
        assert process.stdout.readline().strip() == "fitting"
        wait_until_computing(process, 0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=20)
        waited = time.monotonic() - start
    finally:
        process.kill()
        process.wait()
    assert rest.strip() == "interrupted", errors
    # About half a second at rest; machines that run tests are busy.
    assert waited < 5.0
    assert process.returncode == 0


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(two_classes):
    X, y = two_classes

    def stop(step):
        raise KeyboardInterrupt

    model = linsep.LogisticRegression().fit(X, y)
    before = model.coef_.copy()
    model.set_params(C=0.01, verbose=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert np.array_equal(model.coef_, before)
    assert np.array_equal(model.predict(X), linsep.LogisticRegression().fit(X, y).predict(X))


def test_exceptions_of_a_callback_come_out(two_classes):
    class Enough(Exception):
        pass

    def stop(step):
        raise Enough(step["solver"])

    with pytest.raises(Enough, match="."):
        linsep.LogisticRegression(verbose=stop).fit(*two_classes)


def test_a_callback_is_told_every_iteration(two_classes):
    steps = []
    model = linsep.LogisticRegression(verbose=steps.append).fit(*two_classes)
    iterations = [step for step in steps if step["kind"] == "iteration"]
    assert len(iterations) >= 2
    assert iterations[-1]["objective"] == pytest.approx(model.objective_, rel=1e-6)
    assert all(later["objective"] <= step["objective"] + 1e-12 for step, later in zip(iterations, iterations[1:]))


def test_verbose_writes_to_standard_error(two_classes, capfd):
    linsep.LogisticRegression(verbose=True).fit(*two_classes)
    out, errors = capfd.readouterr()
    assert out == ""
    assert "LogisticRegression" in errors and "objective" in errors


def test_a_time_limit_gives_a_warning_and_a_model(rng):
    X, y = rng.normal(size=(3000, 20)), rng.integers(0, 2, 3000)
    start = time.monotonic()
    with pytest.warns(linsep.ConvergenceWarning, match="time limit"):
        model = linsep.SVC(C=100.0, tol=1e-10, time_limit=0.3).fit(X, y)
    assert time.monotonic() - start < 5.0
    assert model.stop_ == "time_limit"
    assert model.predict(X).shape == (3000,)
    assert model.certificate_["relative_gap"] > 1e-10


def test_an_iteration_limit_gives_the_same_warning(three_classes):
    with pytest.warns(linsep.ConvergenceWarning, match="max_iter"):
        model = linsep.LogisticRegression(max_iter=1, tol=1e-12).fit(*three_classes)
    assert model.stop_ == "iteration_limit"


def test_convergence_gives_no_warning(three_classes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = linsep.LogisticRegression().fit(*three_classes)
    assert model.stop_ == "converged"


def test_the_warning_is_scikit_learns_too(three_classes):
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning):
        linsep.LogisticRegression(max_iter=1, tol=1e-12).fit(*three_classes)


def large_enough_for_threads():
    """More than one block of rows."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 10))
    return X, (X[:, 0] + rng.normal(size=20_000) > 0).astype(int)


def bits(X, y):
    model = linsep.LogisticRegression(C=0.5).fit(X, y)
    return model.coef_.tobytes() + model.predict_proba(X[:500]).tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_can_fit_and_predict():
    X, y = large_enough_for_threads()
    expected = bits(X, y)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            os.write(writer, b"same" if bits(X, y) == expected else b"different")
        finally:
            os._exit(0)
    os.close(writer)
    watchdog = threading.Timer(30, os.kill, (child, signal.SIGKILL))
    watchdog.start()
    said = os.read(reader, 100)
    os.waitpid(child, 0)
    watchdog.cancel()
    assert said == b"same"
    # The parent's threads are still there.
    assert bits(X, y) == expected


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_workers_fit():
    X, y = large_enough_for_threads()
    expected = bits(X, y)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap_async(bits, [(X, y)] * 4).get(timeout=30)
    assert found == [expected] * 4


def test_fits_in_several_threads_are_the_same():
    X, y = large_enough_for_threads()
    expected, found = bits(X, y), []
    threads = [threading.Thread(target=lambda: found.append(bits(X, y))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [expected] * 4


def test_other_threads_run_during_a_fit():
    # The interpreter is free while the library works: a counter in another thread goes on.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 20)), rng.integers(0, 2, 3000)
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.monotonic()
        linsep.SVC(C=100.0, tol=1e-10, time_limit=0.5).fit(X, y)
        end = time.monotonic()
    done.set()
    ticker.join()
    assert sum(start < at < end for at in ticks) > 10 * (end - start)


@pytest.mark.parametrize("make", [
    lambda jobs: linsep.LogisticRegression(n_jobs=jobs),
    lambda jobs: linsep.LinearDiscriminantAnalysis(n_jobs=jobs),
    lambda jobs: linsep.GaussianNB(n_jobs=jobs),
    lambda jobs: linsep.RidgeClassifier(n_jobs=jobs),
    lambda jobs: linsep.LinearSVC(n_jobs=jobs),
], ids=["logistic", "lda", "naive Bayes", "ridge", "svm"])
def test_the_number_of_threads_changes_no_bit(make):
    X, y = large_enough_for_threads()
    one, two = make(1).fit(X, y), make(2).fit(X, y)
    scores = "decision_function" if hasattr(one, "decision_function") else "predict_proba"
    assert getattr(one, scores)(X).tobytes() == getattr(two, scores)(X).tobytes()
    assert one.objective_ == two.objective_


def test_threads_follow_the_environment(python):
    code = """
import linsep, numpy as np, os
X = np.random.default_rng(0).normal(size=(2000, 5))
before = len(os.listdir("/proc/self/task"))
linsep.LogisticRegression().fit(X, X[:, 0] + X[:, 1]**2 > 0)
print(len(os.listdir("/proc/self/task")) - before)
"""
    if not os.path.exists("/proc/self/task"):
        pytest.skip("threads are counted in /proc, which is not there")
    assert python(code, LINSEP_NUM_THREADS="3").stdout.strip() == "3"
    assert python(code, LINSEP_NUM_THREADS="1").stdout.strip() == "1"


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_callback_may_fit_and_predict_itself(two_classes, jobs):
    X, y = two_classes
    alone = linsep.LogisticRegression().fit(X, y).coef_
    inner = []

    def look(step):
        if not inner:
            inner.append(linsep.LogisticRegression(n_jobs=jobs).fit(X, y))
            inner[0].predict_proba(X)

    outer = linsep.LogisticRegression(n_jobs=jobs, verbose=look).fit(X, y)
    assert np.array_equal(inner[0].coef_, alone) and np.array_equal(outer.coef_, alone)


def test_fits_with_callbacks_in_another_thread(two_classes):
    steps, models = [], []
    thread = threading.Thread(target=lambda: models.append(linsep.LogisticRegression(verbose=steps.append).fit(*two_classes)))
    thread.start()
    thread.join(30)
    assert models and steps
