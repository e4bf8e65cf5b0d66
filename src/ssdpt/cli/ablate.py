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
        list[Path],
        typer.Option(help="A labelled folder of machines (may be repeated)."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for table, networks and cells.")],
    seeds: Annotated[int, typer.Option(min=1, help="Number of trainings per network.")] = 3,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="Only this variant and the full system (may be repeated)."),
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            help="A further variant, `NAME: setting=value, …` (may be repeated); complexity=-1 "
            "among the settings: one component fewer than the full system."
        ),
    ] = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Fit each set without the others.")
    ] = False,
    looks: Annotated[
        Path | None,
        typer.Option(help="Log of all variants looked at; default: OUT/looks.jsonl."),
    ] = None,
    with_published: Annotated[
        bool, typer.Option("--with-published", help="Also train the published system; slow.")
    ] = False,
    device: Device = "auto",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting: system=texture.")
    ] = None,
) -> None:
    """Preset best with each component removed in turn: one table, with intervals.

    With several machine types also what would be chosen without each of them. Sets of one type
    (dcase2022/bearing, dcase2023/bearing) are left out together.
    """
    from ssdpt.config.tree import parse_override
    from ssdpt.experiments.ablation.ablation import Ablation, AblationRequest
    from ssdpt.experiments.ablation.variants import parse_candidate

    request = AblationRequest(
        roots=tuple(data),
        out=out,
        seeds=seeds,
        variants=tuple(variant or ()),
        candidates=tuple(map(parse_candidate, candidate or ())),
        published=with_published,
        alone=alone,
        looks=looks,
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
