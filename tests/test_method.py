"""The page on the method names code and settings that exist, and every equation in its order."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ssdpt.config.tree import config_type
from ssdpt.systems.ssdpt import SsdptConfig

PAGE = (Path(__file__).parents[1] / "docs" / "explanation" / "method.md").read_text("utf-8")
EQUATIONS = 18  # numbered equations of the paper


def _tables(heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without its head."""
    text = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[2:]]


def _resolve(name: str) -> Any:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            member: Any = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            member = getattr(member, part)
        return member
    raise AssertionError(f"{name}: no such module")


def _is_setting(name: str) -> bool:
    model: Any = config_type()
    *parents, leaf = name.split(".")
    for parent in parents:
        if parent not in model.model_fields:
            return False
        model = model.model_fields[parent].annotation
    field = model.model_fields.get(leaf)
    return field is not None and not (
        isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    )


CODE = sorted(set(re.findall(r"`(ssdpt\.\w+\.[\w.]+)`", PAGE)))
SETTINGS = {
    name
    for row in _tables("Where the paper is silent or contradicts itself")
    for name in re.findall(r"`([a-z_.]+)`", row[-1])
}


@pytest.mark.parametrize("name", [name for name in CODE if name not in SETTINGS])
def test_named_code_exists(name: str) -> None:
    assert callable(_resolve(name)) or isinstance(_resolve(name), property)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_named_settings_exist(name: str) -> None:
    assert _is_setting(name)


def test_every_equation_has_a_function() -> None:
    rows = _tables("The equations")
    assert [int(row[0]) for row in rows] == list(range(1, EQUATIONS + 1))
    assert all(re.findall(r"`ssdpt\.[\w.]+`", row[2]) for row in rows)


def test_every_choice_of_the_ssdpt_system_is_explained() -> None:
    explained = {name for name in SETTINGS if name.startswith("ssdpt.")}
    trees = {"ssdpt.mask", "ssdpt.training"}
    fields = {f"ssdpt.{name}" for name in SsdptConfig.model_fields}
    assert fields - trees <= explained
