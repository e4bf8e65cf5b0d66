"""ssdpt bearings: which bearings are known by name, and their fault frequencies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import STDOUT, print_rows
from ssdpt.cli.model import Json


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "bearings")(bearings)


def bearings(
    name: Annotated[str, typer.Argument(help="A bearing; without it all are listed.")] = "",
    speed: Annotated[
        float | None, typer.Option(min=0.001, help="Of the shaft in rpm; else per turn.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A configuration file: bearings.yaml beside it counts too.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Bearings that machine data can name, and the frequencies at which their faults are heard."""
    from ssdpt.diagnosis.catalogue import BearingCatalogue

    catalogue = BearingCatalogue.beside(config)
    entries = {name: catalogue[name]} if name else catalogue.entries
    factor = 1.0 if speed is None else speed / 60
    unit = "per turn" if speed is None else "Hz"
    rows = [
        {
            "name": known,
            "BPFO": factor * entry.bpfo,
            "BPFI": factor * entry.bpfi,
            "BSF": factor * entry.bsf,
            "2×BSF": factor * 2 * entry.bsf,
            "FTF": factor * entry.ftf,
            "source": entry.source,
        }
        for known, entry in entries.items()
    ]
    if as_json:
        content = [row | {"unit": unit, "speed_rpm": speed} for row in rows]
        STDOUT.print(json.dumps(content, indent=2, ensure_ascii=False), markup=False)
        return
    print_rows(
        [
            {
                (key if key in ("name", "source") else f"{key} {unit}"): (
                    value if isinstance(value, str) else f"{value:.4g}"
                )
                for key, value in row.items()
                if key != "source"
            }
            for row in rows
        ]
    )
    for row in rows:
        STDOUT.print(f"{row['name']}: {row['source']}", markup=False)
