"""The import is quiet, brings nothing along, and is quick."""

import json

STRANGERS = ("sklearn", "scipy", "pandas", "polars", "pyarrow", "joblib", "matplotlib")


def modules_after(python, code):
    return json.loads(python(f"{code}; import sys, json; print(json.dumps(sorted(sys.modules)))", "-W", "error").stdout)


def test_import_gives_no_warning_and_no_output(python):
    done = python("import linsep", "-W", "error")
    assert (done.stdout, done.stderr) == ("", "")


def test_every_public_name_is_there_without_a_warning(python):
    done = python("import linsep; print([getattr(linsep, name) for name in linsep.__all__] and 'all')", "-W", "error")
    assert done.stdout.strip() == "all"


def test_import_brings_no_other_library(python):
    found = modules_after(python, "import linsep")
    assert [name for name in found if name.partition(".")[0] in STRANGERS] == []


def test_fit_and_predict_bring_no_other_library_either(python):
    code = (
        "import linsep, numpy as np; X = np.array([[0., 1.], [1., 0.], [2., 3.], [3., 2.], [.5, 2.]]);"
        "m = linsep.LogisticRegression().fit(X, [0, 0, 1, 1, 0]); m.predict(X); m.summary(); m.coef_; m.certificate_"
    )
    found = modules_after(python, code)
    assert [name for name in found if name.partition(".")[0] in STRANGERS] == []


def test_import_costs_less_than_numpy(python):
    # A tenth of what scikit-learn takes; numpy is the yardstick so that a slow machine does not fail the test.
    code = (
        "import time; a = time.perf_counter(); import numpy; b = time.perf_counter(); import linsep;"
        "linsep.LogisticRegression; c = time.perf_counter(); print((c - b) / (b - a))"
    )
    assert min(float(python(code).stdout) for _ in range(3)) < 1.0


def test_version_is_that_of_the_extension():
    import linsep
    from linsep import _core

    assert linsep.__version__ == _core.__version__
    assert linsep.__version__.count(".") >= 2


def test_unknown_names_are_attribute_errors():
    import linsep
    import pytest

    with pytest.raises(AttributeError, match="NoSuchThing"):
        linsep.NoSuchThing
