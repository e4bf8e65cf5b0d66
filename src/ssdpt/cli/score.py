"""ssdpt score: print the scores of recordings, or write those of an archive into shards."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ssdpt.cli.command import EXIT_ANOMALY, EXIT_ERROR, EXIT_INTERRUPTED, command
from ssdpt.cli.commission import Yes, commission_fleet, note_provisional
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.formats import Format, Writer
from ssdpt.cli.model import Device, Hop, Model
from ssdpt.cli.recordings import recordings_at
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.evaluation.clip_picture import ClipPictures
    from ssdpt.fleet.archive import Summary
    from ssdpt.fleet.fleet import Fleet
    from ssdpt.types import Recording


class EngineName(StrEnum):
    """Where the work is done: on this machine, or on the nodes of a Ray cluster."""

    local = "local"
    ray = "ray"


@dataclass(frozen=True, slots=True)
class _ArchiveTarget:
    """How an archive is scored, and where the shards are written."""

    out: Path
    table: Literal["csv", "parquet"]
    shard_size: int
    engine: EngineName
    address: str
    gpus: float
    device: str


@dataclass(frozen=True, slots=True)
class _Printing:
    """How scores are printed, and the folder for pictures."""

    format: Format
    timeline: bool
    explain: Path | None


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "score")(score)


def score(
    model: Model,
    paths: Annotated[list[Path], typer.Argument(help="Sound files, folders or CSV manifests.")],
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="Format of printed results, or of --out (csv, parquet)."),
    ] = None,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Also print the score over time.")
    ] = False,
    explain: Annotated[
        Path | None,
        typer.Option(help="Folder for a PNG per clip that shows where it is anomalous."),
    ] = None,
    section: Annotated[str | None, typer.Option(help="Machine ID of all these clips.")] = None,
    machine: Annotated[str | None, typer.Option(help="Machine of all these clips.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Reject other sample rates.")] = False,
    commission: Annotated[
        bool,
        typer.Option(
            "--commission",
            help="These are the first clips after the fit: learn them, and set the thresholds "
            "by them.",
        ),
    ] = False,
    yes: Yes = False,
    device: Device = "auto",
    hop: Hop = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write shards to this folder; resumable.")
    ] = None,
    shard_size: Annotated[int, typer.Option(min=1, help="Clips in a shard of --out.")] = 1000,
    engine: Annotated[
        EngineName, typer.Option(help="Where the work for --out is done.")
    ] = EngineName.local,
    address: Annotated[
        str, typer.Option(help="Address of the Ray cluster: auto or host:port.")
    ] = "auto",
    gpus: Annotated[
        float, typer.Option(min=0, help="GPUs per task on the cluster, e.g. 0.25.")
    ] = 0.0,
) -> None:
    """Score recordings. Exit code 0: all normal, 1: something above threshold, 2: an error."""
    from ssdpt.fleet.fleet import Fleet

    if out is None:
        if engine is EngineName.ray or format_ is Format.parquet:
            option = "--engine ray" if engine is EngineName.ray else "--format parquet"
            raise SsdptError(f"{option} writes to a folder: name it with --out")
        if commission and hop is not None:
            raise SsdptError("--commission sets thresholds for the model's own hop: omit --hop")
        recordings: Iterable[Recording] = recordings_at(paths, section, machine)
        if commission:
            recordings = list(recordings)  # they are scored first, and then learned
        printing = _Printing(format_ or Format.table, timeline, explain)
        fleet = Fleet.load(model, device=device, hop=hop)
        anomalous, failed = _print_scores(fleet, recordings, printing, strict)
        if commission and not failed:
            done = commission_fleet(fleet, recordings, yes=yes, strict=strict)
            anomalous = anomalous and not done  # judged by thresholds that no longer hold
        elif not failed:
            note_provisional(fleet)
    else:
        if commission:
            raise SsdptError("--commission cannot be combined with --out: omit one of them")
        if explain is not None:
            raise SsdptError("--explain cannot be combined with --out: omit one of them")
        if timeline or format_ not in {None, Format.csv, Format.parquet}:
            option = "--timeline" if timeline else f"--format {format_}"
            raise SsdptError(f"{option} cannot be combined with --out: omit one of them")
        table: Literal["csv", "parquet"] = "parquet" if format_ is Format.parquet else "csv"
        target = _ArchiveTarget(out, table, shard_size, engine, address, gpus, device)
        summary = _write_shards(model, recordings_at(paths, section, machine), target, strict, hop)
        anomalous, failed = summary.anomalous > 0, summary.failed > 0
    if failed or anomalous:
        raise typer.Exit(EXIT_ERROR if failed else EXIT_ANOMALY)


def _print_scores(
    fleet: Fleet, recordings: Iterable[Recording], printing: _Printing, strict: bool
) -> tuple[bool, bool]:
    """Print each score as it is computed; return whether any was anomalous, and any failed."""
    pictures = None if printing.explain is None else _pictures(printing.explain, fleet)
    anomalous = failed = False
    with Writer(printing.format, sys.stdout, with_timeline=printing.timeline) as writer:
        for recording, result in fleet.score_all(recordings, strict=strict):
            if isinstance(result, SsdptError):
                REPORTER.error(str(result))
                failed = True
                continue
            writer.write(result)
            if pictures is not None:
                pictures.add(recording, result, fleet.detector_for(recording))
            anomalous = anomalous or result.is_anomalous
    return anomalous, failed


def _pictures(folder: Path, fleet: Fleet) -> ClipPictures:
    """The folder for pictures; an SsdptError at once if a model has no anomaly map."""
    from ssdpt.evaluation.clip_picture import ClipPictures, require_maps

    for machine in fleet.machines:
        require_maps(fleet[machine])
    return ClipPictures(folder)


def _write_shards(
    model: Path,
    recordings: Iterator[Recording],
    target: _ArchiveTarget,
    strict: bool,
    hop: str | None,
) -> Summary:
    """Score an archive into shards, and print a summary line."""
    from contextlib import ExitStack

    from ssdpt.fleet.archive import Scoring, local_engine, ray_engine, score_archive

    with ExitStack() as stack:
        if target.engine is EngineName.ray:
            from ssdpt.common.cluster import Cluster

            cluster = stack.enter_context(Cluster.connect(target.address, REPORTER))
            engine = ray_engine(cluster, gpus=target.gpus, device=target.device)
        else:
            engine = local_engine(target.device)
        began = time.monotonic()
        try:
            summary = score_archive(
                recordings,
                Scoring.by(model, hop=hop, strict=strict),
                target.out,
                engine,
                table=target.table,
                shard_size=target.shard_size,
                reporter=REPORTER,
            )
        except KeyboardInterrupt as error:
            REPORTER.error(
                "interrupted; run the same command again to continue with the missing shards"
            )
            raise typer.Exit(EXIT_INTERRUPTED) from error
        seconds = time.monotonic() - began
    parts = [f"{summary.clips} clips", f"{summary.anomalous} anomalous", f"{summary.failed} failed"]
    if summary.scored_now:
        parts.append(f"{summary.scored_now / seconds:.1f} clips per second")
    STDOUT.print(f"{', '.join(parts)} -> {target.out}", markup=False)
    return summary
