"""ssdpt datasets: inspect a folder, download public data sets, simulate a plant."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import Group, command, everywhere
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.model import Json

app = typer.Typer(help="Recordings: inspect, download, simulate.", no_args_is_help=True, cls=Group)
app.callback()(everywhere)

Machines = Annotated[
    list[str] | None, typer.Option("--machine", help="Only this machine (may be repeated).")
]


def inspect(
    path: Annotated[Path, typer.Argument(help="A folder, a sound file or a CSV manifest.")],
    as_json: Json = False,
) -> None:
    """What a folder of recordings contains, and problems found in it."""
    from ssdpt.data.inspect import inspect as run

    report = run(path, REPORTER)
    if as_json:
        STDOUT.print(json.dumps(dataclasses.asdict(report), indent=2), markup=False)
    else:
        STDOUT.print("\n".join(report.lines()), markup=False)


def download(
    name: Annotated[str, typer.Argument(help="dcase2020 to dcase2025.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the machines; default: NAME.")
    ] = None,
    machine: Machines = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="development, additional or evaluation (may be repeated)."),
    ] = None,
) -> None:
    """Download and unpack a public data set: resumable, with verified checksums."""
    from ssdpt.data.download import download as run

    folders = run(name, out or Path(name), machine, REPORTER, parts=tuple(part or ["development"]))
    for folder in folders:
        STDOUT.print(str(folder), markup=False)


def simulate(
    out: Annotated[Path, typer.Argument(help="Folder for the machines.")],
    preset: Annotated[str, typer.Option(help="demo, quality, dcase2021 or tiny.")] = "demo",
    machine: Machines = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
) -> None:
    """Simulate recordings of a plant with faults, in DCASE 2021 layout."""
    from ssdpt.data.simulator import simulate as run

    STDOUT.print(str(run(out, preset, seed=seed, machines=machine, reporter=REPORTER)))


command(app, "inspect")(inspect)
command(app, "download")(download)
command(app, "simulate")(simulate)
