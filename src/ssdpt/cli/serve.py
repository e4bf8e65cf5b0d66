"""ssdpt serve: monitor machines live, and show them on a web page."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.first_run import CONFIG
from ssdpt.cli.first_run import first_run as ask_first
from ssdpt.common.log_format import LineFormatter
from ssdpt.common.log_limit import LimitedHandler
from ssdpt.errors import SsdptError

_EXIT_FAILED_CHECK = 1  # something that the configuration file names cannot be opened


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "serve")(serve)


def serve(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The configuration file (YAML).")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Simulated machines, to try it.")] = False,
    first_run: Annotated[
        bool,
        typer.Option("--first-run", help="Ask three questions, write the configuration file."),
    ] = False,
    data: Annotated[
        Path, typer.Option("--data", help="Folder for history, recordings and learned models.")
    ] = Path("ssdpt-data"),
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 = any free port.", min=0, max=65535)] = 8765,
    certificate: Annotated[
        Path | None, typer.Option(help="Certificate for HTTPS (PEM), with --key.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Its key (PEM).")] = None,
    key_password_file: Annotated[
        Path | None, typer.Option(help="File with the password of the key.")
    ] = None,
    tls_minimum: Annotated[
        str, typer.Option(help="Oldest version of TLS that is accepted: 1.2 or 1.3.")
    ] = "1.2",
    hsts_days: Annotated[
        float,
        typer.Option(
            min=0,
            help="Days that browsers stay with HTTPS on all ports of this host; 0 = not.",
        ),
    ] = 30.0,
    behind_proxy: Annotated[
        bool,
        typer.Option("--behind-proxy", help="Trust the headers of a proxy on this computer."),
    ] = False,
    proxy: Annotated[
        str | None,
        typer.Option(
            help="Trust the headers of these proxies: addresses or networks, separated by commas."
        ),
    ] = None,
    speed: Annotated[
        float, typer.Option(help="Speed of the demo's clock; 1 is real time.", min=0.1, max=60)
    ] = 1.0,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Only check whether all that the configuration file names can be opened.",
        ),
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="With --check: only the file and its models.")
    ] = False,
) -> None:
    """Monitor machines live: states, alarms and history on a web page.

    The configuration file is read again whenever it changes.
    """
    if first_run and (demo or check):
        raise SsdptError("--first-run goes with --config only: it writes the configuration file")
    if not first_run and (config is None) == (not demo):
        raise SsdptError(
            "choose what to monitor: --config monitor.yaml, or --demo to try it; --first-run "
            "writes the first configuration file"
        )
    if offline and not check:
        raise SsdptError("--offline needs --check; a service needs its sources")
    if check:
        if config is None:
            raise SsdptError("the demo needs no check; use --check with --config monitor.yaml")
        _check(config, offline=offline)
        return
    if first_run:
        config = config or CONFIG
        ask_first(config, data)
    from ssdpt.config.validation import checked
    from ssdpt.server.run_service import run_service
    from ssdpt.server.settings import THIS_COMPUTER, ServerSettings

    options = {
        "host": host,
        "port": port,
        "certificate": certificate,
        "key": key,
        "key_password_file": key_password_file,
        "tls_minimum": tls_minimum,
        "hsts_days": hsts_days,
        "proxies": (
            *(THIS_COMPUTER if behind_proxy else ()),
            *(part for part in (proxy or "").split(",") if part.strip()),
        ),
    }
    settings = checked(ServerSettings, options, "serve")
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
    """Print one line per machine, source and output; exit code 1 if one cannot be opened."""
    from ssdpt.server.run_service import check_config

    failed = []
    for result in check_config(config, offline=offline):
        STDOUT.print(f"{result.name}: {result.message}", markup=False)
        if not result.ok:
            failed.append(result.name)
    if failed:
        REPORTER.error(f"{config}: {len(failed)} cannot be opened: {', '.join(failed)}")
        raise typer.Exit(_EXIT_FAILED_CHECK)


def _log_to_terminal() -> None:
    """Log to the terminal, or the system journal."""
    handler = LimitedHandler()
    handler.setFormatter(LineFormatter())
    # At the root: what the libraries of the server report must not flood the log, either.
    logging.getLogger().addHandler(handler)
    logging.getLogger("ssdpt").setLevel(logging.DEBUG if REPORTER.verbose else logging.INFO)
