"""Recordings played as if they were live."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from ssdpt.data import audio
from ssdpt.data.snapshots import recording_files, time_in_name
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ChannelSettings, PlaybackSettings, SensorSettings
from ssdpt.monitor.sources.base import Source
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.playback import PlaybackTimer
from ssdpt.monitor.sources.recordings import read_blocks, skipped_message, sound_files
from ssdpt.monitor.sources.snapshot import Snapshot, SnapshotSource, Unusable
from ssdpt.monitor.sources.snapshot_file import SnapshotFile
from ssdpt.sentences import Sentence, clauses, said
from ssdpt.types import Floats


class ReplaySettings(ChannelSettings, PlaybackSettings):
    """Recordings played as if they were live."""

    kind: Literal["replay"] = "replay"
    path: Path = Field(description="a file, or a folder whose files are played in order of name")
    loop: bool = Field(False, description="start again after the last file")
    snapshot: float | None = Field(
        None,
        gt=0,
        description="seconds of one snapshot, where a file holds many end to end; empty = as its "
        "sensor.yaml says, or each file is one",
    )
    every: float | None = Field(
        None,
        gt=0,
        description="seconds from one snapshot to the next; empty = as sensor.yaml or the times in "
        "the names say",
    )

    gives_snapshots: ClassVar[bool] = True


class ReplaySnapshots(SnapshotSource):
    """Plays the snapshots of a file, or of the files of a folder in order of name.

    Times are counted from the start, at any speed. Ends after the last one unless it loops.
    """

    settings_class = ReplaySettings

    def __init__(
        self, settings: ReplaySettings, sensor: SensorSettings, clock: Clock = SYSTEM
    ) -> None:
        super().__init__(settings, sensor, clock)
        self._settings = settings

    def snapshots(self, stop: threading.Event) -> Iterator[Snapshot | Unusable]:
        files = self._files()
        start, due = self.clock.wall(), self.clock.steady()
        offset = 0.0  # seconds from the start of the first file to that of this one
        problem = ""  # of the last file that cannot be played
        while not stop.is_set():
            for path, following in zip(files, [*files[1:], None], strict=True):
                try:
                    file = self._read(path)
                except SsdptError as error:
                    problem = said(error)
                    yield Unusable(problem)
                    continue
                for snapshot in file.snapshots(start + offset):
                    end = snapshot.end - start
                    self.clock.wait(stop, due + end / self._settings.speed - self.clock.steady())
                    if stop.is_set():
                        break
                    yield snapshot
                if stop.is_set():
                    break
                offset += file.count * file.every
                if file.count == 1:
                    offset += self._pause(file, path, following)
            if not offset and not stop.is_set():
                raise SsdptError(Sentence("sources.nothingToPlay", problem=problem))
            if not self._settings.loop:
                break
        self._update_status(connected=False, message=_end(self._settings.path, stop))

    def probe(self, timeout: float) -> str:
        file = self._read(self._files()[0])
        return Sentence("sources.snapshotsIn", status=self.status.message, count=file.count)

    def _files(self) -> list[Path]:
        path = self._settings.path
        files = recording_files(path) if path.is_dir() else _files(path)
        if not files:
            raise SsdptError(Sentence("sources.noRecordings", path=path))
        return files

    def _read(self, path: Path) -> SnapshotFile:
        settings = self._settings
        file = SnapshotFile.read(path, self.sensor, settings.snapshot, settings.every)
        self._update_status(
            connected=True,
            message=Sentence("sources.playing", file=path.name),
            rate_in=file.sample_rate,
            channels_in=len(file.samples),
        )
        return file

    def _pause(self, file: SnapshotFile, path: Path, following: Path | None) -> float:
        """Seconds beyond `every` until the next file, by the times in the names."""
        if self._settings.every is not None or following is None:
            return 0.0
        begin, end = time_in_name(path.stem), time_in_name(following.stem)
        return 0.0 if begin is None or end is None else max(0.0, end - begin - file.every)


class ReplaySource(Source):
    """Plays a file, or the files of a folder in order of name, without pauses in between.

    Times are counted in samples from the start, at any speed. Ends after the last file unless it
    loops. A file that cannot be read is reported and skipped.
    """

    settings_class = ReplaySettings
    snapshot_class = ReplaySnapshots

    def __init__(self, settings: ReplaySettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, rate, clock)
        self._settings = settings

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        files = _files(self._settings.path)
        timer = PlaybackTimer(self.rate, self._settings.speed, self.clock)
        skipped: dict[Path, str] = {}
        while not stop.is_set():
            for path in files:
                if path in skipped:
                    continue
                try:
                    for samples in self._samples(path, _skipped(skipped)):
                        chunk = timer.chunk(samples, stop)
                        if stop.is_set():
                            break
                        yield chunk
                except audio.AudioError as error:
                    if error.problem == "refused":
                        raise
                    skipped[path] = said(error)
                if stop.is_set():
                    break
            if len(skipped) == len(files):
                problem = next(iter(skipped.values()))
                raise SsdptError(Sentence("sources.nothingToPlay", problem=problem))
            if not self._settings.loop:
                break
        message = clauses(_end(self._settings.path, stop), _skipped(skipped))
        self._update_status(connected=False, message=message)

    def _samples(self, path: Path, skipped: str) -> Iterator[Floats]:
        info = audio.probe(path)
        self._update_status(
            connected=True,
            message=clauses(Sentence("sources.playing", file=path.name), skipped),
            rate_in=info.sample_rate,
            channels_in=info.channels,
        )
        yield from read_blocks(path, self.rate, self.channel)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise SsdptError(Sentence("sources.noFileOrFolder", path=path))
    if path.is_file():
        return [path]
    files = sound_files(path)
    if not files:
        raise SsdptError(Sentence("sources.noSoundFiles", path=path))
    return files


def _end(path: Path, stop: threading.Event) -> str:
    """Why nothing is played any more."""
    if stop.is_set():
        return Sentence("sources.stopped")
    return Sentence("sources.playedToEnd", path=path)


def _skipped(errors: dict[Path, str]) -> str:
    return skipped_message(len(errors), next(reversed(errors.values()), ""))
