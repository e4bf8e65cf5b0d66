"""ssdpt bench quality: detection quality of several systems, beside published figures."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdpt.cli.command import EXIT_INTERRUPTED, command
from ssdpt.cli.console import REPORTER, STDOUT, print_rows
from ssdpt.cli.model import Device

if TYPE_CHECKING:
    from ssdpt.bench.quality.systems import Fitted


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "quality")(quality)


def quality(
    data: Annotated[
        list[Path], typer.Argument(help="Labelled folders of machines, e.g. dcase2022 dcase2023.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for page, tables and cells.")],
    system: Annotated[
        list[str] | None,
        typer.Option(
            help="A system with the settings of preset best (may be repeated); default: texture, "
            "and one Gaussian."
        ),
    ] = None,
    preset: Annotated[
        list[str] | None, typer.Option(help="A preset or YAML file (may be repeated).")
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(help="Any settings, `NAME: preset=fast, system=ae, …` (may be repeated)."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of fits of every system.")] = 1,
    together: Annotated[
        bool, typer.Option("--together", help="Fit all sets together; the default.")
    ] = False,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Fit each set without the others; both: with --together."),
    ] = False,
    looks: Annotated[
        Path | None,
        typer.Option(help="Log of all systems looked at; default: OUT/looks.jsonl."),
    ] = None,
    device: Device = "auto",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting, for all systems.")
    ] = None,
) -> None:
    """Quality: systems on labelled sets, with intervals, times, sizes, and published figures."""
    from ssdpt.bench.quality.quality import QualityBench, QualityRequest
    from ssdpt.bench.quality.systems import compared_systems
    from ssdpt.bench.quality.tables import quality_tables
    from ssdpt.config.tree import parse_override

    fitted: list[Fitted] = ["together"] if together or not alone else []
    fitted += ["alone"] if alone else []
    request = QualityRequest(
        roots=tuple(data),
        out=out,
        systems=tuple(
            compared_systems(
                systems=system or (),
                presets=preset or (),
                candidates=candidate or (),
                fitted=fitted,
                overrides=dict(map(parse_override, set_ or ())),
                device=device,
            )
        ),
        seeds=seeds,
        looks=looks,
        command=shlex.join(["ssdpt", *sys.argv[1:]]),
    )
    try:
        results = QualityBench(request, REPORTER).run()
    except KeyboardInterrupt as error:
        REPORTER.error("interrupted; run the same command again to continue with what is missing")
        raise typer.Exit(EXIT_INTERRUPTED) from error
    for table in quality_tables(results)[:4]:
        STDOUT.print(table.caption, markup=False)
        print_rows(
            [dict(zip(table.columns, map(str, row.cells), strict=True)) for row in table.rows]
        )
        STDOUT.print()
    STDOUT.print(f"page: {out / 'quality.html'}", markup=False)
