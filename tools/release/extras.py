"""The extras that users can install."""

from __future__ import annotations

import tomllib
from pathlib import Path

_FOR_DEVELOPERS = {"dev", "docs"}


def extras(root: Path) -> list[str]:
    """Their names, as pyproject.toml has them."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return [name for name in project["optional-dependencies"] if name not in _FOR_DEVELOPERS]
