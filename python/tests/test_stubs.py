"""The stub of the extension says what the extension has, no more and no less."""

import ast
import inspect
from pathlib import Path

import linsep
from linsep import _core

PACKAGE = Path(linsep.__file__).parent
STUB = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))


def declared(body):
    """Names that a stub declares: functions, classes and annotated names."""
    names = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return names | {node.target.id for node in body if isinstance(node, ast.AnnAssign)}


def public(thing):
    return {name for name in vars(thing) if not name.startswith("_")}


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_names_of_the_extension():
    assert {name for name in declared(STUB.body) if not name.startswith("_")} == public(_core)


def test_members_of_its_classes():
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            found = getattr(_core, node.name)
            said = {name for name in declared(node.body) if not name.startswith("_")}
            assert said == public(found), node.name


def test_parameters():
    functions = [(node, _core) for node in STUB.body if isinstance(node, ast.FunctionDef)]
    for parent in (node for node in STUB.body if isinstance(node, ast.ClassDef)):
        functions += [(node, getattr(_core, parent.name)) for node in parent.body if isinstance(node, ast.FunctionDef)]
    for node, owner in functions:
        if node.name.startswith("__") or any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list):
            continue
        stub = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
        real = list(inspect.signature(getattr(owner, node.name)).parameters)
        assert [a for a in stub if a != "self"] == [a for a in real if a != "self"], node.name
