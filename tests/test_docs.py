"""The documents say what the code does: reference, layers, error sentences, formats, links."""

from __future__ import annotations

import ast
import io
import re
import tomllib
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from ssdpt.cli.formats import Format, Writer
from ssdpt.data.manifest import COLUMNS
from ssdpt.data.simulator.simulation import FAULT_COLUMNS
from ssdpt.detection.storage import CALIBRATION, CARD, CONFIG, DATA, WEIGHTS
from ssdpt.evaluation.evaluate import SCORE_COLUMNS
from ssdpt.runtime.manifest import FRAME_GRAPHS, GRAPHS, MANIFEST, REFERENCES, Manifest
from ssdpt.training.log import LOG_FILE

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])


def _load(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _literal(node: ast.expr) -> str:
    """A message as written, with … for every value put into it; empty if it is made elsewhere."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(v) if isinstance(v, ast.Constant) else "…" for v in node.values)
    return ""


def _error_sentences() -> Iterator[str]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in {"SsdptError", "AudioError"}
                and (sentence := _literal(node.args[-1]))
            ):
                yield sentence


def _strings() -> str:
    """Every string of the source, f-strings with … for their values."""
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant | ast.JoinedStr) and (text := _literal(node)):
                found.append(text)
    return "\n".join(found)


def _families() -> list[str]:
    tables = [
        (DOCS / page).read_text("utf-8").split("\n## Trouble\n")[1]
        for page in ("guide.md", "monitoring.md")
    ]
    rows = [
        line.split(" | ")[0]
        for table in tables
        for line in table.splitlines()
        if line.startswith("| `")
    ]
    return [family for row in rows for family in re.findall(r"`([^`]+)`", row)]


def _columns(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


@pytest.mark.parametrize("sentence", sorted(set(_error_sentences())))
def test_every_error_sentence_is_in_the_guide(sentence: str) -> None:
    found = any(family in sentence for family in _families())
    assert found, f"docs/guide.md, Trouble: add a row for “{sentence}”"


def test_the_guide_lists_no_error_that_cannot_come() -> None:
    strings = _strings()
    assert [family for family in _families() if family not in strings] == []


def test_generated_reference_is_current() -> None:
    page = (DOCS / "api.md").read_text("utf-8")
    assert _load(DOCS / "generate.py").generate(page) == page, "run: make docs"


def test_architecture_lists_the_layers_of_the_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    page = (DOCS / "architecture.md").read_text("utf-8")
    listed = page.split("\n## Layers\n")[1].split("```text\n")[1].split("```")[0]
    assert listed.splitlines() == contract["layers"]
    rooms = re.findall(r"^\| `(ssdpt\.\w+)`", page, re.MULTILINE)
    assert sorted(rooms) == sorted(re.findall(r"ssdpt\.\w+", "\n".join(contract["layers"])))


def test_formats_name_every_file_and_column() -> None:
    page = (DOCS / "formats.md").read_text("utf-8")
    for name in (CONFIG, WEIGHTS, CALIBRATION, DATA, LOG_FILE, CARD, MANIFEST, REFERENCES):
        assert f"| `{name}` |" in page
    for files in (*GRAPHS.values(), *FRAME_GRAPHS.values()):
        assert f"| {', '.join(f'`{name}`' for name in files)} |" in page
    for name in Manifest.model_fields:
        assert f"`{name}`" in page
    page = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    printed = io.StringIO()
    with Writer(Format.csv, printed, with_timeline=False):
        pass
    quoted = [_columns(" ".join(text.split())) for text in re.findall(r"`([^`]+)`", page)]
    for columns in (SCORE_COLUMNS, FAULT_COLUMNS, _columns(printed.getvalue())):
        assert columns in quoted
    for name in COLUMNS:
        assert f"| `{name}` |" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        name, _, mark = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if mark:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            marks = [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings]
            assert mark in marks, target
