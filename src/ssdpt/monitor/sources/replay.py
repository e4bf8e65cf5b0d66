"""Recordings, played as if they were live."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ReplaySettings
from ssdpt.monitor.sources.base import Source
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.pace import Pace
from ssdpt.monitor.sources.recordings import heard, sound_files
from ssdpt.types import Floats


class ReplaySource(Source):
    """A file, or a folder of them in the order of their names, without a pause in between.

    Times go on from the start by counting samples, at any speed. Ends after the last file unless
    it is looped; a file that cannot be read is told and left out.
    """

    def __init__(self, settings: ReplaySettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(rate, settings.channel, clock)
        self._settings = settings
        self._tell(speed=settings.speed)

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        files = _recordings(self._settings.path)
        pace = Pace(self.rate, self._settings.speed, self.clock)
        skipped: dict[Path, str] = {}
        while not stop.is_set():
            for path in files:
                if path in skipped:
                    continue
                try:
                    for samples in self._samples(path, _also(skipped)):
                        chunk = pace.chunk(samples, stop)
                        if stop.is_set():
                            break
                        yield chunk
                except audio.AudioError as error:
                    if error.problem == "refused":
                        raise
                    skipped[path] = str(error)
                if stop.is_set():
                    break
            if len(skipped) == len(files):
                raise SsdptError(f"nothing to play: {next(iter(skipped.values()))}")
            if not self._settings.loop:
                break
        words = "stopped" if stop.is_set() else f"{self._settings.path}: played to its end"
        self._tell(connected=False, words=words + _also(skipped))

    def _samples(self, path: Path, also: str) -> Iterator[Floats]:
        about = audio.probe(path)
        self._tell(
            connected=True,
            words=f"playing {path.name}{also}",
            rate_in=about.sample_rate,
            channels_in=about.channels,
        )
        yield from heard(path, self.rate, self.channel)


def _recordings(path: Path) -> list[Path]:
    if not path.exists():
        raise SsdptError(f"{path}: there is no such file or folder; check the path")
    if path.is_file():
        return [path]
    files = sound_files(path)
    if not files:
        raise SsdptError(f"{path}: no sound files in it; WAV, FLAC, OGG and MP3 are played")
    return files


def _also(skipped: dict[Path, str]) -> str:
    if not skipped:
        return ""
    return f"; left out {len(skipped)}, the last: {list(skipped.values())[-1]}"
