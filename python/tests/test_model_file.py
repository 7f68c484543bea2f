"""One model file for Python and the command: fitted here, predicts the same there, bit for bit, and back."""

import copy
import csv
import io
import pickle
import warnings

import numpy as np
import pytest

import linsep

MODELS = {
    "logistic": lambda: linsep.LogisticRegression(C=2.0),
    "lasso": lambda: linsep.LogisticRegression(l1_ratio=1.0, lam=0.02),
    "standardised": lambda: linsep.LogisticRegression(standardize=True),
    "linear svm": lambda: linsep.LinearSVC(),
    "hinge": lambda: linsep.LinearSVC(loss="hinge"),
    "svm": lambda: linsep.SVC(gamma=0.5),
    "least squares": lambda: linsep.LeastSquaresClassifier(),
    "ridge": lambda: linsep.RidgeClassifier(),
    "lda": lambda: linsep.LinearDiscriminantAnalysis(),
    "qda": lambda: linsep.QuadraticDiscriminantAnalysis(),
    "spherical": lambda: linsep.GaussianBayes(covariance="spherical"),
    "naive Bayes": lambda: linsep.GaussianNB(),
    "pocket": lambda: linsep.PocketPerceptron(max_iter=20),
    "kernel perceptron": lambda: linsep.KernelPerceptron(gamma=0.5, max_iter=20),
    "sgd": lambda: linsep.SGDClassifier(max_iter=5),
    "pairs": lambda: linsep.OneVsOneClassifier(linsep.LogisticRegression()),
    "rest": lambda: linsep.OneVsRestClassifier(linsep.LogisticRegression()),
}


def fitted(name, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]().fit(*data)


def everything(model, X):
    """All numbers that a model gives for some rows, as bytes."""
    found = [model.predict(X).tolist()]
    found += [getattr(model, method)(X).tobytes() for method in ("decision_function", "predict_proba") if hasattr(model, method)]
    return found


@pytest.mark.parametrize("name", MODELS)
def test_saved_and_loaded_is_the_same_bit_for_bit(three_classes, tmp_path, name):
    X, _ = three_classes
    model = fitted(name, three_classes)
    path = tmp_path / "model.json"
    model.save(path)
    again = linsep.load(path)
    assert everything(again, X) == everything(model, X)
    assert again.objective_ == model.objective_ and again.certificate_ == model.certificate_
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.summary() == model.summary()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_pickled_is_the_same_bit_for_bit(three_classes, name):
    X, _ = three_classes
    model = fitted(name, three_classes)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert everything(again, X) == everything(model, X)
        assert repr(again) == repr(model)
        assert again.classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize("name", MODELS)
def test_a_clone_has_the_parameters_and_no_fit(three_classes, name):
    from sklearn.base import clone

    X, _ = three_classes
    model = fitted(name, three_classes)
    again = clone(model)
    assert repr(again) == repr(model) and again.get_params().keys() == model.get_params().keys()
    with pytest.raises(linsep.NotFittedError):
        again.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert everything(again.fit(*three_classes), X) == everything(model, X)


@pytest.mark.parametrize("name", ["logistic", "linear svm", "svm", "lda", "qda", "pocket"])
def test_a_loaded_model_knows_its_class_and_can_be_fitted_again(three_classes, tmp_path, name):
    X, y = three_classes
    model = fitted(name, three_classes)
    model.save(tmp_path / "model.json")
    again = linsep.load(tmp_path / "model.json")
    assert type(again) is type(model)
    before = everything(model, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert everything(again.fit(X, y), X) == before


def test_an_unfitted_estimator_pickles():
    model = pickle.loads(pickle.dumps(linsep.LogisticRegression(C=3.0)))
    assert repr(model) == "LogisticRegression(C=3.0)"


def test_compressed_files(three_classes, tmp_path):
    model = fitted("logistic", three_classes)
    model.save(tmp_path / "model.json.zst")
    assert (tmp_path / "model.json.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert everything(linsep.load(str(tmp_path / "model.json.zst")), three_classes[0]) == everything(model, three_classes[0])


def test_files_that_are_none(three_classes, tmp_path):
    path = tmp_path / "model.json"
    with pytest.raises(FileNotFoundError):
        linsep.load(path)
    fitted("logistic", three_classes).save(path)
    text = path.read_text()
    for broken in ("", "{}", "[1, 2", text[: len(text) // 2], text.replace("birch", "beech")):
        path.write_text(broken)
        with pytest.raises(ValueError):
            linsep.load(path)
    with pytest.raises(OSError):
        linsep.load(tmp_path)
    with pytest.raises(OSError):
        fitted("logistic", three_classes).save(tmp_path / "nowhere" / "model.json")


# -- the command -----------------------------------------------------------------------------------------------------------


def table(X, names, **more):
    """A CSV file with every digit."""
    out = io.StringIO()
    columns = dict(zip(names, np.asarray(X).T)) | more
    rows = csv.writer(out)
    rows.writerow(columns)
    rows.writerows(zip(*([repr(float(v)) if isinstance(v, (float, np.floating)) else v for v in column] for column in columns.values())))
    return out.getvalue()


def predicted(command, model, rows, *flags):
    """What the command predicts, as labels and an array of the other columns."""
    answer = list(csv.reader(io.StringIO(command("predict", model, rows, *flags))))
    header, lines = answer[0], answer[1:]
    numbers = [j for j, name in enumerate(header) if name.startswith(("score_", "p_"))]
    label = header.index("prediction") if "prediction" in header else next(j for j in range(len(header)) if j not in numbers)
    return [line[label] for line in lines], np.array([[float(line[j]) for j in numbers] for line in lines])


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("pairs", "rest")])
def test_the_command_predicts_the_same_bits(three_classes, tmp_path, command, name):
    X, _ = three_classes
    model = fitted(name, three_classes)
    model.save(tmp_path / "model.json")
    (tmp_path / "rows.csv").write_text(table(X, ["x0", "x1", "x2"]))
    labels, scores = predicted(command, tmp_path / "model.json", tmp_path / "rows.csv", "--scores")
    assert labels == model.predict(X).tolist()
    assert scores.tobytes() == np.ascontiguousarray(model.model_.scores(X)).tobytes()
    if hasattr(model, "predict_proba"):
        _, chances = predicted(command, tmp_path / "model.json", tmp_path / "rows.csv", "--proba")
        assert chances.tobytes() == model.predict_proba(X).tobytes()


def test_a_pandas_frame_and_its_csv_file_are_the_same(tmp_path, command):
    import pandas
    from test_inputs import people

    frame, y = people(pandas)
    model = linsep.LogisticRegression(standardize=True).fit(frame, y)
    model.save(tmp_path / "model.json")
    frame.astype({"member": int}).to_csv(tmp_path / "rows.csv", index=False)
    labels, scores = predicted(command, tmp_path / "model.json", tmp_path / "rows.csv", "--scores")
    assert labels == model.predict(frame).tolist()
    assert scores[:, 0].tobytes() == model.decision_function(frame).tobytes()


@pytest.mark.parametrize("kind", ["pandas to Parquet", "polars to Parquet", "polars to Arrow", "polars to CSV", "pyarrow to Arrow"])
def test_files_that_the_libraries_write_are_read_by_the_command(tmp_path, command, kind):
    import pandas
    import polars
    import pyarrow
    from test_inputs import people

    frame, y = people(pandas)
    plain = frame.astype({"size": str, "member": int})
    library, _, form = kind.partition(" to ")
    path = tmp_path / f"rows.{form.lower()}"
    if library == "pandas":
        given = plain
        given.to_parquet(path)
    elif library == "polars":
        given = polars.DataFrame({name: plain[name].tolist() for name in plain})
        {"Parquet": given.write_parquet, "Arrow": given.write_ipc, "CSV": given.write_csv}[form](path)
    else:
        given = pyarrow.table({name: plain[name].tolist() for name in plain})
        with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, given.schema) as writer:
            writer.write_table(given)
    model = linsep.LogisticRegression(standardize=True).fit(given, y)
    model.save(tmp_path / "model.json")
    labels, scores = predicted(command, tmp_path / "model.json", path, "--scores")
    assert labels == model.predict(given).tolist()
    assert scores[:, 0].tobytes() == model.decision_function(given).tobytes()


def test_fitted_by_the_command_predicts_the_same_here(three_classes, tmp_path, command):
    import pandas

    X, y = three_classes
    names = ["leaf", "bark", "age"]
    (tmp_path / "rows.csv").write_text(table(X, names, tree=y.tolist()))
    for flags in ([], ["--model", "lda"], ["--model", "svm", "--multiclass", "one-vs-one", "--ties", "scores"], ["--model", "qda"]):
        command("fit", tmp_path / "rows.csv", "--target", "tree", "-o", tmp_path / "model.json", *flags)
        model = linsep.load(tmp_path / "model.json")
        labels, scores = predicted(command, tmp_path / "model.json", tmp_path / "rows.csv", "--scores")
        frame = pandas.DataFrame(X, columns=names)
        assert model.predict(frame).tolist() == labels, flags
        assert np.ascontiguousarray(model.model_.scores(X)).tobytes() == scores.tobytes(), flags
        assert model.feature_names_in_.tolist() == names
        assert model.verify(frame, y)["passed"], flags


def test_the_same_fit_here_and_there(three_classes, tmp_path, command):
    # The command standardises and takes λ = 1/Σs, which is C = 1.
    X, y = three_classes
    (tmp_path / "rows.csv").write_text(table(X, ["x0", "x1", "x2"], tree=y.tolist()))
    command("fit", tmp_path / "rows.csv", "--target", "tree", "-o", tmp_path / "model.json")
    there = linsep.load(tmp_path / "model.json")
    here = linsep.LogisticRegression(standardize=True).fit(X, y)
    assert here.coef_.tobytes() == there.coef_.tobytes()
    assert here.objective_ == there.objective_


def test_the_command_verifies_what_was_fitted_here(two_classes, tmp_path, command):
    X, y = two_classes
    linsep.LogisticRegression().fit(X, y).save(tmp_path / "model.json")
    names = ["x0", "x1", "x2", "x3"]
    (tmp_path / "rows.csv").write_text(table(X, names, y=y.tolist()))
    command("verify", tmp_path / "model.json", tmp_path / "rows.csv")
    (tmp_path / "rows.csv").write_text(table(X, names, y=(1 - y).tolist()))
    command("verify", tmp_path / "model.json", tmp_path / "rows.csv", code=1)
