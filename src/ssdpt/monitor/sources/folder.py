"""A folder that something else writes recordings into."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import FolderSettings
from ssdpt.monitor.sources.base import Source, SourceLost
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.recordings import heard, sound_files
from ssdpt.monitor.sources.timeline import Placed, Timeline

_POLL = 0.5  # seconds; polling also sees what other computers write onto a share
_STEADY = 1.0  # seconds without a change until a file is looked at
_PATIENCE = 10.0  # seconds without a change until a file that cannot be read is given up
_TOLERANCE = 2.0  # seconds; some file systems keep times no finer
_LONGEST_AHEAD = 60.0  # seconds that recordings which overlap may run into the future


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it is now; once it has changed it is another."""

    path: Path
    size: int
    changed: int  # nanoseconds since 1970

    @property
    def end(self) -> float:
        return self.changed / 1e9


class FolderSource(Source):
    """New files, each read once when it is whole, oldest first; those already there are not read.

    The time of a file's last change is taken for the time of its last sample.
    """

    def __init__(self, settings: FolderSettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(rate, settings.channel, clock)
        self._folder = settings.path
        self._started = clock.wall()
        self._known: set[_Seen] | None = None
        self._since: dict[_Seen, float] = {}  # steady time when first seen
        self._timeline = Timeline(_TOLERANCE)
        self._skipped = 0
        self._last_skipped = ""

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        self._check()
        first = True
        while not stop.is_set():
            ready = self._look(first)
            first = False
            for seen, placed in self._placed(ready):
                yield from self._read(seen, placed, stop)
            self.clock.wait(stop, _POLL)
        self._tell(connected=False, words="stopped")

    def once(self, stop: threading.Event) -> Iterator[Chunk]:
        """Looks into the folder; no sound comes, since those already there are not read."""
        self._check()
        self._look(first=True)
        if not self.status.connected:
            raise SourceLost(self.status.words)
        yield from ()

    def _check(self) -> None:
        if self._folder.is_file():
            raise SsdptError(f"{self._folder}: is a file; give the folder that is written into")

    def _look(self, first: bool) -> list[tuple[_Seen, float]]:
        """Files that can be read now, with their seconds, oldest first."""
        try:
            listed = [_seen(path) for path in sound_files(self._folder)]
        except OSError as error:
            reason = error.strerror or str(error)
            self._tell(connected=False, words=f"{self._folder}: cannot be listed ({reason})")
            return []
        there = [seen for seen in listed if seen is not None]
        if self._known is None:
            # Where the folder turns up later, only their times tell what is new in it.
            self._known = {seen for seen in there if first or seen.end < self._started}
        self._known &= set(there)
        new = sorted((s for s in there if s not in self._known), key=lambda s: (s.changed, s.path))
        now = self.clock.steady()
        self._since = {seen: self._since.get(seen, now) for seen in new}
        self._tell(connected=True, words=self._words())
        return self._whole(new, now)

    def _whole(self, new: Sequence[_Seen], now: float) -> list[tuple[_Seen, float]]:
        assert self._known is not None
        ready = []
        for seen in new:
            steady = now - self._since[seen]
            if steady < _STEADY:
                break  # what is newer waits for it
            try:
                blocks = heard(seen.path, self.rate, self.channel)
                seconds = sum(len(block) for block in blocks) / self.rate
            except audio.AudioError as error:
                if steady < _PATIENCE and error.problem != "refused":
                    break  # perhaps its writer only pauses
                self._skip(error)
            else:
                if _seen(seen.path) != seen:
                    break  # written on meanwhile
                ready.append((seen, seconds))
            self._known.add(seen)
        return ready

    def _placed(self, ready: Sequence[tuple[_Seen, float]]) -> list[tuple[_Seen, Placed]]:
        """Where each goes; files that were copied here at one go are set end to end."""
        begins: list[float] = []
        following = self.clock.wall()  # the writer's clock may be fast
        for seen, seconds in reversed(ready):
            following = min(seen.end, following) - seconds
            begins.insert(0, following)
        result = []
        for (seen, seconds), begin in zip(ready, begins, strict=True):
            placed = self._timeline.see(begin, seconds, exact=False)
            if placed.time - begin > _LONGEST_AHEAD:
                placed = Placed(begin)
            self._timeline.take(placed, seconds)
            result.append((seen, placed))
        return result

    def _read(self, seen: _Seen, placed: Placed, stop: threading.Event) -> Iterator[Chunk]:
        done, gap = 0, placed.gap
        try:
            about = audio.probe(seen.path)
            self._tell(rate_in=about.sample_rate, channels_in=about.channels)
            for samples in heard(seen.path, self.rate, self.channel):
                if stop.is_set():
                    return
                yield self._count(Chunk(samples, placed.time + done / self.rate, gap))
                done, gap = done + len(samples), 0.0
        except audio.AudioError as error:  # taken away while it was read
            self._skip(error)

    def _skip(self, error: audio.AudioError) -> None:
        self._skipped += 1
        self._last_skipped = str(error)
        self._tell(words=self._words())

    def _words(self) -> str:
        words = f"watching {self._folder}"
        if self._skipped:
            words += f"; left out {self._skipped}, the last: {self._last_skipped}"
        return words


def _seen(path: Path) -> _Seen | None:
    """The file as it is now; None where it has gone."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return None
    return _Seen(path, about.st_size, about.st_mtime_ns)
