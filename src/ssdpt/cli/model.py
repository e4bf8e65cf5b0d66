"""ssdpt fit, threshold, info: making a model and looking at it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT

Model = Annotated[Path, typer.Argument(help="A model folder, or a folder of models.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Hop = Annotated[
    str | None, typer.Option(help="Frames from one scored segment to the next, or auto.")
]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "fit")(fit)
    command(app, "threshold")(threshold)
    command(app, "info")(info)


def fit(
    data: Annotated[Path, typer.Argument(help="Folder of one machine or of several, or a CSV.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model goes.")],
    preset: Annotated[str, typer.Option(help="paper, fast, tiny, or a YAML file.")] = "fast",
    system: Annotated[str | None, typer.Option(help="One that `ssdpt systems` lists.")] = None,
    machine: Annotated[
        list[str] | None, typer.Option(help="Only this machine (may be repeated).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of every random draw.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda.")] = None,
    false_alarm_rate: Annotated[
        float | None, typer.Option(help="Share of normal clips above the alert threshold.")
    ] = None,
    channel: Annotated[int | None, typer.Option(help="Channel of the files, from 0.")] = None,
    hop: Hop = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting: ssdpt.training.epochs=5.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Machines fitted at once; several on a GPU.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after an interruption.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse other sample rates.")] = False,
) -> None:
    """Learn the normal sound of a machine from a folder of recordings."""
    import ssdpt.detector  # noqa: F401  says at once that torch is missing
    from ssdpt.config import load_config, parse_override, with_hop
    from ssdpt.data.layouts import read_layout
    from ssdpt.fleet import fit_fleet, only_machines

    given: dict[str, Any] = dict(parse_override(text) for text in set_ or [])
    named = {
        "system": system,
        "seed": seed,
        "device": device,
        "audio.channel": channel,
        "decision.false_alarm_rate": false_alarm_rate,
    }
    given |= {name: value for name, value in named.items() if value is not None}
    config = load_config(preset, given)
    if hop is not None:
        config = with_hop(config, hop)
    dataset = read_layout(data)
    for note in dataset.notes:
        REPORTER.warn(note)
    if machine:
        dataset = only_machines(dataset, machine)
    fleet = fit_fleet(
        dataset, config, out, resume=resume, strict=strict, jobs=jobs, reporter=REPORTER
    )
    for name, detector in fleet.items():
        alert, alarm = detector.calibration.thresholds()
        REPORTER.say(
            f"{name}: alert above {alert:.4g}, alarm above {alarm:.4g} -> {fleet.folders[name]}"
        )


def threshold(
    model: Model,
    false_alarm_rate: Annotated[
        float, typer.Option(help="Share of normal clips above the alert threshold.")
    ],
) -> None:
    """Change the thresholds of a saved model; nothing is retrained."""
    from ssdpt.fleet import Fleet

    fleet = Fleet.load(model, device="cpu")
    for name, detector in fleet.items():
        detector.calibrate(false_alarm_rate)
        detector.save_calibration(fleet.folders[name])
        alert, alarm = detector.calibration.thresholds()
        STDOUT.print(f"{name}: alert above {alert:.6g}, alarm above {alarm:.6g}", markup=False)
        least = detector.calibration.pooled.smallest_observed_rate
        if false_alarm_rate * detector.calibration.alarm_ratio < least:
            REPORTER.warn(
                f"{name}: thresholds rest on {detector.calibration.pooled.clips} normal clips; "
                f"rates below {least:.2g} are extrapolated"
            )


def info(model: Model, as_json: Json = False) -> None:
    """What a model is, what it heard and how it judges."""
    from ssdpt.fleet import Fleet

    fleet = Fleet.load(model, device="cpu")
    if not as_json:
        for detector in fleet.values():
            STDOUT.print(detector.card(), markup=False)
        return
    facts = {
        name: {
            "machine": name,
            "folder": str(fleet.folders[name]),
            **detector.facts(),
            "false_alarm_rate": detector.false_alarm_rate,
            "thresholds": dict(
                zip(("alert", "alarm"), detector.calibration.thresholds(), strict=True)
            ),
        }
        for name, detector in fleet.items()
    }
    STDOUT.print(json.dumps(list(facts.values()), indent=2), markup=False)
