"""Every block of README.md and of the documentation runs, in order, page by page.

Presets that train networks are replaced by `tiny`. What cannot run says why in a comment above it.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from page_blocks import ROOT, blocks_of, name_of, pages
from run_blocks import check_yaml, run_page
from stand_ins import FULL, NOT_RUN, ONLY_WHOLE, PAGES, Folder, Material

import ssdpt.config.tree
import ssdpt.detection.detector
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.parameter_counts import parameter_table

LANGUAGES = {"sh", "python", "yaml", "json", "toml", "text", "csv", "nginx", "js", "html"}
BY_NAME = {name_of(page): page for page in pages()}
WITH_COMMANDS = {
    name: page
    for name, page in BY_NAME.items()
    if any(not block.reason and block.language in {"sh", "python"} for block in blocks_of(page))
}
RUN = [
    pytest.param(page, id=name, marks=[pytest.mark.full] if name in FULL else [])
    for name, page in WITH_COMMANDS.items()
    if name not in ONLY_WHOLE
]


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    return Material(tmp_path_factory.mktemp("material"))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks are tiny, whatever the preset."""
    load = ssdpt.config.tree.load_config

    def tiny(preset: str = "default", overrides: dict[str, Any] | None = None) -> Any:
        if preset == "best":
            return load("tiny", {"system": "multiview", **(overrides or {})})
        return load("tiny" if preset in {"fast", "paper"} else preset, overrides)

    monkeypatch.setattr(ssdpt.config.tree, "load_config", tiny)
    monkeypatch.setattr(ssdpt.detection.detector, "load_config", tiny)


@pytest.mark.parametrize("page", RUN)
@pytest.mark.usefixtures("quick")
def test_every_block_of_the_page_runs(
    page: Path, tmp_path: Path, material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Folder(tmp_path, material, monkeypatch)
    with folder.running:
        for stand_in in PAGES.get(name_of(page), ()):
            stand_in(folder)
        assert run_page(page, folder.replacements, folder.typed) > 0


@pytest.mark.parametrize("page", BY_NAME.values(), ids=BY_NAME)
def test_settings_on_the_page_are_valid(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """YAML and JSON of pages that run no command."""
    monkeypatch.chdir(tmp_path)
    if name_of(page) not in WITH_COMMANDS:
        run_page(page, {})


def test_blocks_that_are_not_run_are_known() -> None:
    counted = Counter(
        {
            name: sum(bool(b.reason) for b in blocks_of(p) if b.language != "text")
            for name, p in BY_NAME.items()
        }
    )
    assert dict(+counted) == NOT_RUN


# Generated from the topics of `ssdpt help`; that its commands exist is tested with the reference.
WRITTEN = {name: page for name, page in BY_NAME.items() if name != "reference/help.md"}


@pytest.mark.parametrize("page", WRITTEN.values(), ids=WRITTEN)
def test_blocks_name_a_language_and_commands_stand_in_blocks(page: Path) -> None:
    assert {block.language for block in blocks_of(page)} <= LANGUAGES
    fenced = re.sub(r"^( *)```.*?^\1```", "", page.read_text("utf-8"), flags=re.DOTALL | re.M)
    assert re.findall(r"^ {4,}(?:ssdpt|curl|pip|docker|sudo) .*", fenced, re.MULTILINE) == []


def test_stand_ins_are_those_of_pages_that_exist() -> None:
    assert (PAGES.keys() | FULL | ONLY_WHOLE | NOT_RUN.keys()) <= BY_NAME.keys()


@pytest.mark.parametrize("content", [{"machines": [{"id": "A b"}]}, {"hz": 3}, [{"id": "a"}]])
def test_wrong_settings_are_found(content: Any) -> None:
    with pytest.raises(SsdptError):
        check_yaml(content)


def test_parameter_table_of_the_readme_is_right() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d) \| (\d+) \| ([\d,]+) \| ([\d,]+) \|$", text, re.MULTILINE)
    numbers = [tuple(int(cell.replace(",", "")) for cell in row) for row in rows]
    assert numbers == [tuple(row.values()) for row in parameter_table()]
