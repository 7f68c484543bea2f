"""Partitions on Dask: the model of all rows, to the bit the same however many workers there are and whatever becomes of them."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import linsep

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

import linsep.dask  # noqa: E402

PAIRS = [
    (linsep.dask.LinearDiscriminantAnalysis, linsep.LinearDiscriminantAnalysis, {}),
    (linsep.dask.LinearDiscriminantAnalysis, linsep.LinearDiscriminantAnalysis, {"shrinkage": 0.3}),
    (linsep.dask.QuadraticDiscriminantAnalysis, linsep.QuadraticDiscriminantAnalysis, {}),
    (linsep.dask.GaussianNB, linsep.GaussianNB, {}),
    (linsep.dask.RidgeClassifier, linsep.RidgeClassifier, {"alpha": 0.5}),
    (linsep.dask.LeastSquaresClassifier, linsep.LeastSquaresClassifier, {}),
]

#: Smooth risks: settings, and whether there are two classes only.
RISKS = [
    ("LogisticRegression", {}, False),
    ("LogisticRegression", {"C": 0.3, "standardize": True}, True),
    ("LogisticRegression", {"l1_ratio": 1.0, "C": 0.2, "standardize": True}, False),
    ("LogisticRegression", {"l1_ratio": 0.5, "C": 0.2, "standardize": True}, True),
    ("LogisticRegression", {"solver": "newton-cg", "standardize": True}, False),
    ("LogisticRegression", {"solver": "lbfgs", "standardize": True, "fit_intercept": False}, True),
    ("LinearSVC", {"standardize": True}, True),
    ("LinearSVC", {"standardize": True, "C": 0.1}, False),
    ("LinearSVC", {"penalty": "l1", "standardize": True, "dual": False}, True),
]

#: Uneven, one of a single row, two without rows; the third class is in the last one alone.
CHUNKS = (40, 0, 1, 150, 0, 60, 49)


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster, distributed.Client(cluster) as client:
        yield client


def rows():
    rng = np.random.default_rng(4)
    y = np.arange(300) % 2
    y[251:] = np.where(np.arange(49) % 3 == 0, 2, y[251:])
    X = rng.normal(size=(300, 4)) * [1.0, 1e3, 1e-3, 1.0] + y[:, None] * [1.0, 500.0, 1e-3, 0.0] + [10.0, 1e4, 0.01, 1.0]
    weights = rng.integers(1, 4, size=300).astype(float)
    return X, np.array(["low", "mid", "top"])[y], weights


def split(X, y, weights):
    rows = (CHUNKS,)
    return da.from_array(X, chunks=(CHUNKS, 2)), da.from_array(y, chunks=rows), da.from_array(weights, chunks=rows)


def scores(model, X):
    return model.predict_log_proba(X) if hasattr(model, "predict_log_proba") else model.decision_function(X)


@pytest.mark.parametrize("there, here, settings", PAIRS)
def test_partitions_give_the_model_of_all_rows(there, here, settings, client, tmp_path):
    X, y, weights = rows()
    dX, dy, dw = split(X, y, weights)
    whole = here(**settings).fit(X, y, weights)
    found = there(**settings).fit(dX, dy, dw)
    expected = scores(whole, X)
    assert np.allclose(scores(found, X), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    assert found.model_.n_rows == 300
    assert found.classes_.tolist() == ["low", "mid", "top"]
    # The claims are checked on a copy of the rows, also of the file.
    assert found.verify(X, y, weights)["passed"]
    assert not found.verify(X[::-1] * 1.01, y, weights)["passed"]
    found.save(tmp_path / "model.json")
    loaded = linsep.load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(X), whole.predict(X))
    lazy = found.predict(dX)
    assert hasattr(lazy, "dask") and np.array_equal(lazy.compute(), whole.predict(X))
    assert found.score(dX, dy, dw) == pytest.approx(whole.score(X, y, weights))
    if hasattr(whole, "predict_proba"):
        assert np.allclose(found.predict_proba(dX).compute(), whole.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("there, here, settings", PAIRS)
def test_workers_change_no_bit(there, here, settings, client):
    import dask

    X, y, weights = rows()
    data = split(X, y, weights)
    two = there(**settings).fit(*data)
    with dask.config.set(scheduler="synchronous"):
        client_of = linsep.dask._client
        linsep.dask._client = lambda: None
        try:
            none = there(**settings).fit(*data)
        finally:
            linsep.dask._client = client_of
    assert np.array_equal(scores(two, X), scores(none, X))
    assert two.objective_ == none.objective_


def pieces(two):
    """Rows in partitions, also with rows of weight zero, and the same rows here."""
    X, y, weights = rows()
    weights[5:20] = 0.0
    y = np.where(y == "top", "mid", y) if two else y
    return split(X, y, weights), (X, y, weights)


@pytest.mark.parametrize("name, settings, two", RISKS)
def test_risks_end_within_their_certificates(name, settings, two, client, tmp_path):
    there, here = pieces(two)
    found = getattr(linsep.dask, name)(**settings).fit(*there)
    whole = getattr(linsep, name)(**settings).fit(*here)
    if name == "LogisticRegression" or two:
        gap = max(model.certificate_["gap"] for model in (found, whole))
        assert abs(found.objective_ - whole.objective_) <= gap + 1e-14
    scale = np.abs(whole.coef_).max(axis=0)
    assert np.allclose(found.coef_ / scale, whole.coef_ / scale, atol=2e-3)
    assert found.stop_ == "converged" and found.model_.n_rows == 300
    assert found.classes_.tolist() == whole.classes_.tolist()
    # The proof that was computed on the workers holds on a copy of the rows, also for the file.
    assert found.verify(*here)["passed"]
    assert not found.verify(here[0] * 1.01, *here[1:])["passed"]
    found.save(tmp_path / "model.json")
    loaded = linsep.load(tmp_path / "model.json")
    assert loaded.verify(*here)["passed"]
    assert np.array_equal(found.predict(there[0]).compute(), loaded.predict(here[0]))
    if name == "LogisticRegression":
        assert np.allclose(found.predict_proba(there[0]).compute(), loaded.predict_proba(here[0]), atol=1e-12)
    assert found.score(*there) == pytest.approx(whole.score(*here), abs=0.02)


@pytest.mark.parametrize("name, settings, two", RISKS[:3] + RISKS[-2:])
def test_workers_change_no_bit_of_risks(name, settings, two, client, monkeypatch):
    there, _ = pieces(two)
    with_workers = getattr(linsep.dask, name)(**settings).fit(*there)
    monkeypatch.setattr(linsep.dask, "_client", lambda: None)
    without = getattr(linsep.dask, name)(**settings).fit(*there)
    assert np.array_equal(with_workers.coef_, without.coef_)
    assert with_workers.certificate_ == without.certificate_
    assert with_workers.round_trips_ == without.round_trips_


def test_sparse_partitions(client):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(8)
    X = sparse.random(400, 60, density=0.1, format="csr", random_state=3)
    y = (X @ rng.normal(size=60) + 0.3 * rng.normal(size=400) > 0).astype(int)
    blocks = [X[:150], X[150:151], X[151:]]
    there = da.concatenate([da.from_delayed(delayed(block), (block.shape[0], 60), dtype=float) for block in blocks])
    labels = da.from_array(y, chunks=((150, 1, 249),))
    found = linsep.dask.LogisticRegression().fit(there, labels)
    whole = linsep.LogisticRegression().fit(X, y)
    assert abs(found.objective_ - whole.objective_) <= max(m.certificate_["gap"] for m in (found, whole)) + 1e-14
    assert found.verify(X, y)["passed"]


def test_frames_of_risks(client):
    X, y, weights = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    there = dd.from_pandas(frame, npartitions=3)
    found = linsep.dask.LogisticRegression(standardize=True).fit(there, dd.from_pandas(pd.Series(y), npartitions=3))
    assert found.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert found.verify(frame, y)["passed"]
    assert found.predict_proba(there).compute().columns.tolist() == ["low", "mid", "top"]


def test_a_worker_killed_between_two_questions_changes_nothing_but_time(client, monkeypatch):
    there, here = pieces(False)
    expected = linsep.dask.LogisticRegression(standardize=True).fit(*there)
    victim = next(iter(client.run(os.getpid).values()))
    asked = []
    plain = linsep.dask._Places.ask

    def ask(self, function, held, **same):
        asked.append(function)
        if len(asked) == 6:
            os.kill(victim, signal.SIGKILL)
        return plain(self, function, held, **same)

    monkeypatch.setattr(linsep.dask._Places, "ask", ask)
    found = linsep.dask.LogisticRegression(standardize=True).fit(*there)
    assert len(asked) > 6 and victim not in client.run(os.getpid).values()
    assert np.array_equal(found.coef_, expected.coef_)
    assert found.certificate_ == expected.certificate_


def test_nothing_is_left_on_the_workers(client):
    there, _ = pieces(True)
    linsep.dask.LinearSVC(standardize=True).fit(*there)
    deadline = time.time() + 10
    while time.time() < deadline and any(client.who_has().values()):
        time.sleep(0.1)
    assert not any(client.who_has().values())


def test_faults_of_risks_are_named(client):
    (dX, dy, dw), (X, y, weights) = pieces(False)
    model = linsep.dask.LogisticRegression()
    with pytest.raises(linsep.LinsepError, match="without a penalty"):
        linsep.dask.LogisticRegression(C=np.inf).fit(dX, dy)
    with pytest.raises(linsep.LinsepError, match="row by row"):
        linsep.dask.LinearSVC(loss="hinge").fit(dX, da.where(dy == "low", "low", "mid"))
    with pytest.raises(ValueError, match="class_weight"):
        linsep.dask.LinearSVC(class_weight="balanced").fit(dX, dy)
    holed = X.copy()
    holed[100, 2] = np.nan
    with pytest.raises(ValueError, match="partition 3.*(NaN|nan|missing)"):
        model.fit(da.from_array(holed, chunks=(CHUNKS, 4)), dy)
    none = weights.copy()
    none[y == "top"] = 0.0
    with pytest.raises(linsep.LinsepError, match="`top` has no rows of positive weight"):
        model.fit(dX, dy, da.from_array(none, chunks=(CHUNKS,)))
    assert not hasattr(model, "model_")


def delayed(block):
    import dask

    return dask.delayed(block.copy)()


def slow(block):
    time.sleep(0.4)
    return block


def test_a_killed_worker_changes_nothing_but_time(client):
    X, y, weights = rows()
    dX, dy, dw = split(X, y, weights)
    expected = linsep.dask.QuadraticDiscriminantAnalysis().fit(dX, dy, dw)
    pids = client.run(os.getpid)
    victim = next(iter(pids.values()))
    killer = threading.Timer(0.6, os.kill, (victim, signal.SIGKILL))
    killer.start()
    found = linsep.dask.QuadraticDiscriminantAnalysis().fit(dX.map_blocks(slow, dtype=float), dy, dw)
    killer.join()
    assert victim not in client.run(os.getpid).values()
    assert np.array_equal(scores(found, X), scores(expected, X))


def test_frames(client):
    X, y, weights = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    pieces = dd.from_pandas(frame, npartitions=3)
    labels = dd.from_pandas(pd.Series(y), npartitions=3)
    found = linsep.dask.GaussianNB().fit(pieces, labels)
    whole = linsep.GaussianNB().fit(frame, y)
    assert found.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert np.array_equal(found.predict(pieces).compute().to_numpy(), whole.predict(frame))
    shares = found.predict_proba(pieces).compute()
    assert shares.columns.tolist() == ["low", "mid", "top"]
    assert np.allclose(shares.to_numpy(), whole.predict_proba(frame), atol=1e-12)


def test_faults_are_named(client):
    X, y, weights = rows()
    dX, dy, dw = split(X, y, weights)
    model = linsep.dask.LinearDiscriminantAnalysis()
    with pytest.raises(TypeError, match="not a Dask collection"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="only one"):
        model.fit(dX[:40], dy[:40].map_blocks(lambda block: np.full(len(block), "low"), dtype="<U3"))
    with pytest.raises(ValueError, match="no partition has any"):
        model.fit(dX[:0], dy[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(dX, dy[:-1])
    holed = X.copy()
    holed[100, 2] = np.nan
    with pytest.raises((ValueError, linsep.LinsepError), match="NaN|nan|missing"):
        model.fit(da.from_array(holed, chunks=(CHUNKS, 4)), dy)
    with pytest.raises(ValueError, match="class_weight"):
        linsep.dask.RidgeClassifier(class_weight="balanced").fit(dX, dy)
    drifted = dd.from_delayed(
        [
            delayed_frame(pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, 1.0]})),
            delayed_frame(pd.DataFrame({"a": [1.0, 2.0], "z": [0.5, 1.0]})),
        ],
        meta=pd.DataFrame({"a": [1.0], "b": [1.0]}),
        verify_meta=False,
    )
    labels = dd.from_pandas(pd.Series(["u", "v", "u", "v"]), npartitions=2)
    with pytest.raises(ValueError, match="partition 1 has other columns than the first.*z"):
        model.fit(drifted, labels)
    assert not hasattr(model, "model_")


def delayed_frame(frame):
    import dask

    return dask.delayed(frame.copy)()


def test_a_lost_scheduler_is_an_error():
    X, y, weights = rows()
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:
        client = distributed.Client(cluster, set_as_default=False)
        client.close()
        linsep_client, patience = linsep.dask._client, linsep.dask._PATIENCE
        linsep.dask._client, linsep.dask._PATIENCE = (lambda: client), 0.2
        try:
            with pytest.raises((linsep.LinsepError, RuntimeError), match="scheduler|closed"):
                linsep.dask.GaussianNB().fit(*split(X, y, weights))
        finally:
            linsep.dask._client, linsep.dask._PATIENCE = linsep_client, patience
