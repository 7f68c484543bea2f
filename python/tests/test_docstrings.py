"""The examples of the docstrings run, and what is public is described."""

import doctest
import importlib
import inspect
import pkgutil
import warnings

import pytest

import linsep

MODULES = ["linsep"] + [f"linsep.{found.name}" for found in pkgutil.iter_modules(linsep.__path__) if found.name != "_core"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def classes():
    found = [getattr(linsep, name) for name in linsep.__all__]
    return [thing for thing in found if inspect.isclass(thing) and hasattr(thing, "get_params")]


@pytest.mark.parametrize("estimator", classes(), ids=lambda thing: thing.__name__)
def test_every_public_method_says_what_it_does(estimator):
    silent = [name for name, method in inspect.getmembers(estimator, callable) if not name.startswith("_") and not inspect.getdoc(method)]
    assert silent == []


@pytest.mark.parametrize("estimator", classes(), ids=lambda thing: thing.__name__)
def test_every_parameter_is_described_and_every_estimator_has_an_example(estimator):
    if estimator is linsep.FittedModel:
        pytest.skip("it is made by linsep.load and has no parameters")
    text = inspect.getdoc(estimator)
    parameters = [name for name in inspect.signature(estimator.__init__).parameters if name != "self"]
    assert [name for name in parameters if f"\n{name} : " not in text] == []
    assert ">>> " in text
    for section in ("Parameters\n---", "Attributes\n---", "Notes\n---"):
        assert section in text, section
