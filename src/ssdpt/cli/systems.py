"""ssdpt systems: which detectors there are."""

from __future__ import annotations

import json
from typing import Any

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT, print_rows
from ssdpt.cli.model import Json
from ssdpt.errors import SsdptError

_SECTIONS = 3  # machine IDs of a machine type of DCASE 2021, for the count of parameters


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "systems")(systems)


def systems(as_json: Json = False) -> None:
    """The detectors: what the paper calls them, their size, and what they need.

    Those of other packages are among them; one that cannot be used is named in a warning.
    """
    from ssdpt.config.tree import load_config
    from ssdpt.systems import system_class, system_names

    rows: list[dict[str, Any]] = []
    for name in system_names():
        try:
            kind, config = system_class(name), load_config("paper", {"system": name})
        except SsdptError as error:  # of another package; the others are there
            REPORTER.warn(str(error))
            continue
        needs = [f"{kind.front_end_of(config).name} frames", *kind.needs]
        rows.append(
            {
                "name": name,
                "origin": kind.origin,
                "parameters": kind.parameter_count(config, _SECTIONS),
                "needs": needs,
            }
        )
    if as_json:
        STDOUT.print(json.dumps(rows, indent=2), markup=False)
        return
    print_rows(
        [
            {
                "system": str(row["name"]),
                "in the paper": str(row["origin"]),
                "parameters": f"{row['parameters']:,}",
                "needs": ", ".join(row["needs"]),
            }
            for row in rows
        ]
    )
