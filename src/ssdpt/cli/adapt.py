"""ssdpt adapt and feedback: add new normal clips to a model without training."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.model import Device, Model
from ssdpt.cli.recordings import by_machine, recordings_at
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.types import Domain

Section = Annotated[str | None, typer.Option(help="Machine ID of all these clips.")]
Machine = Annotated[str | None, typer.Option(help="Machine of all these clips.")]
Strict = Annotated[bool, typer.Option("--strict", help="Reject other sample rates.")]


class DomainName(StrEnum):
    """The domain of the new clips, as in the DCASE data sets."""

    source = "source"
    target = "target"


def register(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "adapt")(adapt)
    command(app, "feedback")(feedback)


def adapt(
    model: Model,
    paths: Annotated[
        list[Path], typer.Argument(help="Normal clips: sound files, folders or CSV manifests.")
    ],
    section: Section = None,
    machine: Machine = None,
    domain: Annotated[
        DomainName, typer.Option(help="Domain of these clips in the model's notes.")
    ] = DomainName.target,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the new model here; default: change the model."),
    ] = None,
    strict: Strict = False,
    device: Device = "auto",
) -> None:
    """Teach a model a new operating condition from a few normal clips of it, in seconds."""
    from ssdpt.fleet.fleet import Fleet, fitted, save_fleet

    target: Domain = "target" if domain is DomainName.target else "source"
    fleet = Fleet.load(model, device=device)
    lines = []
    for name, recordings in by_machine(fleet, recordings_at(paths, section, machine)).items():
        detector = fitted(fleet, name)
        adaptation = detector.adapt(recordings, domain=target, strict=strict, reporter=REPORTER)
        lines.append((name, f"{len(adaptation.taken)} recordings added as normal"))
    # Nothing is written before all machines have been adapted.
    folders = fleet.folders
    if out is not None:
        folders = save_fleet(fleet, out)
    else:
        for name, _ in lines:
            fitted(fleet, name).save(folders[name])
    for name, line in lines:
        STDOUT.print(f"{name}: {line} -> {folders[name]}", markup=False)


def feedback(
    model: Model,
    clips: Annotated[list[Path], typer.Argument(help="False alarms: sound files.")],
    normal: Annotated[
        bool, typer.Option("--normal", help="Required: the machine was checked and is healthy.")
    ] = False,
    section: Section = None,
    machine: Machine = None,
    strict: Strict = False,
    device: Device = "auto",
) -> None:
    """Report false alarms: the model learns that these clips, and similar ones, are normal."""
    from ssdpt.fleet.fleet import Fleet, fitted

    if not normal:
        raise SsdptError(
            "add --normal to confirm that the machine was healthy (a model learns from normal "
            "sound only, so it learns nothing from a true alarm)"
        )
    fleet = Fleet.load(model, device=device)
    machines = by_machine(fleet, recordings_at(clips, section, machine))
    lines = []
    for name, recordings in machines.items():
        detector = fitted(fleet, name)
        for recording in recordings:
            # One at a time: false alarms may have different causes. The user decides, so neither
            # the clip's name nor its score causes a warning.
            clip_section = recording.section or None
            before = detector.score(recording, section=clip_section, strict=strict)
            detector.adapt([replace(recording, label="normal")], strict=strict)
            after = detector.score(recording, section=clip_section, strict=strict)
            lines.append(
                f"{recording.path}: {before.value:.4g} ({before.level}) -> {after.value:.4g} "
                f"({after.level}), alert above {after.threshold:.4g}"
            )
    for name in machines:
        fitted(fleet, name).save(fleet.folders[name])
    for line in lines:
        STDOUT.print(line, markup=False)
