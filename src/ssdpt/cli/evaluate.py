"""ssdpt evaluate and compare: how good a model is."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.completion import model_folders
from ssdpt.cli.console import REPORTER, STDOUT, print_rows
from ssdpt.cli.model import Device, Hop, Json, Model
from ssdpt.errors import SsdptError

_LISTED = 3  # false alarms that are named

Data = Annotated[Path, typer.Argument(help="Labelled recordings, in any supported layout.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "evaluate")(evaluate)
    command(app, "compare")(compare)


def evaluate(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="A model folder, or a folder of models; none with --run-to-failure.",
            autocompletion=model_folders,
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Argument(help="Labelled recordings, in any supported layout.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for tables and report.")
    ] = None,
    machine: Annotated[
        list[str] | None, typer.Option(help="Only this machine (may be repeated).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    device: Device = "auto",
    hop: Hop = None,
    run_to_failure: Annotated[
        Path | None,
        typer.Option(
            help="Instead of a model: machines recorded until they failed. Each learns from its "
            "early life; would there have been an alarm, and when?"
        ),
    ] = None,
    snapshot: Annotated[
        float | None,
        typer.Option(min=0.001, help="Seconds of one snapshot, of files that hold a whole life."),
    ] = None,
    every: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds from one snapshot to the next.")
    ] = None,
    channel: Annotated[
        str, typer.Option(help="Channel of the snapshots to judge, from 0, or axis by name.")
    ] = "0",
) -> None:
    """How good is a model? AUC, pAUC, false alarms, and an HTML report with plots and sounds."""
    if out is None:
        raise SsdptError("where should the report go? Name a folder with --out")
    if run_to_failure is not None:
        if model is not None:
            raise SsdptError("--run-to-failure takes no model: each run learns its own baseline")
        _evaluate_runs(run_to_failure, out, snapshot, every, channel)
    elif model is None or data is None:
        raise SsdptError(
            "name a model and labelled recordings (ssdpt evaluate MODEL DATA --out DIR), or "
            "machines that failed (ssdpt evaluate --run-to-failure DATA --out DIR)"
        )
    else:
        _evaluate_model(model, data, out, machine, seed, device, hop)


def _evaluate_model(
    model: Path,
    data: Path,
    out: Path,
    machine: list[str] | None,
    seed: int,
    device: str,
    hop: str | None,
) -> None:
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
    if alarms := [str(clip.recording.path) for clip in result.false_alarms]:
        more = f" and {len(alarms) - _LISTED} more" if len(alarms) > _LISTED else ""
        named = ", ".join(alarms[:_LISTED])
        STDOUT.print(f"false alarms to listen to: {named}{more}", markup=False)
    STDOUT.print(f"report: {result.report}", markup=False)


def _evaluate_runs(
    data: Path, out: Path, snapshot: float | None, every: float | None, channel: str
) -> None:
    from ssdpt.evaluation.run_to_failure.evaluation import evaluate_runs

    arguments = ["ssdpt", "evaluate", "--run-to-failure", str(data), "--out", str(out)]
    for name, value in (("--snapshot", snapshot), ("--every", every)):
        arguments += [name, f"{value:g}"] if value else []
    arguments += ["--channel", channel] if channel != "0" else []
    result = evaluate_runs(
        data,
        out,
        snapshot=snapshot,
        every=every,
        channel=int(channel) if channel.isdecimal() else channel,
        reporter=REPORTER,
        command=shlex.join(arguments),
    )
    print_rows(result.summary_rows())
    STDOUT.print()
    print_rows(result.totals())
    STDOUT.print(result.outlook_sentence, markup=False)
    STDOUT.print(f"report: {result.report}", markup=False)


def compare(
    model_a: Model,
    model_b: Annotated[
        Path,
        typer.Argument(help="The model to compare with.", autocompletion=model_folders),
    ],
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
