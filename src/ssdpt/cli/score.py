"""ssdpt score: judging recordings, a few to look at or an archive into shards."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ssdpt.cli.command import EXIT_ANOMALY, EXIT_ERROR, EXIT_INTERRUPTED
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.formats import Format, Writer
from ssdpt.cli.model import Device, Hop, Model
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.evaluation.sheet import Sheets
    from ssdpt.fleet.archive import Summary
    from ssdpt.fleet.fleet import Fleet
    from ssdpt.types import Recording


class EngineName(StrEnum):
    """Who does the work: this machine, or the nodes of a Ray cluster."""

    local = "local"
    ray = "ray"


@dataclass(frozen=True, slots=True)
class _Where:
    """Where an archive is scored, and into what."""

    out: Path
    table: Literal["csv", "parquet"]
    shard_size: int
    engine: EngineName
    address: str
    gpus: float
    device: str


@dataclass(frozen=True, slots=True)
class _Printing:
    """How scores are printed, and where pictures go beside them."""

    format: Format
    timeline: bool
    explain: Path | None


def score(
    model: Model,
    paths: Annotated[list[Path], typer.Argument(help="Sound files, folders or CSV manifests.")],
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="How results are printed, or written (csv, parquet)."),
    ] = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="Also the scores in time.")] = False,
    explain: Annotated[
        Path | None, typer.Option(help="Draw where each clip is odd: a PNG a clip goes here.")
    ] = None,
    section: Annotated[str | None, typer.Option(help="Machine ID of all these clips.")] = None,
    machine: Annotated[str | None, typer.Option(help="Machine of all these clips.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse other sample rates.")] = False,
    device: Device = "auto",
    hop: Hop = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write shards here; goes on after a stop.")
    ] = None,
    shard_size: Annotated[int, typer.Option(min=1, help="Clips in a shard of --out.")] = 1000,
    engine: Annotated[
        EngineName, typer.Option(help="Who does the work for --out.")
    ] = EngineName.local,
    address: Annotated[str, typer.Option(help="Of the Ray cluster: auto or host:port.")] = "auto",
    gpus: Annotated[
        float, typer.Option(min=0, help="GPUs of a task on the cluster, e.g. 0.25.")
    ] = 0.0,
) -> None:
    """Score recordings. Exit code 0: all normal, 1: something above threshold, 2: an error."""
    if out is None:
        if engine is EngineName.ray or format_ is Format.parquet:
            what = "--engine ray" if engine is EngineName.ray else "--format parquet"
            raise SsdptError(f"{what} writes into a folder: name it with --out")
        recordings = recordings_at(paths, section, machine)
        printing = _Printing(format_ or Format.table, timeline, explain)
        anomalous, failed = _print_scores(model, recordings, printing, strict, device, hop)
    else:
        if explain is not None:
            raise SsdptError("--explain goes with printed scores: leave it or --out away")
        if timeline or format_ not in {None, Format.csv, Format.parquet}:
            what = "--timeline" if timeline else f"--format {format_}"
            raise SsdptError(f"{what} is printed, not written: leave it or --out away")
        table: Literal["csv", "parquet"] = "parquet" if format_ is Format.parquet else "csv"
        where = _Where(out, table, shard_size, engine, address, gpus, device)
        summary = _write_shards(model, recordings_at(paths, section, machine), where, strict, hop)
        anomalous, failed = summary.anomalous > 0, summary.failed > 0
    if failed or anomalous:
        raise typer.Exit(EXIT_ERROR if failed else EXIT_ANOMALY)


def _print_scores(
    model: Path,
    recordings: Iterator[Recording],
    printing: _Printing,
    strict: bool,
    device: str,
    hop: str | None,
) -> tuple[bool, bool]:
    """Each score as soon as it is there; gives whether some were anomalous, and some failed."""
    from ssdpt.fleet.fleet import Fleet

    fleet = Fleet.load(model, device=device, hop=hop)
    sheets = None if printing.explain is None else _sheets(printing.explain, fleet)
    anomalous = failed = False
    with Writer(printing.format, sys.stdout, with_timeline=printing.timeline) as writer:
        for recording, result in fleet.score_all(recordings, strict=strict):
            if isinstance(result, SsdptError):
                REPORTER.error(str(result))
                failed = True
                continue
            writer.write(result)
            if sheets is not None:
                sheets.add(recording, result, fleet.detector_for(recording))
            anomalous = anomalous or result.is_anomalous
    return anomalous, failed


def _sheets(folder: Path, fleet: Fleet) -> Sheets:
    """Where pictures go; said before anything is scored where a model cannot make them."""
    from ssdpt.evaluation.sheet import Sheets, require_maps

    for machine in fleet.machines:
        require_maps(fleet[machine])
    return Sheets(folder)


def _write_shards(
    model: Path, recordings: Iterator[Recording], where: _Where, strict: bool, hop: str | None
) -> Summary:
    """An archive into shards, and a line that sums it up."""
    from contextlib import ExitStack

    from ssdpt.fleet.archive import Scoring, local_engine, ray_engine, score_archive

    with ExitStack() as stack:
        if where.engine is EngineName.ray:
            from ssdpt.common.cluster import Cluster

            cluster = stack.enter_context(Cluster.connect(where.address, REPORTER))
            engine = ray_engine(cluster, gpus=where.gpus, device=where.device)
        else:
            engine = local_engine(where.device)
        began = time.monotonic()
        try:
            summary = score_archive(
                recordings,
                Scoring.by(model, hop=hop, strict=strict),
                where.out,
                engine,
                table=where.table,
                shard_size=where.shard_size,
                reporter=REPORTER,
            )
        except KeyboardInterrupt as error:
            REPORTER.error("interrupted; the same command goes on with the shards that are missing")
            raise typer.Exit(EXIT_INTERRUPTED) from error
        seconds = time.monotonic() - began
    words = [f"{summary.clips} clips", f"{summary.anomalous} anomalous", f"{summary.failed} failed"]
    if summary.scored_now:
        words.append(f"{summary.scored_now / seconds:.1f} clips a second")
    STDOUT.print(f"{', '.join(words)} -> {where.out}", markup=False)
    return summary


def recordings_at(
    paths: list[Path], section: str | None, machine: str | None
) -> Iterator[Recording]:
    """What lies at these paths; `section` and `machine` go before what names and folders tell."""
    from ssdpt.data.layouts import read_layout

    for path in paths:
        dataset = read_layout(path)
        for note in dataset.notes:
            REPORTER.warn(note)
        for recording in dataset.recordings:
            yield replace(
                recording,
                section=recording.section if section is None else section,
                machine=recording.machine if machine is None else machine,
            )
