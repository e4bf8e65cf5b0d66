"""What is in a folder of recordings, and which problems it has."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.audio import AudioError, content_digest, describe_rate, open_audio
from ssdpt.data.layouts import read_layout
from ssdpt.types import Recording

SHORTEST_SECONDS = 64 * 512 / 16000
"""One segment of 64 frames at a hop of 512 samples and 16 kHz; a shorter clip has to be padded."""

_FULL_SCALE = 0.9999  # of the largest sample value; 16-bit sound ends at 0.99997
_CLIPPED_SHARE = 1e-4  # a normalised but whole recording touches full scale once or twice
_OFFSET = 0.01  # of full scale
_QUIET = 1e-4  # root mean square, −80 dBFS: below what a working microphone gives
_VALUES_SHOWN = 8
_FILES_SHOWN = 3
_BLOCK_SECONDS = 30.0


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
    """The clips of one machine. Keys of `sample_rates` are Hz, of `channels` their number."""

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


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to look at: its `kind`, a sentence, and the files, relative to the given path."""

    kind: str
    sentence: str
    files: tuple[str, ...]


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
        return lines


@dataclass(frozen=True, slots=True)
class _Measured:
    """The measurements of one file. `error` is set where it could not be read."""

    recording: Recording
    sample_rate: int = 0
    channels: int = 0
    seconds: float = 0.0
    clipped: bool = False
    quiet: bool = False
    offset: float = 0.0
    digest: str = ""
    error: AudioError | None = field(default=None, compare=False)


def inspect(path: Path, reporter: Reporter = SILENT, *, channel: int = 0) -> Inspection:
    """Recognise the layout at `path` and measure channel `channel` of every recording."""
    dataset = read_layout(path)
    root = path if path.is_dir() else path.parent
    measured: list[_Measured] = []
    workers = min(2, os.cpu_count() or 1)  # reading, not computing, sets the pace beyond that
    with (
        reporter.task("reading", len(dataset.recordings)) as task,
        ThreadPoolExecutor(workers) as pool,
    ):
        try:
            for result in pool.map(lambda r: _measure(r, channel), dataset.recordings):
                measured.append(result)
                task.advance(1, result.recording.path.name)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    by_machine: defaultdict[str, list[_Measured]] = defaultdict(list)
    for item in measured:
        by_machine[item.recording.machine].append(item)
    return Inspection(
        path=str(path),
        layout=dataset.layout,
        machines=tuple(_summary(name, items) for name, items in by_machine.items()),
        problems=tuple(_problems(root, measured, by_machine)),
        notes=dataset.notes,
    )


def _measure(recording: Recording, channel: int) -> _Measured:
    count, loud, total, squares = 0, 0, 0.0, 0.0
    try:
        with open_audio(recording) as reader:
            info = reader.info
            for block in reader.blocks(info.sample_rate, channel, block_seconds=_BLOCK_SECONDS):
                count += len(block)
                loud += int(np.count_nonzero(np.abs(block) >= _FULL_SCALE))
                total += float(block.sum(dtype=np.float64))
                squares += float(np.square(block, dtype=np.float64).sum())
    except AudioError as error:
        return _Measured(recording, error=error)
    mean = total / count
    return _Measured(
        recording,
        sample_rate=info.sample_rate,
        channels=info.channels,
        seconds=info.seconds,
        clipped=loud > _CLIPPED_SHARE * count,
        quiet=squares / count - mean**2 < _QUIET**2,
        offset=mean,
        digest=content_digest(recording),
    )


def _summary(machine: str, items: Sequence[_Measured]) -> MachineSummary:
    recordings = [item.recording for item in items]
    readable = [item for item in items if item.error is None]
    lengths = [item.seconds for item in readable] or [0.0]
    kinds = Counter((r.section, r.domain, r.split, r.label) for r in recordings)
    values: defaultdict[str, set[str]] = defaultdict(set)
    for recording in recordings:
        for name, value in recording.attributes:
            values[name].add(value)
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
        sample_rates=_tally(str(item.sample_rate) for item in readable),
        channels=_tally(str(item.channels) for item in readable),
        attributes={name: tuple(sorted(chosen)) for name, chosen in sorted(values.items())},
        counts=tuple(Count(*kind, clips) for kind, clips in sorted(kinds.items())),
    )


def _problems(
    root: Path, measured: Sequence[_Measured], by_machine: dict[str, list[_Measured]]
) -> Iterable[Problem]:
    def problem(kind: str, sentence: str, items: Iterable[_Measured]) -> Iterable[Problem]:
        files = tuple(_relative(item.recording.path, root) for item in items)
        if files:
            yield Problem(kind, sentence.format(count=len(files)), files)

    def those(test: Callable[[_Measured], bool]) -> list[_Measured]:
        return [item for item in measured if item.error is None and test(item)]

    failed = [item for item in measured if item.error is not None]
    for item in failed:
        assert item.error is not None
        if item.error.problem != "silent":
            reason = str(item.error).removeprefix(f"{item.recording.path}: ")
            yield from problem(item.error.problem, reason, [item])
    silent = [item for item in failed if item.error and item.error.problem == "silent"]
    yield from problem(
        "silent", "{count} silent, check the microphone", silent + those(lambda item: item.quiet)
    )
    yield from problem(
        "clipped",
        "{count} clipped (many samples at full scale), lower the gain",
        those(lambda item: item.clipped),
    )
    yield from problem(
        "too short",
        f"{{count}} shorter than one segment of {SHORTEST_SECONDS:.2f} s",
        those(lambda item: item.seconds < SHORTEST_SECONDS),
    )
    yield from problem(
        "offset",
        f"{{count}} off the zero line by more than {_OFFSET:.0%} of full scale",
        those(lambda item: abs(item.offset) > _OFFSET),
    )
    yield from problem(
        "anomaly in training",
        "{count} labelled anomalous among the training clips, fitting leaves them out",
        [i for i in measured if i.recording.split == "train" and i.recording.label == "anomaly"],
    )
    same: defaultdict[str, list[_Measured]] = defaultdict(list)
    for item in those(lambda item: True):
        same[item.digest].append(item)
    for items in same.values():
        if len(items) > 1:
            yield from problem("duplicate", "{count} files with the same content", items)
    for machine, items in by_machine.items():
        readable = [item for item in items if item.error is None]
        rates = Counter(item.sample_rate for item in readable)
        channels = Counter(item.channels for item in readable)
        if len(rates) > 1:
            common = rates.most_common(1)[0][0]
            counts = ", ".join(f"{describe_rate(rate)} × {n}" for rate, n in rates.most_common())
            rest = [item for item in readable if item.sample_rate != common]
            yield from problem("mixed rates", f"{machine}: mixed sample rates ({counts})", rest)
        if len(channels) > 1:
            usual = channels.most_common(1)[0][0]
            counts = ", ".join(f"{number} × {n}" for number, n in channels.most_common())
            rest = [item for item in readable if item.channels != usual]
            yield from problem(
                "mixed channels", f"{machine}: mixed channel counts ({counts})", rest
            )


def _machine_lines(machine: MachineSummary) -> list[str]:
    rates = ", ".join(describe_rate(int(rate)) for rate in machine.sample_rates)
    labels = ", ".join(f"{count} {label}" for label, count in machine.labels.items())
    lines = [
        f"{machine.machine}: {machine.clips} clips, {machine.hours:.2f} h "
        f"({machine.shortest_seconds:.1f} to {machine.longest_seconds:.1f} s each), "
        f"{rates or 'unreadable'}, channels {', '.join(machine.channels) or 'unknown'}; {labels}"
    ]
    for count in machine.counts:
        section = f"section {count.section}" if count.section else ""
        kind = [section, count.domain, count.split, count.label or "unlabelled"]
        lines.append(f"  {' '.join(filter(None, kind))}: {count.clips}")
    for fault, clips in machine.faults.items():
        lines.append(f"  fault {fault}: {clips}")
    for name, values in machine.attributes.items():
        lines.append(f"  attribute {name}: {_some(values, _VALUES_SHOWN)}")
    return lines


def _tally(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _some(names: Sequence[str], shown: int) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
