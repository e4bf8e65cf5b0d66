"""What is in a folder of recordings, and which problems it has."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.audio import AUDIO_SUFFIXES, describe_rate
from ssdpt.data.joining import JOINED_SECONDS
from ssdpt.data.layouts import read_layout
from ssdpt.data.measuring import Measured, measure
from ssdpt.data.problems import Problem, problems_of, unit_text
from ssdpt.data.sensor import sensor_of
from ssdpt.data.snapshots import written_times
from ssdpt.errors import SsdptError, visible

_VALUES_SHOWN = 8
_FILES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Count:
    """Clips of one kind."""

    section: str
    domain: str
    split: str
    label: str
    clips: int


@dataclass(frozen=True, slots=True)
class MachineSummary:
    """The clips of one machine. Keys of `sample_rates` are Hz, of `channels` their number.

    `formats` are file name endings without the dot. `levels` is the median root mean square of
    every axis in the unit, where there is one. `snapshot_seconds` and `every_seconds` are None
    where recordings are no snapshots, or nothing says how far apart they are.
    """

    machine: str
    clips: int
    hours: float
    shortest_seconds: float
    longest_seconds: float
    sections: tuple[str, ...]
    domains: tuple[str, ...]
    splits: tuple[str, ...]
    labels: dict[str, int]
    faults: dict[str, int]
    sample_rates: dict[str, int]
    channels: dict[str, int]
    attributes: dict[str, tuple[str, ...]]
    counts: tuple[Count, ...]
    formats: dict[str, int]
    units: dict[str, int]
    levels: dict[str, float]
    snapshots: int
    snapshot_seconds: float | None
    every_seconds: float | None


@dataclass(frozen=True, slots=True)
class Inspection:
    """The whole result; `dataclasses.asdict` makes JSON of it."""

    path: str
    layout: str
    machines: tuple[MachineSummary, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """The result as plain text."""
        clips = sum(machine.clips for machine in self.machines)
        hours = sum(machine.hours for machine in self.machines)
        lines = [f"{self.path}: layout {self.layout}, {clips} clips, {hours:.2f} h"]
        for machine in self.machines:
            lines += _machine_lines(machine)
        lines += [f"note: {note}" for note in self.notes]
        for problem in self.problems:
            lines.append(f"problem: {problem.sentence}: {_some(problem.files, _FILES_SHOWN)}")
        if not self.problems:
            lines.append("no problems found")
        return [visible(line) for line in lines]


def inspect(path: Path, reporter: Reporter = SILENT) -> Inspection:
    """Recognise the layout at `path` and measure all channels of every recording."""
    dataset = read_layout(path, join=False)
    root = path if path.is_dir() else path.parent
    measured: list[Measured] = []
    workers = min(2, os.cpu_count() or 1)  # reading, not computing, sets the pace beyond that
    with (
        reporter.task("reading", len(dataset.recordings)) as task,
        ThreadPoolExecutor(workers) as pool,
    ):
        try:
            for result in pool.map(measure, dataset.recordings):
                measured.append(result)
                task.advance(1, result.recording.path.name)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    by_machine: defaultdict[str, list[Measured]] = defaultdict(list)
    for item in measured:
        by_machine[item.recording.machine].append(item)
    return Inspection(
        path=str(path),
        layout=dataset.layout,
        machines=tuple(_summary(name, items) for name, items in by_machine.items()),
        problems=tuple(problems_of(measured, root)),
        notes=dataset.notes,
    )


def _summary(machine: str, items: Sequence[Measured]) -> MachineSummary:
    recordings = [item.recording for item in items]
    readable = [item for item in items if item.error is None]
    lengths = [item.seconds for item in readable] or [0.0]
    kinds = Counter((r.section, r.domain, r.split, r.label) for r in recordings)
    values: defaultdict[str, set[str]] = defaultdict(set)
    for recording in recordings:
        for name, value in recording.attributes:
            values[name].add(value)
    snapshots, snapshot_seconds, every = _snapshots(readable)
    return MachineSummary(
        machine=machine,
        clips=len(items),
        hours=sum(lengths) / 3600,
        shortest_seconds=min(lengths),
        longest_seconds=max(lengths),
        sections=tuple(sorted({r.section for r in recordings if r.section})),
        domains=tuple(sorted({r.domain for r in recordings})),
        splits=tuple(sorted({r.split for r in recordings if r.split})),
        labels=_tally(r.label or "unlabelled" for r in recordings),
        faults=_tally(r.fault for r in recordings if r.fault),
        sample_rates=_tally(str(item.info.sample_rate) for item in readable),
        channels=_tally(str(item.info.channels) for item in readable),
        attributes={name: tuple(sorted(chosen)) for name, chosen in sorted(values.items())},
        counts=tuple(Count(*kind, clips) for kind, clips in sorted(kinds.items())),
        formats=_tally(item.recording.path.suffix.lower().lstrip(".") for item in items),
        units=_tally(unit_text(item) for item in readable),
        levels=_levels(readable),
        snapshots=snapshots,
        snapshot_seconds=snapshot_seconds,
        every_seconds=every,
    )


def _levels(readable: Sequence[Measured]) -> dict[str, float]:
    """The median root mean square of every axis, in the unit that all recordings have."""
    if len({item.info.unit for item in readable}) != 1 or not readable[0].info.unit:
        return {}
    values: defaultdict[str, list[float]] = defaultdict(list)
    for item in readable:
        for axis, channel in zip(item.axes, item.channels, strict=True):
            values[axis].append(channel.rms * item.info.full_scale)
    return {axis: float(np.median(rms)) for axis, rms in values.items()}


def _snapshots(readable: Sequence[Measured]) -> tuple[int, float | None, float | None]:
    """How many snapshots there are, their length and their interval in seconds."""
    within = [item for item in readable if item.snapshots]
    if within:
        sensor = sensor_of(within[0].recording.path)
        return sum(item.snapshots for item in within), sensor.snapshot, sensor.every
    short = [item for item in readable if item.seconds < JOINED_SECONDS]
    if len(short) < 2:
        return 0, None, None
    return len(short), float(np.median([item.seconds for item in short])), _interval(short)


def _interval(snapshots: Sequence[Measured]) -> float | None:
    """Seconds from one snapshot to the next, of the first folder; None where nothing says it."""
    folder = snapshots[0].recording.path.parent
    paths = [item.recording.path for item in snapshots]
    files = [path for path in paths if path.parent == folder]
    try:
        times = written_times(folder, files, sensor_of(folder).every)
    except SsdptError:
        return None  # a problem says what is wrong
    return None if times is None or len(files) < 2 else float(np.median(np.diff(times[1])))


def _machine_lines(machine: MachineSummary) -> list[str]:
    rates = ", ".join(describe_rate(int(rate)) for rate in machine.sample_rates)
    labels = ", ".join(f"{count} {label}" for label, count in machine.labels.items())
    lines = [
        f"{machine.machine}: {machine.clips} clips, {machine.hours:.2f} h "
        f"({machine.shortest_seconds:.1f} to {machine.longest_seconds:.1f} s each), "
        f"{rates or 'unreadable'}, channels {', '.join(machine.channels) or 'unknown'}; {labels}"
    ]
    lines += [f"  {line}" for line in _sensor_lines(machine)]
    for count in machine.counts:
        section = f"section {count.section}" if count.section else ""
        kind = [section, count.domain, count.split, count.label or "unlabelled"]
        lines.append(f"  {' '.join(filter(None, kind))}: {count.clips}")
    for fault, clips in machine.faults.items():
        lines.append(f"  fault {fault}: {clips}")
    for name, values in machine.attributes.items():
        lines.append(f"  attribute {name}: {_some(values, _VALUES_SHOWN)}")
    return lines


def _sensor_lines(machine: MachineSummary) -> list[str]:
    """What was measured and how; nothing for plain sound files of a microphone."""
    lines = []
    units = [unit for unit in machine.units if unit != "no unit"]
    if units or any(f".{form}" not in AUDIO_SUFFIXES for form in machine.formats):
        formats = ", ".join(f"{form} × {count}" for form, count in machine.formats.items())
        lines.append(f"sensor: {formats}; {'; '.join(machine.units) or 'unreadable'}")
    if machine.levels:
        unit = units[0].partition(",")[0]
        levels = ", ".join(
            f"{level:.3g} {unit}" if axis == "0" else f"{axis} {level:.3g} {unit}"
            for axis, level in machine.levels.items()
        )
        lines.append(f"level (root mean square): {levels}")
    if machine.snapshots and machine.snapshot_seconds:
        every = f", one every {machine.every_seconds:g} s" if machine.every_seconds else ""
        lines.append(f"snapshots: {machine.snapshots} of {machine.snapshot_seconds:.3g} s{every}")
    return lines


def _tally(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _some(names: Sequence[str], shown: int) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
