"""The examples of the documents run."""

import doctest
from pathlib import Path

import pytest

DOCUMENTS = Path(__file__).parents[2] / "docs"


def test_the_page_about_python():
    for needed in ("sklearn", "pandas"):
        pytest.importorskip(needed)
    found = doctest.testfile(str(DOCUMENTS / "python.md"), module_relative=False, encoding="utf-8")
    assert found.attempted > 30 and found.failed == 0
