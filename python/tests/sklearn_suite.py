"""scikit-learn's own tests of these estimators, with the classes of linsep in their place: ``./test sklearn``.

The test modules of the installed scikit-learn are imported while its public packages hold the classes of linsep; then
the packages get their own back, so that the insides of scikit-learn stay what they are. Modules that a test refers to
by name (``svm.SVC``) are stand-ins that go on holding ours.

``sklearn_expected.json`` lists the tests that fail and why; an entry without parameters stands for all of them. One of
them that passes is a failure, and so is an entry that names no test. Plain pytest does not collect this file: it takes a minute, and runs code that is not ours.

    python python/tests/sklearn_suite.py                 all modules
    python python/tests/sklearn_suite.py -k transform -x  arguments of pytest
"""

import importlib
import json
import os
import sys
import types
from collections import Counter
from pathlib import Path

import pytest

EXPECTED = Path(__file__).with_name("sklearn_expected.json")

#: What is replaced, by the public package in which tests look for it.
REPLACED = {
    "sklearn.linear_model": ["LogisticRegression", "Perceptron", "RidgeClassifier", "SGDClassifier"],
    "sklearn.svm": ["LinearSVC", "SVC"],
    "sklearn.naive_bayes": ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"],
    "sklearn.discriminant_analysis": ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"],
}

MODULES = [
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.tests.test_discriminant_analysis",
    "sklearn.tests.test_naive_bayes",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.svm.tests.test_svm",
]


def ours():
    """Classes of linsep by package and name; those that it does not have stay scikit-learn's."""
    import linsep

    return {
        package: {name: getattr(linsep, name) for name in names if name in linsep.__all__}
        for package, names in REPLACED.items()
    }


def short_id(item):
    """``linear_model.test_logistic::test_nan[lbfgs]``."""
    return item.module.__name__.removeprefix("sklearn.").replace("tests.", "") + "::" + item.name


class InPlace:
    """The plugin of pytest that does all of this."""

    def __init__(self, whole):
        self.classes = ours()
        self.whole = whole
        self.expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
        self.touched = False
        self.counts = {}
        self.failed = []
        from linsep._base import Estimator

        def marked(cls, *args, **params):
            self.touched = True
            return object.__new__(cls)

        Estimator.__new__ = marked

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        if not isinstance(collector, pytest.Module):
            return (yield)
        packages = {name: importlib.import_module(name) for name in self.classes}
        theirs = {name: {own: getattr(package, own) for own in self.classes[name]} for name, package in packages.items()}
        for name, package in packages.items():
            vars(package).update(self.classes[name])
        try:
            report = yield
        finally:
            for name, package in packages.items():
                vars(package).update(theirs[name])
        if report.outcome == "passed":
            known = vars(collector.obj)
            for name, value in list(known.items()):
                if isinstance(value, types.ModuleType) and value.__name__ in self.classes:
                    known[name] = types.SimpleNamespace(**{**vars(value), **self.classes[value.__name__]})
        return report

    def pytest_collection_modifyitems(self, config, items):
        # Array libraries other than numpy are no part of this package.
        left = [item for item in items if "array_api" in item.name]
        items[:] = [item for item in items if "array_api" not in item.name]
        config.hook.pytest_deselected(items=left)
        found = set()
        for item in items:
            names = [short_id(item), short_id(item).partition("[")[0]]
            found.update(names)
            reason = next((self.expected[name] for name in names if name in self.expected), None)
            if reason is not None:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        if self.whole and set(self.expected) - found:
            raise pytest.UsageError(f"{EXPECTED.name} names no tests: {sorted(set(self.expected) - found)}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.touched = False
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if report.when == "call" or report.skipped and not hasattr(report, "wasxfail"):
            count = self.counts.setdefault(item.module.__name__, Counter())
            outcome = "expected" if hasattr(report, "wasxfail") and report.skipped else report.outcome
            count[outcome] += 1
            count["passed with linsep"] += self.touched and outcome == "passed"
            if outcome == "failed":
                self.failed.append(short_id(item))
        return report

    def pytest_terminal_summary(self, terminalreporter):
        lines = [f"{'':45} passed  (use linsep)  expected  failed  skipped"]
        total = Counter()
        for module, count in self.counts.items():
            total.update(count)
            lines.append(self.line(module, count))
        lines.append(self.line("all", total))
        terminalreporter.write_sep("-", "scikit-learn's tests")
        terminalreporter.write_line("\n".join([*lines, *(f"not as expected: {name}" for name in self.failed)]))

    @staticmethod
    def line(name, count):
        return (
            f"{name:45} {count['passed']:6}  {count['passed with linsep']:12}  {count['expected']:8}  {count['failed']:6}"
            f"  {count['skipped']:7}"
        )


def main(arguments):
    # Products are small here; on a busy machine threads wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    modules = [a for a in arguments if a.startswith("sklearn.")]
    others = [a for a in arguments if not a.startswith("sklearn.")]
    plugin = InPlace(whole=not modules and not others)
    # `-c` so that neither this project's settings nor any of the working directory apply.
    settings = ["-c", os.devnull, "--rootdir", str(EXPECTED.parent), "-q", "--no-header", "-p", "no:cacheprovider"]
    quiet = ["-W", "ignore:Estimator .* does not inherit from:UserWarning"]
    return pytest.main([*settings, *quiet, "--pyargs", *(modules or MODULES), *others], plugins=[plugin])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
