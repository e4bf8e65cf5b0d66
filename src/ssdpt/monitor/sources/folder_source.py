"""A folder that another program writes recordings or snapshots into."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from ssdpt.data import audio
from ssdpt.data.snapshots import recording_files, time_in_name
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ChannelSettings, SensorSettings
from ssdpt.monitor.sources.base import Source, SourceLost
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.folder_watch import POLL, FolderWatch, WatchedFile
from ssdpt.monitor.sources.recordings import read_blocks, sound_files
from ssdpt.monitor.sources.snapshot import Snapshot, SnapshotSource, Unusable
from ssdpt.monitor.sources.snapshot_file import SnapshotFile
from ssdpt.monitor.sources.timeline import Placement, RecordingTimeline
from ssdpt.sentences import Sentence, said
from ssdpt.types import Floats

_TOLERANCE = 2.0  # seconds; some file systems keep times no finer
_MAX_AHEAD = 60.0  # seconds that overlapping recordings may reach into the future
_MAX_HELD = 600.0  # seconds of a recording that are held in memory: 38 MB at 16 kHz


class FolderSettings(ChannelSettings):
    """A folder that another program writes recordings or snapshots into."""

    kind: Literal["folder"] = "folder"
    path: Path = Field(description="the folder; new files directly in it are read")
    max_silence: float | None = Field(
        None,
        gt=0,
        description="seconds without a recording after which the source is lost; empty = never",
    )

    arrives_in_files: ClassVar[bool] = True
    gives_snapshots: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class _Recording:
    """A file that is no longer written, with its header."""

    file: WatchedFile
    info: audio.AudioInfo


class FolderSnapshots(SnapshotSource):
    """Reads each new file once it is complete, oldest first; files already there are not read.

    A file is one snapshot, or several where its `sensor.yaml` says how long one is. A date and
    time in its name (UTC) is that of its first sample; where there is none, the time of its last
    change is that of its last sample.
    """

    settings_class = FolderSettings

    def __init__(
        self, settings: FolderSettings, sensor: SensorSettings, clock: Clock = SYSTEM
    ) -> None:
        super().__init__(settings, sensor, clock)
        self._watch = FolderWatch(settings.path, clock, recording_files)

    def snapshots(self, stop: threading.Event) -> Iterator[Snapshot | Unusable]:
        self._watch.check_folder()
        first = True
        while not stop.is_set():
            for file in self._list(first):
                read = self._read(file)
                if read is None or stop.is_set():
                    break
                yield from read
            first = False
            self.clock.wait(stop, POLL)
        self._update_status(connected=False, message=Sentence("sources.stopped"))

    def probe(self, timeout: float) -> str:
        """Lists the folder; files already there are not read."""
        self._watch.check_folder()
        self._list(first=True)
        if not self.status.connected:
            raise SourceLost(self.status.message)
        return self.status.message

    def _list(self, first: bool) -> list[WatchedFile]:
        try:
            files = self._watch.new_files(first=first)
        except SourceLost as lost:
            self._update_status(connected=False, message=said(lost))
            return []
        self._update_status(connected=True, message=self._watch.message)
        # By the times in their names, where they have some: files may be copied in any order.
        return sorted(files, key=lambda file: time_in_name(file.path.stem) or file.end)

    def _read(self, file: WatchedFile) -> list[Snapshot | Unusable] | None:
        """The snapshots of a file; None while it may still be written."""
        try:
            content = SnapshotFile.read(file.path, self.sensor)
        except SsdptError as error:
            return [Unusable(said(error))] if self._watch.give_up(file, error) else None
        if not file.unchanged:
            return None
        self._watch.mark_done(file)
        self._update_status(
            message=self._watch.message,
            rate_in=content.sample_rate,
            channels_in=len(content.samples),
        )
        named = time_in_name(file.path.stem)
        return list(content.snapshots(file.end - content.span if named is None else named))


class FolderSource(Source):
    """Reads each new file once it is complete, oldest first; files already there are not read.

    The time of a file's last change is taken as the time of its last sample. A file gives chunks
    only after all of it has been decoded: an incomplete or broken file gives none.
    """

    settings_class = FolderSettings
    snapshot_class = FolderSnapshots

    def __init__(self, settings: FolderSettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, rate, clock)
        self._watch = FolderWatch(settings.path, clock, sound_files)
        self._timeline = RecordingTimeline(_TOLERANCE)

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        self._watch.check_folder()
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
            self.clock.wait(stop, POLL)
        self._update_status(connected=False, message=Sentence("sources.stopped"))

    def chunks_once(self, stop: threading.Event) -> Iterator[Chunk]:
        """Lists the folder; gives no sound, since files already there are not read."""
        self._watch.check_folder()
        self._list(first=True)
        if not self.status.connected:
            raise SourceLost(self.status.message)
        yield from ()

    def _list(self, first: bool) -> list[_Recording]:
        """New files that seem complete, with their headers, oldest first."""
        try:
            files = self._watch.new_files(first=first)
        except SourceLost as lost:
            self._update_status(connected=False, message=said(lost))
            return []
        self._update_status(connected=True, message=self._watch.message)
        recordings = []
        for file in files:
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
        if not file.unchanged:
            return None
        self._watch.mark_done(file)
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
            self._watch.count_skipped(error)
            self._update_status(message=self._watch.message)

    def _skip(self, file: WatchedFile, error: audio.AudioError) -> bool:
        """Skip a file that cannot be read; False: not yet, it may still be written."""
        if not self._watch.give_up(file, error):
            return False
        self._watch.count_skipped(error)
        self._update_status(message=self._watch.message)
        return True
