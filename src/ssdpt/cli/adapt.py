"""ssdpt adapt and feedback: new normal clips into a model, nothing trained again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.model import Device, Model
from ssdpt.cli.score import recordings_at
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.fleet.fleet import Fleet
    from ssdpt.types import Domain, Recording

Section = Annotated[str | None, typer.Option(help="Machine ID of all these clips.")]
Machine = Annotated[str | None, typer.Option(help="Machine of all these clips.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse other sample rates.")]


class DomainName(StrEnum):
    """Where most recordings come from, or elsewhere."""

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
        DomainName, typer.Option(help="What the model's notes call the condition.")
    ] = DomainName.target,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write here; the model itself stays.")
    ] = None,
    strict: Strict = False,
    device: Device = "auto",
) -> None:
    """Teach a model a new operating condition from a few normal clips of it, in seconds."""
    from ssdpt.fleet.fleet import Fleet, fitted, save_fleet

    called: Domain = "target" if domain is DomainName.target else "source"
    fleet = Fleet.load(model, device=device)
    lines = []
    for name, recordings in _by_machine(fleet, recordings_at(paths, section, machine)).items():
        detector = fitted(fleet, name)
        found = detector.adapt(recordings, domain=called, strict=strict, reporter=REPORTER)
        lines.append((name, f"{len(found.taken)} recordings taken as normal"))
    # Nothing is written before all machines have taken their clips.
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
        bool, typer.Option("--normal", help="Somebody has found the machine to be well.")
    ] = False,
    section: Section = None,
    machine: Machine = None,
    strict: Strict = False,
    device: Device = "auto",
) -> None:
    """Tell a model that its alarm was false: it takes the clip, and those like it, as normal."""
    from ssdpt.fleet.fleet import Fleet, fitted

    if not normal:
        raise SsdptError(
            "say that the machine was well: --normal (a model learns from normal sound only; of "
            "a true alarm there is nothing to tell it)"
        )
    fleet = Fleet.load(model, device=device)
    given = _by_machine(fleet, recordings_at(clips, section, machine))
    lines = []
    for name, recordings in given.items():
        detector = fitted(fleet, name)
        for recording in recordings:
            # One at a time: false alarms need not have one cause. The person's word counts, so
            # neither the clip's name nor its score is warned of.
            before = detector.score(recording, strict=strict)
            detector.adapt([replace(recording, label="normal")], strict=strict)
            after = detector.score(recording, strict=strict)
            lines.append(
                f"{recording.path}: {before.value:.4g} ({before.level}) -> {after.value:.4g} "
                f"({after.level}), alert above {after.threshold:.4g}"
            )
    for name in given:
        fitted(fleet, name).save(fleet.folders[name])
    for line in lines:
        STDOUT.print(line, markup=False)


def _by_machine(fleet: Fleet, recordings: Iterable[Recording]) -> dict[str, list[Recording]]:
    """The recordings of each of the fleet's machines."""
    found: dict[str, list[Recording]] = {}
    for recording in recordings:
        found.setdefault(fleet.detector_for(recording).machine, []).append(recording)
    return found
