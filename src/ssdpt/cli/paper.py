"""ssdpt paper: reproduce the paper's tables and figures."""

from __future__ import annotations

import json
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import EXIT_INTERRUPTED, Group, command, everywhere
from ssdpt.cli.console import REPORTER, STDOUT, print_rows
from ssdpt.cli.model import Json
from ssdpt.cli.score import EngineName

app = typer.Typer(help="Reproduce the paper's results.", no_args_is_help=True, cls=Group)
app.callback()(everywhere)


class ErrorChoice(StrEnum):
    mean = "mean"
    sum = "sum"


Data = Annotated[
    list[Path] | None,
    typer.Option(help="The DCASE 2021 folder, or other labelled data (may be repeated)."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for tables, figures and cells.")]
Machines = Annotated[
    list[str] | None, typer.Option("--machines", help="Only these: fan,valve (may be repeated).")
]
Seeds = Annotated[int, typer.Option(min=1, help="Number of trainings per configuration.")]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="A smoke run of minutes; without --data, on a simulated plant."),
]
Where = Annotated[
    EngineName, typer.Option("--engine", help="Run on this machine or on a Ray cluster.")
]
Address = Annotated[str, typer.Option(help="Address of the Ray cluster: auto or host:port.")]
Gpus = Annotated[float, typer.Option(min=0, help="Share of a GPU per cell on the cluster.")]
OnlyPlan = Annotated[
    bool, typer.Option("--plan", help="Estimate time and memory only; run nothing.")
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Cells run in parallel on this machine.")]
Error = Annotated[
    ErrorChoice, typer.Option(help="Squared error of a segment in the β experiment: mean or sum.")
]
ScoredEpochs = Annotated[
    int,
    typer.Option(
        min=1,
        help="Score the test clips after this many epochs, for the epoch chosen by labels; "
        "1: only after the last, the quickest.",
    ),
]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="Any setting: ssdpt.training.epochs=5.")
]


def _experiment(name: str, about: str, experiments: tuple[str, ...]) -> None:
    """Add a command that runs these experiments."""

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
        scored_epochs: ScoredEpochs = 30,
        set_: Set = None,
    ) -> None:
        from ssdpt.config.tree import parse_override
        from ssdpt.errors import SsdptError
        from ssdpt.experiments.paper.engine import Engine
        from ssdpt.experiments.paper_run import PaperRequest, PaperRun

        if engine is EngineName.local and gpus:
            raise SsdptError(
                "--gpus needs a cluster: add --engine ray, or use --jobs on this machine"
            )
        paper = PaperRun(
            PaperRequest(
                experiments=experiments,
                out=out,
                roots=tuple(data or ()),
                machines=tuple(part for text in machines or [] for part in text.split(",") if part),
                seeds=seeds,
                quick=quick,
                engine=Engine(engine.value, address, gpus, jobs),
                device=device,
                error=error.value,
                scored_epochs=scored_epochs,
                overrides=dict(parse_override(text) for text in set_ or []),
                command=shlex.join(["ssdpt", *sys.argv[1:]]),
            ),
            REPORTER,
        )
        if plan:
            estimate = paper.plan()
            print_rows(estimate.table())
            STDOUT.print(estimate.summary(), markup=False)
            return
        try:
            STDOUT.print(f"report: {paper.run()}", markup=False)
        except KeyboardInterrupt as error:
            REPORTER.error(
                "interrupted; run the same command again to continue with the missing cells"
            )
            raise typer.Exit(EXIT_INTERRUPTED) from error

    run.__doc__ = about
    command(app, name)(run)


def params(as_json: Json = False) -> None:
    """Parameter counts of the networks of Table II."""
    from ssdpt.experiments.paper.parameter_counts import parameter_table

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
_experiment("main", "Table I, and all systems by machine type.", ("main",))
_experiment("masking", "Masking methods.", ("masking",))
_experiment("patches", "Number and size of patch masks.", ("patches",))
_experiment("blocks", "Table II: number of blocks and frames per segment.", ("blocks",))
_experiment("beta", "The weight of the reconstruction error in the score.", ("beta",))
command(app, "params")(params)
