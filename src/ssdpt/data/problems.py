"""What is wrong with recordings: a sentence for each kind of problem, and its files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdpt.data.audio import describe_rate
from ssdpt.data.joining import JOINED_SECONDS
from ssdpt.data.measuring import Measured
from ssdpt.data.sensor import sensor_of
from ssdpt.data.snapshots import written_times
from ssdpt.errors import SsdptError

SHORTEST_SECONDS = 64 * 512 / 16000
"""One segment of 64 frames at a hop of 512 samples and 16 kHz; a shorter clip has to be padded."""

_CLIPPED_SHARE = 1e-4  # a normalised but whole recording touches full scale once or twice
_OFFSET = 0.01  # of full scale
_QUIET = 1e-4  # root mean square, −80 dBFS: below what a working microphone gives
_FAR_BELOW = 1e-5  # of the full scale of a calibrated sensor: less than its own noise
_SHRUNK = 0.9  # of the usual length of snapshots


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to look at: its `kind`, a sentence, and the files, relative to the given path."""

    kind: str
    sentence: str
    files: tuple[str, ...]


def problems_of(measured: Sequence[Measured], root: Path) -> Iterator[Problem]:
    """Everything to look at, in the order in which a person would."""

    def problem(kind: str, sentence: str, items: Iterable[Measured]) -> Iterator[Problem]:
        files = tuple(_relative(item.recording.path, root) for item in items)
        if files:
            yield Problem(kind, sentence.format(count=len(files)), files)

    readable = [item for item in measured if item.error is None]
    for kind, sentence, items in (
        *_unreadable(measured),
        *_of_signals(readable),
        *_of_snapshots(readable),
        *_of_labels(measured, readable),
        *_of_machines(readable),
    ):
        yield from problem(kind, sentence, items)


_Found = Iterator[tuple[str, str, Sequence[Measured]]]  # kind, sentence with {count}, files


def _unreadable(measured: Sequence[Measured]) -> _Found:
    kinds: defaultdict[str, list[Measured]] = defaultdict(list)
    for item in measured:
        if item.error is not None:
            kinds[item.error.problem].append(item)
    for kind, items in kinds.items():
        reason = str(items[0].error).removeprefix(f"{items[0].recording.path}: ")
        reason = reason.replace("{", "{{").replace("}", "}}")
        yield kind, reason if len(items) == 1 else f"{{count}} files; the first: {reason}", items


def _of_signals(readable: Sequence[Measured]) -> _Found:
    def those(test: Callable[[Measured], bool]) -> list[Measured]:
        return [item for item in readable if test(item)]

    def loudest(item: Measured) -> float:
        return max(channel.rms for channel in item.channels)

    yield (
        "silent",
        "{count} silent, check the microphone or sensor",
        those(lambda item: item.dead or (not item.info.unit and loudest(item) < _QUIET)),
    )
    for axes in sorted({tuple(item.dead_axes) for item in readable if item.dead_axes}):
        items = those(lambda item, axes=axes: tuple(item.dead_axes) == axes)  # type: ignore[misc]
        kind = "dead axis" if items[0].info.axes else "dead channel"
        sentence = f"{{count}} with a {kind} ({', '.join(axes)}): one value, check its cable"
        yield kind, sentence, items
    yield (
        "wrong unit",
        f"{{count}} far below full scale (less than {_FAR_BELOW:g} of it): unit or full_scale in "
        f"sensor.yaml is probably wrong",
        those(lambda i: bool(i.info.unit) and not i.dead and loudest(i) < _FAR_BELOW),
    )
    yield (
        "clipped",
        "{count} clipped (many samples at full scale), lower the gain",
        those(lambda item: any(one.clipped > _CLIPPED_SHARE for one in item.channels)),
    )
    yield (
        "offset",
        f"{{count}} off the zero line by more than {_OFFSET:.0%} of full scale",
        # An accelerometer that feels gravity is as it should be.
        those(
            lambda item: (
                not item.info.vibration
                and not item.dead
                and any(abs(one.mean) > _OFFSET for one in item.channels)
            )
        ),
    )


def _of_snapshots(readable: Sequence[Measured]) -> _Found:
    by_folder: defaultdict[Path, list[Measured]] = defaultdict(list)
    for item in readable:
        by_folder[item.recording.path.parent].append(item)
    short: list[Measured] = []
    shrunk: list[Measured] = []
    for folder, items in by_folder.items():
        snapshots = [item for item in items if item.seconds < JOINED_SECONDS]
        alone = len(snapshots) < 2
        short += [
            item
            for item in items
            if item.seconds < SHORTEST_SECONDS and (item.seconds >= JOINED_SECONDS or alone)
        ]
        if alone:
            continue
        usual = float(np.median([item.info.frames for item in snapshots]))
        shrunk += [item for item in snapshots if item.info.frames < _SHRUNK * usual]
        try:
            files = [item.recording.path for item in items]
            written_times(folder, files, sensor_of(folder).every)
        except SsdptError as error:
            yield "times out of order", str(error).replace("{", "{{").replace("}", "}}"), items[:1]
    yield "too short", f"{{count}} shorter than one segment of {SHORTEST_SECONDS:.2f} s", short
    yield "shrunk", "{count} shorter than the other snapshots in their folder: cut short?", shrunk
    dead = [item for item in readable if item.dead_snapshots]
    count = sum(item.dead_snapshots for item in dead)
    zeros = (
        f"{count} snapshots of one value, such as zeros, in {{count}} files, left out: "
        f"check the sensor"
    )
    yield "dead snapshots", zeros, dead


def _of_labels(measured: Sequence[Measured], readable: Sequence[Measured]) -> _Found:
    yield (
        "anomaly in training",
        "{count} labelled anomalous among the training clips, fitting leaves them out",
        [i for i in measured if i.recording.split == "train" and i.recording.label == "anomaly"],
    )
    same: defaultdict[str, list[Measured]] = defaultdict(list)
    for item in readable:
        same[item.digest].append(item)
    for items in same.values():
        if len(items) > 1:
            yield "duplicate", "{count} files with the same content", items


def _of_machines(readable: Sequence[Measured]) -> _Found:
    by_machine: defaultdict[str, list[Measured]] = defaultdict(list)
    for item in readable:
        by_machine[item.recording.machine].append(item)
    for machine, items in by_machine.items():
        yield from _mixed(machine, "sample rates", "rates", items, _rate)
        yield from _mixed(machine, "channel counts", "channels", items, _channels)
        yield from _mixed(machine, "units", "units", items, unit_text)


def _mixed(
    machine: str, what: str, kind: str, items: Sequence[Measured], of: Callable[[Measured], str]
) -> _Found:
    counts: Mapping[str, int] = Counter(of(item) for item in items)
    if len(counts) > 1:
        (usual, _), *_ = ordered = Counter(counts).most_common()
        text = ", ".join(f"{value} × {number}" for value, number in ordered)
        rest = [item for item in items if of(item) != usual]
        yield f"mixed {kind}", f"{machine}: mixed {what} ({text})", rest


def _rate(item: Measured) -> str:
    return describe_rate(item.info.sample_rate)


def _channels(item: Measured) -> str:
    return str(item.info.channels)


def unit_text(item: Measured) -> str:
    """Unit and full scale of a recording, for people; `no unit` where it has none."""
    info = item.info
    return f"{info.unit}, full scale {info.full_scale:g}" if info.unit else "no unit"


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
