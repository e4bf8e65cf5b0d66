"""ssdpt record: record normal sound with a microphone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "record")(record)


def record(
    out: Annotated[Path, typer.Argument(help="Folder of the machine; clips go into OUT/normal.")],
    minutes: Annotated[float, typer.Option(help="Duration in minutes.")] = 10.0,
    device: Annotated[str | None, typer.Option(help="Microphone, by number or name.")] = None,
    sample_rate: Annotated[int, typer.Option(help="Sample rate in Hz.")] = 16000,
    channel: Annotated[int, typer.Option(help="Channel of the device, from 0.")] = 0,
) -> None:
    """Record the normal sound of a machine as ten-second clips."""
    from ssdpt.data.record import record as run

    chosen = int(device) if device is not None and device.isdecimal() else device
    clips = run(
        out, minutes, device=chosen, sample_rate=sample_rate, channel=channel, reporter=REPORTER
    )
    REPORTER.say(f"{len(clips)} clips in {out}; next: ssdpt fit {out} --out model")
