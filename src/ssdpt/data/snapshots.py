"""Runs: snapshots of one sensor taken at intervals over the life of a machine, with their times.

A run is one long file that holds snapshots end to end, or a folder with a file for each. The time
of a file in a folder comes from, in this order: a table `times.csv` (columns `file` and `time`, in
seconds or as date and time), the interval `every` in the order of the names, a date and time in
the names, or the time at which the file was last changed.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ssdpt.data import audio
from ssdpt.data.sensor import sensor_of
from ssdpt.errors import SsdptError
from ssdpt.types import Floats, Unit

TIMES_FILE = "times.csv"

_DATE = re.compile(
    r"(\d{4})[-_.]?(\d\d)[-_.]?(\d\d)[T _.-]?(\d\d)[-_.:h]?(\d\d)[-_.:m]?(\d\d)(?:[.,_](\d{1,6}))?"
)
_NUMBER = re.compile(r"(\d+)")
_NAMED_AT_MOST = 3  # files named in a note


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The snapshots of one run, in order of time."""

    name: str
    sample_rate: int  # Hz
    unit: Unit  # empty = not calibrated
    full_scale: float  # what a sample of 1 means, in the unit
    snapshots: Floats  # (snapshots, samples)
    times: np.ndarray  # (snapshots,) seconds from the first; rising
    notes: tuple[str, ...] = ()  # what was left out, and why

    @property
    def seconds(self) -> float:
        """Of one snapshot."""
        return self.snapshots.shape[1] / self.sample_rate


def read_runs(
    folder: Path,
    snapshot: float | None = None,
    every: float | None = None,
    *,
    channel: int | str = 0,
) -> Iterator[Run]:
    """All runs at `folder`, one after the other; only one of them is in memory."""
    for path in find_runs(folder, snapshot):
        yield read_run(path, snapshot, every, channel=channel)


def find_runs(path: Path, snapshot: float | None = None) -> list[Path]:
    """Where the runs are: files that hold snapshots end to end, or folders of snapshots.

    Files are runs where the length of a `snapshot` in seconds is given, here or in their
    `sensor.yaml`; otherwise the folder they lie in is one run.
    """
    if not path.exists():
        raise SsdptError(f"{path}: no such file or folder; check the path")
    if path.is_file():
        return [path]
    runs = list(_runs_below(path, snapshot))
    if not runs:
        raise SsdptError(f"{path}: no recordings in this folder or below it")
    return runs


def read_run(
    path: Path, snapshot: float | None = None, every: float | None = None, *, channel: int | str = 0
) -> Run:
    """The run at `path`: a file with snapshots end to end, or a folder with a file for each.

    `snapshot` (seconds of one) and `every` (seconds from one to the next) replace what
    `sensor.yaml` says. Snapshots that cannot be used are left out and named in `notes`.
    """
    sensor = sensor_of(path)
    snapshot, every = snapshot or sensor.snapshot, every or sensor.every
    if path.is_dir():
        return _read_folder(path, every, channel)
    if snapshot is None:
        raise SsdptError(
            f"{path}: how long is one snapshot in this file? Give its seconds, "
            f"e.g. --snapshot 0.1 --every 10, or write them into a sensor.yaml beside it"
        )
    return _read_file(path, snapshot, snapshot if every is None else every, channel)


def _runs_below(folder: Path, snapshot: float | None) -> Iterator[Path]:
    files = recording_files(folder)
    if files and (snapshot or sensor_of(folder).snapshot):
        yield from files
    elif files:
        yield folder
    for entry in sorted(folder.iterdir(), key=natural_order):
        if entry.is_dir() and not entry.name.startswith("."):
            yield from _runs_below(entry, snapshot)


def recording_files(folder: Path) -> list[Path]:
    """Recordings directly in the folder, in the order that a person would number them."""
    entries = (entry for entry in folder.iterdir() if audio.is_recording(entry))
    return sorted(entries, key=natural_order)


def _read_file(path: Path, snapshot: float, every: float, channel: int | str) -> Run:
    if every < snapshot:
        raise SsdptError(
            f"{path}: a snapshot of {snapshot:g} s every {every:g} s would overlap; "
            f"give an interval of at least {snapshot:g} s"
        )
    with audio.open_audio(path) as reader:
        info = reader.info
        samples = max(1, round(snapshot * info.sample_rate))
        count = info.frames // samples
        if not count:
            raise SsdptError(
                f"{path}: {info.seconds:.2f} s long, shorter than one snapshot of {snapshot:g} s"
            )
        whole = np.concatenate(list(reader.blocks(info.sample_rate, channel)))
    notes = []
    if rest := info.frames - count * samples:
        notes.append(f"the last {rest / info.sample_rate:.3g} s are less than a snapshot: left out")
    rows = whole[: count * samples].reshape(count, samples)
    alive = np.ptp(rows, axis=1) > 0
    if not alive.any():
        raise SsdptError(f"{path}: each snapshot holds a single value; check the sensor")
    if dead := int(count - alive.sum()):
        notes.append(f"{dead} snapshots hold a single value (dead sensor?): left out")
    times = every * np.arange(count, dtype=np.float64)
    return _run(path.stem, info, rows[alive], times[alive], notes)


def _read_folder(folder: Path, every: float | None, channel: int | str) -> Run:
    files = recording_files(folder)
    if not files:
        raise SsdptError(f"{folder}: no recordings in this folder")
    files, times = _times(folder, files, every)
    kept: list[tuple[float, Floats, audio.AudioInfo]] = []
    notes: list[str] = []
    for file, time in zip(files, times, strict=True):
        try:
            with audio.open_audio(file) as reader:
                blocks = list(reader.blocks(reader.info.sample_rate, channel))
                kept.append((time, np.concatenate(blocks), reader.info))
        except audio.AudioError as error:
            if error.problem == "refused":
                raise
            notes.append(f"{file.name}: left out, {error.problem}")
    if not kept:
        raise SsdptError(f"{folder}: none of its {len(files)} files can be used: {notes[0]}")
    _check_alike(folder, [info for _, _, info in kept])
    length = Counter(len(samples) for _, samples, _ in kept).most_common(1)[0][0]
    others = sum(len(samples) != length for _, samples, _ in kept)
    if others:
        notes.append(f"{others} files are not {length} samples long as the others are: left out")
    chosen = [(time, samples) for time, samples, _ in kept if len(samples) == length]
    return _run(
        folder.name,
        kept[0][2],
        np.stack([samples for _, samples in chosen]),
        np.array([time for time, _ in chosen]),
        _shortened(notes),
    )


def _run(
    name: str, info: audio.AudioInfo, snapshots: Floats, times: np.ndarray, notes: Sequence[str]
) -> Run:
    return Run(
        name=name,
        sample_rate=info.sample_rate,
        unit=info.unit,
        full_scale=info.full_scale,
        snapshots=np.ascontiguousarray(snapshots, np.float32),
        times=times - times[0],
        notes=tuple(notes),
    )


def _check_alike(folder: Path, infos: Sequence[audio.AudioInfo]) -> None:
    rates = sorted({info.sample_rate for info in infos})
    if len(rates) > 1:
        both = " and ".join(audio.describe_rate(rate) for rate in rates[:2])
        raise SsdptError(f"{folder}: recordings of {both} in one run; keep those of one sensor")


def written_times(
    folder: Path, files: list[Path], every: float | None
) -> tuple[list[Path], list[float]] | None:
    """The files in order of time, and the time of each in seconds; None where none is written."""
    if (folder / TIMES_FILE).is_file():
        return _from_table(folder / TIMES_FILE, files)
    if every is not None:
        return files, [every * number for number in range(len(files))]
    dated = [time_in_name(file.stem) for file in files]
    times = [time for time in dated if time is not None]
    if len(times) == len(files):
        return _checked_order(files, times, "the times in the names")
    return None


def _times(folder: Path, files: list[Path], every: float | None) -> tuple[list[Path], list[float]]:
    """The same, with the time of the last change where no other is known."""
    if written := written_times(folder, files, every):
        return written
    changed = [file.stat().st_mtime for file in files]
    return _checked_order(files, changed, "the times of last change")


def _checked_order(
    files: list[Path], times: list[float], what: str
) -> tuple[list[Path], list[float]]:
    for number in range(1, len(times)):
        if times[number] <= times[number - 1]:
            raise SsdptError(
                f"{files[number]}: times out of order: {what} put it before or at "
                f"{files[number - 1].name}, which precedes it by name; give the interval "
                f"(every, in sensor.yaml or as --every), or a {TIMES_FILE} with file and time"
            )
    return files, times


def _from_table(table: Path, files: Sequence[Path]) -> tuple[list[Path], list[float]]:
    by_name = {file.name: file for file in files}
    chosen: list[Path] = []
    times: list[float] = []
    try:
        lines = table.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SsdptError(f"{table}: cannot be read as UTF-8 text ({error})") from error
    rows = csv.DictReader(lines, delimiter=";" if lines and ";" in lines[0] else ",")
    if not {"file", "time"} <= set(rows.fieldnames or ()):
        raise SsdptError(f"{table}: the first line must name the columns file and time")
    for row in rows:
        where = f"{table}, line {rows.line_num}"
        file = by_name.get((row["file"] or "").strip())
        if file is None:
            raise SsdptError(f"{where}: there is no recording {row['file']} beside it")
        time = _parsed(row["time"] or "", where)
        if times and time <= times[-1]:
            raise SsdptError(
                f"{where}: times out of order: {file.name} is not later than {chosen[-1].name}; "
                f"list the recordings in the order they were made"
            )
        chosen.append(file)
        times.append(time)
    if not chosen:
        raise SsdptError(f"{table}: it names no recordings")
    return chosen, times


def _parsed(text: str, where: str) -> float:
    """Seconds, or a date and time as ISO 8601 writes it."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise SsdptError(
            f"{where}: '{text}' is not a time; write seconds or 2026-01-31T12:00:00"
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def in_order(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Files of a folder as `times.csv` lists them, or in the order of their names."""
    named = sorted(files, key=natural_order)
    table = folder / TIMES_FILE
    if not table.is_file():
        return named
    listed, _ = _from_table(table, recording_files(folder))
    place = {file.name: number for number, file in enumerate(listed)}
    return sorted(named, key=lambda file: place.get(file.name, len(place)))


def time_in_name(name: str) -> float | None:
    """Seconds since 1970 of a date and time in a file name, such as 2003.10.22.12.06.24."""
    match = _DATE.search(name)
    if match is None:
        return None
    *parts, fraction = match.groups()
    try:
        moment = datetime(*(int(part) for part in parts), tzinfo=UTC)  # type: ignore[arg-type, misc]
    except ValueError:
        return None
    return moment.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)


def natural_order(path: Path) -> list[tuple[int, int | str]]:
    """Sorts `snapshot_9` before `snapshot_10`."""
    parts = _NUMBER.split(path.name)
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts]


def _shortened(notes: Sequence[str]) -> list[str]:
    more = len(notes) - _NAMED_AT_MOST
    return [*notes[:_NAMED_AT_MOST], *([f"{more} more left out"] if more > 0 else [])]
