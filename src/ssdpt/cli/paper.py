"""ssdpt paper: the paper's tables and figures."""

from __future__ import annotations

import json
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import EXIT_INTERRUPTED, Group, command, everywhere
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.judge import print_rows
from ssdpt.cli.model import Json
from ssdpt.cli.score import EngineName

app = typer.Typer(help="What the paper reports, computed here.", no_args_is_help=True, cls=Group)
app.callback()(everywhere)


class ErrorChoice(StrEnum):
    mean = "mean"
    sum = "sum"


Data = Annotated[
    list[Path] | None,
    typer.Option(help="The DCASE 2021 folder, or any labelled one (may be repeated)."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Where tables, figures and cells go.")]
Machines = Annotated[
    list[str] | None, typer.Option("--machines", help="Only these: fan,valve (may be repeated).")
]
Seeds = Annotated[int, typer.Option(min=1, help="Trainings of every kind.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="A smoke run of minutes; without --data on its own plant.")
]
Where = Annotated[EngineName, typer.Option("--engine", help="This machine or a Ray cluster.")]
Address = Annotated[str, typer.Option(help="Of the Ray cluster: auto or host:port.")]
Gpus = Annotated[float, typer.Option(min=0, help="Share of a GPU for a cell on the cluster.")]
OnlyPlan = Annotated[bool, typer.Option("--plan", help="Say what it would cost, run nothing.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Cells at once on this machine.")]
Error = Annotated[
    ErrorChoice, typer.Option(help="Of a segment, in the β experiment: its mean or its sum.")
]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="Any setting: ssdpt.training.epochs=5.")
]


def _experiment(name: str, about: str, experiments: tuple[str, ...]) -> None:
    """Add the command for some of the experiments."""

    def run(
        out: Out,
        data: Data = None,
        machines: Machines = None,
        seeds: Seeds = 1,
        quick: Quick = False,
        plan: OnlyPlan = False,
        engine: Where = EngineName.local,
        address: Address = "auto",
        gpus: Gpus = 0.0,
        device: Device = "auto",
        jobs: Jobs = None,
        error: Error = ErrorChoice.mean,
        set_: Set = None,
    ) -> None:
        from ssdpt.config.tree import parse_override
        from ssdpt.errors import SsdptError
        from ssdpt.experiments.paper.engine import Engine
        from ssdpt.experiments.paper.paper import Paper, Request

        if engine is EngineName.local and gpus:
            raise SsdptError(
                "a share of a GPU is for a cluster: add --engine ray, or use --jobs here"
            )
        paper = Paper(
            Request(
                experiments=experiments,
                out=out,
                roots=tuple(data or ()),
                machines=tuple(part for text in machines or [] for part in text.split(",") if part),
                seeds=seeds,
                quick=quick,
                engine=Engine(engine.value, address, gpus, jobs),
                device=device,
                error=error.value,
                overrides=dict(parse_override(text) for text in set_ or []),
                command=shlex.join(["ssdpt", *sys.argv[1:]]),
            ),
            REPORTER,
        )
        if plan:
            found = paper.plan()
            print_rows(found.table())
            STDOUT.print(found.summary(), markup=False)
            return
        try:
            STDOUT.print(f"report: {paper.run()}", markup=False)
        except KeyboardInterrupt as error:
            REPORTER.error("interrupted; the same command goes on with the cells that are missing")
            raise typer.Exit(EXIT_INTERRUPTED) from error

    run.__doc__ = about
    command(app, name)(run)


def params(as_json: Json = False) -> None:
    """Parameter counts of the networks of Table II."""
    from ssdpt.experiments.paper.params import parameter_table

    rows = parameter_table()
    if as_json:
        STDOUT.print(json.dumps(rows, indent=2), markup=False)
        return
    STDOUT.print("blocks  frames  paper's count  all parameters")
    for row in rows:
        STDOUT.print(
            f"{row['blocks']:6}  {row['frames']:6}  {row['paper_count']:13}  {row['all']:14}"
        )


_experiment(
    "all",
    "Both tables, all figures, and a verdict on every claim.",
    ("main", "masking", "patches", "blocks", "beta"),
)
_experiment("main", "Table I and the systems by machine type.", ("main",))
_experiment("masking", "Masking methods.", ("masking",))
_experiment("patches", "Number and size of patch masks.", ("patches",))
_experiment("blocks", "Table II: blocks and frame lengths.", ("blocks",))
_experiment("beta", "The weight of the reconstruction error in the score.", ("beta",))
command(app, "params")(params)
