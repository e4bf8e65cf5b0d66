"""ssdpt doctor: what this computer can do, and how to get what is missing."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdpt.cli.command import EXIT_ANOMALY, command
from ssdpt.cli.console import STDOUT
from ssdpt.cli.model import Json
from ssdpt.version import __version__

if TYPE_CHECKING:
    from ssdpt.doctor.finding import Finding

_SIGNS = {"ready": "yes", "missing": "no", "faulty": "fault"}


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "doctor")(doctor)


def doctor(
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="Also open all that this monitor.yaml names."),
    ] = None,
    as_json: Json = False,
) -> None:
    """What this computer can do: extras, microphone, GPU, compiler, disk, services.

    Says how to get what is missing. With --config it also opens the models, sources, outputs and
    database of a configuration, and sends nothing. Exit code 1: something does not work.
    """
    from ssdpt.doctor.extras import extras
    from ssdpt.doctor.hardware import hardware
    from ssdpt.doctor.services import services

    parts = {
        "what is installed": extras(),
        "this computer": hardware(Path.cwd()),
        "servers": services(),
    }
    if config is not None:
        parts[str(config)] = _configuration(config)
    findings = [finding for part in parts.values() for finding in part]
    if as_json:
        STDOUT.print(json.dumps([asdict(one) for one in findings], indent=2), markup=False)
    else:
        system = f"{platform.system()} {platform.machine()}"
        STDOUT.print(f"ssdpt {__version__}, Python {platform.python_version()}, {system}")
        width = max(len(finding.name) for finding in findings)
        for title, part in parts.items():
            STDOUT.print(f"\n{title}", style="bold")
            for one in part:
                line = f"  {_SIGNS[one.state]:<5}  {one.name:<{width}}  {one.detail}"
                STDOUT.print(line, markup=False, style="red" if one.state == "faulty" else None)
                if one.remedy:
                    STDOUT.print(f"  {'':<5}  {'':<{width}}  -> {one.remedy}", markup=False)
    if any(finding.state == "faulty" for finding in findings):
        raise typer.Exit(EXIT_ANOMALY)


def _configuration(path: Path) -> list[Finding]:
    """What the configuration of live monitoring names, and whether it can be opened."""
    from ssdpt.doctor.finding import Finding
    from ssdpt.doctor.services import database
    from ssdpt.monitor.config import read_monitor_config
    from ssdpt.server.run_service import check_config

    findings = [
        Finding(result.name, "ready" if result.ok else "faulty", result.message)
        for result in check_config(path)
    ]
    store = read_monitor_config(path).store
    return [*findings, database(store)] if store else findings
