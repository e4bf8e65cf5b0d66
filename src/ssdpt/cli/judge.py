"""ssdpt evaluate and compare: how good a model is; with score, what a model is used for."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.model import Device, Hop, Json, Model
from ssdpt.cli.score import score

Data = Annotated[Path, typer.Argument(help="Labelled recordings, in any known layout.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "score")(score)
    command(app, "evaluate")(evaluate)
    command(app, "compare")(compare)


def evaluate(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where tables and report go.")],
    machine: Annotated[
        list[str] | None, typer.Option(help="Only this machine (may be repeated).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    device: Device = "auto",
    hop: Hop = None,
) -> None:
    """How good is a model? AUC, pAUC, false alarms, and a report to look at and listen to."""
    from ssdpt.data.layouts import read_layout
    from ssdpt.evaluation.evaluate import evaluate as run
    from ssdpt.fleet.fleet import Fleet, only_machines

    dataset = read_layout(data)
    if machine:
        dataset = only_machines(dataset, machine)
    words = ["ssdpt", "evaluate", str(model), str(data), "--out", str(out)]
    words += [] if hop is None else ["--hop", hop]
    result = run(
        Fleet.load(model, device=device, hop=hop),
        dataset,
        out,
        seed=seed,
        reporter=REPORTER,
        command=shlex.join(words),
    )
    print_rows(result.summary_rows())
    if result.reliability:
        STDOUT.print("\nfalse alarms found where so many are asked for", markup=False)
        print_rows([found.row for found in result.reliability])
        for sentence in result.broken_words:
            STDOUT.print(sentence, markup=False)
    STDOUT.print(result.headline, markup=False)
    STDOUT.print(f"report: {result.report}", markup=False)


def compare(
    model_a: Annotated[Path, typer.Argument(help="A model folder, or a folder of models.")],
    model_b: Annotated[Path, typer.Argument(help="Another.")],
    data: Data,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    as_json: Json = False,
    device: Device = "auto",
) -> None:
    """Which of two models is better on the same clips, and is it more than chance?"""
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


def print_rows(rows: list[dict[str, str]]) -> None:
    """Rows of text as aligned columns, never cut; the headings are the keys."""
    table = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    for number, (first, *others) in enumerate(table):
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        line = "  ".join([first.ljust(widths[0]), *cells])
        STDOUT.print(line, markup=False, style=None if number else "bold")
