"""ssdpt evaluate and compare: how good a model is."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT, print_rows
from ssdpt.cli.model import Device, Hop, Json, Model

Data = Annotated[Path, typer.Argument(help="Labelled recordings, in any supported layout.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "evaluate")(evaluate)
    command(app, "compare")(compare)


def evaluate(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for tables and report.")],
    machine: Annotated[
        list[str] | None, typer.Option(help="Only this machine (may be repeated).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    device: Device = "auto",
    hop: Hop = None,
) -> None:
    """How good is a model? AUC, pAUC, false alarms, and an HTML report with plots and sounds."""
    from ssdpt.data.layouts import read_layout
    from ssdpt.evaluation.evaluate import evaluate as run
    from ssdpt.fleet.fleet import Fleet, only_machines

    dataset = read_layout(data)
    if machine:
        dataset = only_machines(dataset, machine)
    arguments = ["ssdpt", "evaluate", str(model), str(data), "--out", str(out)]
    arguments += [] if hop is None else ["--hop", hop]
    result = run(
        Fleet.load(model, device=device, hop=hop),
        dataset,
        out,
        seed=seed,
        reporter=REPORTER,
        command=shlex.join(arguments),
    )
    print_rows(result.summary_rows())
    if result.reliability:
        STDOUT.print("\nmeasured false-alarm rates at the requested rates", markup=False)
        print_rows([entry.row for entry in result.reliability])
        for sentence in result.false_alarm_deviations:
            STDOUT.print(sentence, markup=False)
    STDOUT.print(result.headline, markup=False)
    STDOUT.print(f"report: {result.report}", markup=False)


def compare(
    model_a: Annotated[Path, typer.Argument(help="A model folder, or a folder of models.")],
    model_b: Annotated[Path, typer.Argument(help="The model to compare with.")],
    data: Data,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    as_json: Json = False,
    device: Device = "auto",
) -> None:
    """Which of two models is better on the same clips, and is the difference significant?"""
    from ssdpt.data.layouts import read_layout
    from ssdpt.evaluation.compare import compare as run
    from ssdpt.fleet.fleet import Fleet

    result = run(
        Fleet.load(model_a, device=device),
        Fleet.load(model_b, device=device),
        read_layout(data),
        names=(str(model_a), str(model_b)),
        seed=seed,
        reporter=REPORTER,
    )
    if as_json:
        STDOUT.print(json.dumps(result.as_json(), indent=2), markup=False)
        return
    print_rows(result.summary_rows())
    STDOUT.print(result.verdict, markup=False)
