"""A folder that another program writes recordings into."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ChannelSettings
from ssdpt.monitor.sources.base import Source, SourceLost
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.recordings import read_blocks, skipped_message, sound_files
from ssdpt.monitor.sources.timeline import Placement, RecordingTimeline
from ssdpt.types import Floats

_POLL = 0.5  # seconds; polling also sees what other computers write onto a network share
_STEADY = 1.0  # seconds without a change until a file is opened
_PATIENCE = 10.0  # seconds without a change until a file that cannot be read is skipped
_TOLERANCE = 2.0  # seconds; some file systems keep times no finer
_MAX_AHEAD = 60.0  # seconds that overlapping recordings may reach into the future
_MAX_HELD = 600.0  # seconds of a recording that are held in memory: 38 MB at 16 kHz


class FolderSettings(ChannelSettings):
    """A folder that another program writes recordings into."""

    kind: Literal["folder"] = "folder"
    path: Path = Field(description="the folder; new files directly in it are read")
    max_silence: float | None = Field(
        None,
        gt=0,
        description="seconds without a recording after which the source is lost; empty = never",
    )

    arrives_in_files: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is now; after a change it counts as another one."""

    path: Path
    size: int
    changed: int  # nanoseconds since 1970

    @property
    def end(self) -> float:
        return self.changed / 1e9


@dataclass(frozen=True, slots=True)
class _Recording:
    """A file that is no longer written, with its header."""

    file: _File
    info: audio.AudioInfo


class FolderSource(Source):
    """Reads each new file once it is complete, oldest first; files already there are not read.

    The time of a file's last change is taken as the time of its last sample. A file gives chunks
    only after all of it has been decoded: an incomplete or broken file gives none.
    """

    settings_class = FolderSettings

    def __init__(self, settings: FolderSettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, rate, clock)
        self._folder = settings.path
        self._started = clock.wall()
        self._done: set[_File] | None = None  # read or skipped; None: never listed yet
        self._first_seen: dict[_File, float] = {}  # steady time, of new files
        self._timeline = RecordingTimeline(_TOLERANCE)
        self._skipped = 0
        self._last_skipped = ""

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        self._check_folder()
        first = True
        while not stop.is_set():
            recordings = self._list(first)
            first = False
            for recording, begin in zip(recordings, self._begins(recordings), strict=True):
                try:
                    blocks = self._decode(recording)
                except audio.AudioError as error:
                    if not self._skip(recording.file, error):
                        break
                    continue
                if blocks is None:
                    break
                yield from self._chunks_of(recording, blocks, begin, stop)
                if stop.is_set():
                    break
            self.clock.wait(stop, _POLL)
        self._update_status(connected=False, message="stopped")

    def chunks_once(self, stop: threading.Event) -> Iterator[Chunk]:
        """Lists the folder; gives no sound, since files already there are not read."""
        self._check_folder()
        self._list(first=True)
        if not self.status.connected:
            raise SourceLost(self.status.message)
        yield from ()

    def _check_folder(self) -> None:
        if self._folder.is_file():
            raise SsdptError(f"{self._folder}: is a file; give the folder that is written into")

    def _list(self, first: bool) -> list[_Recording]:
        """New files that seem complete, oldest first."""
        try:
            listed = [_file(path) for path in sound_files(self._folder)]
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"{self._folder}: cannot be listed ({reason})"
            self._update_status(connected=False, message=message)
            return []
        files = {file for file in listed if file is not None}
        if self._done is None:
            # Where the folder appears later, only the times of its files tell which are new.
            self._done = {file for file in files if first or file.end < self._started}
        self._done &= files
        new = sorted(files - self._done, key=lambda file: (file.changed, file.path))
        now = self.clock.steady()
        self._first_seen = {file: self._first_seen.get(file, now) for file in new}
        self._update_status(connected=True, message=self._message())
        return self._with_headers(new)

    def _with_headers(self, files: Sequence[_File]) -> list[_Recording]:
        recordings = []
        for file in files:
            if self._unchanged_for(file) < _STEADY:
                break  # newer files wait for it
            try:
                recordings.append(_Recording(file, audio.probe(file.path)))
            except audio.AudioError as error:
                if not self._skip(file, error):
                    break
        return recordings

    def _begins(self, recordings: Sequence[_Recording]) -> list[float]:
        """Time of each first sample; files that were copied at the same time go end to end."""
        begins: list[float] = []
        begin = self.clock.wall()  # the clock of the writer may be fast
        for recording in reversed(recordings):
            begin = min(recording.file.end, begin) - recording.info.seconds
            begins.insert(0, begin)
        return begins

    def _decode(self, recording: _Recording) -> Iterable[Floats] | None:
        """All of its sound; None while it is still written. AudioError where it is broken.

        Decoded once and held in memory. Only a very long recording is decoded a second time.
        """
        file = recording.file
        blocks: Iterable[Floats] = read_blocks(file.path, self.rate, self.channel)
        if recording.info.seconds <= _MAX_HELD:
            blocks = list(blocks)
        else:
            for _ in blocks:
                pass
            blocks = read_blocks(file.path, self.rate, self.channel)
        if _file(file.path) != file:
            return None
        self._mark_done(file)
        return blocks

    def _chunks_of(
        self, recording: _Recording, blocks: Iterable[Floats], begin: float, stop: threading.Event
    ) -> Iterator[Chunk]:
        info = recording.info
        self._update_status(rate_in=info.sample_rate, channels_in=info.channels)
        placement = self._timeline.place(begin, info.seconds, exact=False)
        if placement.time - begin > _MAX_AHEAD:
            placement = Placement(begin)
        self._timeline.add(placement, info.seconds)
        count, gap = 0, placement.gap
        try:
            for samples in blocks:
                if stop.is_set():
                    return
                yield self._count_gap(Chunk(samples, placement.time + count / self.rate, gap))
                count, gap = count + len(samples), 0.0
        except audio.AudioError as error:  # a very long one, deleted while it was read
            self._count_skipped(error)

    def _skip(self, file: _File, error: audio.AudioError) -> bool:
        """Skip a file that cannot be read; False: not yet, it may still be written."""
        if self._unchanged_for(file) < _PATIENCE and error.problem != "refused":
            return False
        self._mark_done(file)
        self._count_skipped(error)
        return True

    def _count_skipped(self, error: audio.AudioError) -> None:
        self._skipped += 1
        self._last_skipped = str(error)
        self._update_status(message=self._message())

    def _unchanged_for(self, file: _File) -> float:
        """Seconds."""
        return self.clock.steady() - self._first_seen[file]

    def _mark_done(self, file: _File) -> None:
        assert self._done is not None
        self._done.add(file)

    def _message(self) -> str:
        return f"watching {self._folder}" + skipped_message(self._skipped, self._last_skipped)


def _file(path: Path) -> _File | None:
    """The file as it is now; None where it no longer exists."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return _File(path, stat.st_size, stat.st_mtime_ns)
