"""The guide's examples run and print what the guide says."""

import doctest
import warnings

import pytest
from conftest import ROOT

PAGES = [ROOT / "docs" / "python.md", ROOT / "README.md", ROOT / "docs" / "scale.md", ROOT / "docs" / "course.md"]
FENCES = ("```pycon", "```python")


def examples(path):
    """The text of a page with everything blanked that is not in a Python fence, so that lines keep their numbers."""
    lines, inside = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        if inside:
            inside = line.strip() != "```"
            lines.append(line if inside else "")
        else:
            inside = line.strip() in FENCES
            lines.append("")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_examples(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(examples(path), {}, path.name, str(path), 0)
    if path.name == "python.md":
        assert len(test.examples) > 40
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_the_guide_names_every_public_class():
    import linsep

    text = PAGES[0].read_text(encoding="utf-8")
    missing = [name for name in linsep.__all__ if f"`{name}" not in text and f"linsep.{name}" not in text]
    # What `load`, `separability` and `regularization_path` give is described with them.
    assert set(missing) <= {"FittedModel", "Separability", "RegularizationPath"}
