"""ssdpt ablate: how much each component of the default system contributes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import EXIT_INTERRUPTED, command
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.model import Device


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "ablate")(ablate)


def ablate(
    data: Annotated[
        list[Path], typer.Option(help="A labelled folder of machines (may be repeated).")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for table, networks and cells.")],
    seeds: Annotated[int, typer.Option(min=1, help="Number of trainings per network.")] = 3,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="Only this variant and the full system (may be repeated)."),
    ] = None,
    with_published: Annotated[
        bool, typer.Option("--with-published", help="Also train the published system; slow.")
    ] = False,
    device: Device = "auto",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting: system=texture.")
    ] = None,
) -> None:
    """Preset best with each component removed in turn: one table, with intervals."""
    from ssdpt.config.tree import parse_override
    from ssdpt.experiments.ablation.ablation import Ablation, AblationRequest

    request = AblationRequest(
        roots=tuple(data),
        out=out,
        seeds=seeds,
        variants=tuple(variant or ()),
        published=with_published,
        device=device,
        overrides=dict(parse_override(text) for text in set_ or []),
        command=shlex.join(["ssdpt", *sys.argv[1:]]),
    )
    try:
        STDOUT.print(Ablation(request, REPORTER).run().markdown(), markup=False)
    except KeyboardInterrupt as error:
        REPORTER.error(
            "interrupted; run the same command again to continue with the missing variants"
        )
        raise typer.Exit(EXIT_INTERRUPTED) from error
