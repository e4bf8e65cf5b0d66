"""ssdpt report: what happened to the machines in a week."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.users import DATA_FOLDER, Data, open_store
from ssdpt.common.files import atomic_path
from ssdpt.errors import SsdptError


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "report")(report)


def report(
    config: Annotated[Path, typer.Option("--config", help="Configuration file of the service.")],
    week: Annotated[str, typer.Option(help="Such as 2026-W46; default: the last one.")] = "",
    out: Annotated[
        Path | None, typer.Option(help="PDF file to write; default: print the text.")
    ] = None,
    data: Data = DATA_FOLDER,
) -> None:
    """Weekly report: events, machines that get worse, hours listened and false alerts.

    The service may be running. When a machine will reach alarm is known only to the service.
    """
    from ssdpt.monitor.config import read_monitor_config
    from ssdpt.monitor.report.pdf import report_pdf
    from ssdpt.monitor.report.wording import report_text
    from ssdpt.monitor.service.weekly_report import ReportedMachine, weekly_report
    from ssdpt.monitor.week import Week

    plant = read_monitor_config(config)
    now = time.time()
    chosen = Week.parse(week) if week else Week.of(now, plant.timezone).shifted(-1)
    if out is not None and out.suffix.lower() != ".pdf":
        raise SsdptError(f"{out}: the report is written as PDF; choose a name that ends in .pdf")
    machines = [
        ReportedMachine(
            machine.id,
            machine.title,
            machine.site,
            snapshots=machine.sensor.snapshots,
            has_pauses=machine.source.arrives_in_files,
        )
        for machine in plant.machines
    ]
    with open_store(data, plant.store) as store:
        made = weekly_report(
            store,
            chosen,
            machines,
            plant=plant.name,
            timezone=plant.timezone,
            language=plant.language,
            now=now,
        )
    if out is None:
        STDOUT.print(report_text(made).plain(), markup=False, highlight=False, end="")
        return
    content = report_pdf(made)
    with atomic_path(out) as path:
        path.write_bytes(content)
    REPORTER.say(f"report of {made.week} written to {out}")
