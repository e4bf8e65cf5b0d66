"""ssdpt systems: which detectors there are."""

from __future__ import annotations

import json
from typing import Any

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import STDOUT, print_rows
from ssdpt.cli.model import Json

_SECTIONS = 3  # machine IDs of a machine type of DCASE 2021, for the count of parameters


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "systems")(systems)


def systems(as_json: Json = False) -> None:
    """The detectors: what the paper calls them, their size, and what they need."""
    from ssdpt.config.tree import load_config
    from ssdpt.systems import system_class, system_names

    found: list[dict[str, Any]] = []
    for name in system_names():
        kind, config = system_class(name), load_config("paper", {"system": name})
        needs = [f"{kind.front_end_of(config).name} frames", *kind.needs]
        found.append(
            {
                "name": name,
                "origin": kind.origin,
                "parameters": kind.parameter_count(config, _SECTIONS),
                "needs": needs,
            }
        )
    if as_json:
        STDOUT.print(json.dumps(found, indent=2), markup=False)
        return
    print_rows(
        [
            {
                "system": str(row["name"]),
                "in the paper": str(row["origin"]),
                "parameters": f"{row['parameters']:,}",
                "needs": ", ".join(row["needs"]),
            }
            for row in found
        ]
    )
