"""The notebooks of the documentation: stored without outputs, and each of them runs."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def pages():
    """The hook of the site, as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        import pages

        yield pages
    del sys.modules["pages"]


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["explore", "loss", "submission"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_stored_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
        assert cell.metadata == {}, "run: python docs/notebooks/pages.py --strip"


def test_a_page_has_text_code_and_outputs(pages):
    cell = nbformat.v4.new_code_cell("1 + 1 < 3")
    cell.outputs = [
        nbformat.v4.new_output("stream", text="a <b>\n\nc\n"),
        nbformat.v4.new_output("display_data", {"text/html": "<p>\n\nshown</p>"}),
        nbformat.v4.new_output("execute_result", {"text/plain": "True & so on"}),
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title"), cell])
    notebook.metadata["cpu_seconds"] = 12.3
    page = pages.markdown(notebook, "name")
    assert page.startswith("# Title\n\n[Download the notebook](name.ipynb)")
    assert "with the site, in 12 s of CPU time." in page
    assert "```python\n1 + 1 < 3\n```" in page
    assert "a &lt;b&gt;" in page
    assert "<p>\nshown</p>" in page
    assert "True &amp; so on" in page


@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(pages, path):
    """Where `make docs` has just run it with the same code, its outputs are taken from there."""
    notebook = pages.executed(path)
    assert 1 < notebook.metadata.cpu_seconds < 60, "how-to/notebooks.md: less than a minute"
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "text/html" in kinds  # the card of a detector
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
