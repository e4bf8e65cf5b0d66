"""Extras: what each brings, from the package's own metadata."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from ssdpt.doctor import extras as module
from ssdpt.doctor.extras import PURPOSES, distributions, extras

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))


def test_every_extra_for_users_is_looked_at() -> None:
    assert set(PURPOSES) == set(PROJECT["project"]["optional-dependencies"]) - {"dev", "docs"}


def test_an_extra_inside_another_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    requirements = [
        "numpy>=1.26",
        'torch>=2.11; extra == "train"',
        'ssdpt[train]; extra == "serve"',
        "psycopg[binary]>=3.2 ; extra == 'postgres'",
        'fastapi>=0.115; extra == "serve"',
    ]
    monkeypatch.setattr(metadata, "requires", lambda name: requirements)
    assert distributions("serve") == ["torch", "fastapi"]
    assert distributions("postgres") == ["psycopg"]


def test_a_missing_package_is_named_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_installed", lambda name: name != "sounddevice")
    missing = {one.name: one for one in extras() if one.state == "missing"}
    assert set(missing) == {"live"}
    assert "sounddevice" in missing["live"].detail
    assert missing["live"].remedy == "pip install 'ssdpt[live]'"
