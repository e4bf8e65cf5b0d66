"""The documents match the code: reference, layers, error sentences, formats, links."""

from __future__ import annotations

import io
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

from ssdpt.cli import app
from ssdpt.cli.formats import Format, Writer
from ssdpt.data.manifest import COLUMNS
from ssdpt.data.simulator.simulation import FAULT_COLUMNS
from ssdpt.detection.storage import CALIBRATION, CARD, CONFIG, DATA, ENCODER, WEIGHTS
from ssdpt.evaluation.evaluate import SCORE_COLUMNS
from ssdpt.runtime.manifest import FRAME_GRAPHS, GRAPHS, MANIFEST, REFERENCES, Manifest
from ssdpt.systems.base import System
from ssdpt.training.log import LOG_FILE

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])


def _load(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _columns(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


def test_generated_reference_is_current() -> None:
    for name, make in _load(DOCS / "generate.py").PAGES.items():
        assert make() == (DOCS / "reference" / name).read_text("utf-8"), "run: make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_code_is_empty(page: Path) -> None:
    """Two backticks with nothing between them begin code that swallows the next column."""
    assert not re.findall(r"^.*(?<!`)``(?!`).*$", page.read_text("utf-8"), re.MULTILINE)


def test_continuous_integration_compares_the_generated_reference_with_the_commit() -> None:
    """There `make docs` has written it anew before the tests, so the test above cannot fail."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    written = {f"docs/reference/{name}" for name in _load(DOCS / "generate.py").PAGES}
    (listed,) = re.findall(r"^GENERATED_DOCS := (.+)$", makefile, re.MULTILINE)
    assert set(listed.split()) == written
    (recipe,) = re.findall(r"^test-all:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert re.search(r"git diff --exit-code .*\$\(GENERATED_DOCS\)", recipe)


def _contracts() -> list[dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    return contracts


def test_architecture_lists_the_layers_of_every_contract() -> None:
    page = (DOCS / "explanation" / "architecture.md").read_text("utf-8")
    section = page.split("\n## Layers\n")[1].split("\n## ")[0]
    lists = {
        container: layers.splitlines()
        for container, layers in re.findall(
            r"^(?:Inside `(ssdpt\.\w+)`.*?:\n\n)?```text\n(.*?)```",
            section,
            re.DOTALL | re.MULTILINE,
        )
    }
    contracts = _contracts()
    assert lists == {
        container: contract["layers"]
        for contract in contracts
        for container in contract.get("containers", [""])
    }
    assert {contract["type"] for contract in contracts} == {"layers"}


def test_architecture_describes_every_package() -> None:
    page = (DOCS / "explanation" / "architecture.md").read_text("utf-8")
    described = re.findall(r"^\| `(ssdpt\.\w+)`", page, re.MULTILINE)
    (main,) = [contract for contract in _contracts() if "containers" not in contract]
    assert sorted(described) == sorted(re.findall(r"ssdpt\.\w+", "\n".join(main["layers"])))
    folder = ROOT / "src" / "ssdpt"
    packages = {path.stem for path in folder.iterdir() if not path.name.startswith(("_", "py."))}
    assert sorted(described) == sorted(f"ssdpt.{name}" for name in packages)


def _resolves(text: str) -> bool:
    """Whether a file holds every part of a dotted name such as Class.method.

    Names begin in the package, or in the folder of the project.
    """
    name, _, symbol = text.partition(":")
    files = [*(ROOT / "src" / "ssdpt").glob(name), *ROOT.glob(name)]
    return bool(files) and all(
        not symbol
        or all(
            re.search(rf"\b(?:class|def) {part}\b", file.read_text("utf-8"))
            for part in symbol.split(".")
        )
        for file in files
    )


def test_architecture_names_code_that_exists() -> None:
    page = (DOCS / "explanation" / "architecture.md").read_text("utf-8")
    names = re.findall(r"`([\w/*]+\.py(?::[\w.]+)?)`", page)
    assert len(names) > 10
    assert [name for name in names if not _resolves(name)] == []
    source = "\n".join(
        path.read_text("utf-8") for path in (ROOT / "src/ssdpt/monitor/service").glob("*.py")
    )
    table = page.split("| object | what it does |")[1].split("\n\n")[0]
    objects = re.findall(
        r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines() if "|" in row)
    )
    assert [name for name in objects if f"class {name}" not in source] == []


def test_architecture_names_members_of_the_contract_of_systems() -> None:
    page = (DOCS / "explanation" / "architecture.md").read_text("utf-8")
    section = page.split("\n## One contract\n")[1].split("\n## ")[0]
    members = re.findall(r"`(\w+)\(", section) + re.findall(r"\(`(\w+)`\)", section)
    assert len(members) > 10
    assert [name for name in members if not hasattr(System, name)] == []


def test_formats_name_every_file_and_column() -> None:
    page = (DOCS / "reference" / "formats.md").read_text("utf-8")
    model = (CONFIG, WEIGHTS, CALIBRATION, DATA, LOG_FILE, ENCODER, CARD)
    for name in (*model, MANIFEST, REFERENCES):
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings]
            assert anchor in anchors, target


def _commands() -> Iterator[str]:
    """Every command of the pages that begins with `ssdpt`, in a code block or in backquotes."""
    for page in PAGES:
        if page.name == "commands.md":
            continue  # generated from the commands
        text = page.read_text("utf-8")
        blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
        commands = re.findall(r"^(ssdpt .+)$", blocks, re.MULTILINE)
        commands += re.findall(r"^ {4}(ssdpt .+)$", text, re.MULTILINE)
        commands += re.findall(r"(?<!`)`(ssdpt [^`]+)`", text)
        for command in commands:
            yield " ".join(command.split("#")[0].split())


@pytest.mark.parametrize("text", sorted(set(_commands())))
def test_commands_of_the_pages_exist(text: str) -> None:
    here: Any = typer.main.get_command(app)
    arguments = shlex.split(text)[1:]
    while hasattr(here, "commands") and arguments and re.fullmatch(r"[a-z]+", arguments[0]):
        assert arguments[0] in here.commands
        here = here.commands[arguments.pop(0)]
    if not hasattr(here, "commands"):
        options = {option for parameter in here.params for option in parameter.opts}
        assert {
            argument.split("=")[0] for argument in arguments if re.match(r"--?[a-z]", argument)
        } <= options
