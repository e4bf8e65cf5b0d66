"""ssdpt serve: listen to machines live, and show them on a page."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.errors import SsdptError

_EXIT_CLOSED = 1  # something that the plant file names


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "serve")(serve)


def serve(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The plant file (YAML).")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="A simulated plant to try.")] = False,
    data: Annotated[
        Path, typer.Option("--data", help="Where history, recordings and learnt models go.")
    ] = Path("ssdpt-data"),
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 = any free one.", min=0, max=65535)] = 8765,
    certificate: Annotated[
        Path | None, typer.Option(help="Certificate for HTTPS (PEM), with --key.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Its key (PEM).")] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option("--behind-proxy", help="Believe the headers of a proxy on this computer."),
    ] = False,
    proxy: Annotated[
        str | None,
        typer.Option(
            help="As --behind-proxy, for one elsewhere: addresses or networks with commas between."
        ),
    ] = None,
    speed: Annotated[
        float, typer.Option(help="Of the demo's clock, times real time.", min=0.1, max=60)
    ] = 1.0,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Only say whether all that the plant file names can be opened."
        ),
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="With --check: look at file and models alone.")
    ] = False,
) -> None:
    """Listen to machines live: states, alarms and history on a page.

    The plant file is read again whenever it changes.
    """
    if (config is None) == (not demo):
        raise SsdptError("say what to listen to: --config plant.yaml, or --demo to try it")
    if offline and not check:
        raise SsdptError("--offline goes with --check; a service needs its sources")
    if check:
        if config is None:
            raise SsdptError("the demo needs no check; --check goes with --config plant.yaml")
        _check(config, offline=offline)
        return
    from ssdpt.config.validation import checked
    from ssdpt.server.run_service import run_service
    from ssdpt.server.settings import THIS_COMPUTER, ServerSettings

    asked = {
        "host": host,
        "port": port,
        "certificate": certificate,
        "key": key,
        "proxies": (
            *(THIS_COMPUTER if behind_proxy else ()),
            *(part for part in (proxy or "").split(",") if part.strip()),
        ),
    }
    settings = checked(ServerSettings, asked, "serve")
    _log_to_terminal()
    run_service(
        config,
        data,
        settings,
        speed=speed,
        started=lambda address: STDOUT.print(f"listening; open {address}", markup=False),
        reporter=REPORTER,
    )


def _check(config: Path, *, offline: bool) -> None:
    """Tell what there is line by line; exit code 1 where something cannot be opened."""
    from ssdpt.server.run_service import check_config

    closed = []
    for found in check_config(config, offline=offline):
        STDOUT.print(f"{found.name}: {found.words}", markup=False)
        if not found.well:
            closed.append(found.name)
    if closed:
        REPORTER.error(f"{config}: {len(closed)} cannot be opened: {', '.join(closed)}")
        raise typer.Exit(_EXIT_CLOSED)


def _log_to_terminal() -> None:
    """What the service notes, for the journal of the computer."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    log = logging.getLogger("ssdpt")
    log.addHandler(handler)
    log.setLevel(logging.DEBUG if REPORTER.verbose else logging.INFO)
