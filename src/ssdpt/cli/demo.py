"""ssdpt demo: all steps on a simulated plant."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT, print_rows

_NEXT_STEPS = (
    ("ssdpt score {out}/models {out}/plant/fan/source_test", "clips, normal and faulty"),
    ("ssdpt record --minutes 10 recordings/pump", "your own machine, running normally"),
    ("ssdpt fit recordings/pump --out model", "learn its sound, in seconds"),
    ("ssdpt serve --demo", "simulated machines live, on a web page"),
    ("ssdpt help first-steps", "from the microphone to the alarm"),
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "demo")(demo)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for all results.")] = Path(
        "demo"
    ),
    preset: Annotated[str, typer.Option(help="Preset of the plant: demo or tiny.")] = "demo",
    fit: Annotated[str, typer.Option(help="Preset of the detector.")] = "fast",
    seed: Annotated[int, typer.Option(help="Seed of plant and detector.")] = 0,
) -> None:
    """Simulate a plant, learn its normal sound, score new clips, write a report."""
    from ssdpt.experiments.demo import run_demo

    result = run_demo(out, plant_preset=preset, fit_preset=fit, seed=seed, reporter=REPORTER)
    print_rows(result.rows)
    STDOUT.print(result.verdict, markup=False)
    STDOUT.print(f"\nreport: {result.report.resolve().as_uri()}", markup=False)
    STDOUT.print("\nWhat to try next:")
    steps = [(line.format(out=shlex.quote(str(out))), why) for line, why in _NEXT_STEPS]
    width = max(len(line) for line, _ in steps)
    for line, why in steps:
        STDOUT.print(f"  {line:<{width}}  {why}", markup=False)
