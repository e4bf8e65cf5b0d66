"""ssdpt bench, the part on the service as a process."""

from __future__ import annotations

from typing import Annotated

import typer

from ssdpt.cli.bench_options import print_result
from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER
from ssdpt.cli.model import Json


def register(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "start-stop")(start_stop)


def start_stop(
    machines: Annotated[
        int, typer.Option(min=1, help="Number of machines, each with its own model.")
    ] = 200,
    seconds: Annotated[
        float, typer.Option(min=0, help="Of monitoring, between start and stop.")
    ] = 30.0,
    as_json: Json = False,
) -> None:
    """Start and stop of the service: seconds until it is ready, and from SIGTERM to its end."""
    from ssdpt.bench.start_stop import bench_start_stop

    result = bench_start_stop(machines=machines, seconds=seconds, reporter=REPORTER)
    print_result(result, as_json)
