"""Recordings played as if they were live."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ChannelSettings, PlaybackSettings
from ssdpt.monitor.sources.base import Source
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.playback import PlaybackTimer
from ssdpt.monitor.sources.recordings import read_blocks, skipped_message, sound_files
from ssdpt.types import Floats


class ReplaySettings(ChannelSettings, PlaybackSettings):
    """Recordings played as if they were live."""

    kind: Literal["replay"] = "replay"
    path: Path = Field(description="a file, or a folder whose files are played in order of name")
    loop: bool = Field(False, description="start again after the last file")


class ReplaySource(Source):
    """Plays a file, or the files of a folder in order of name, without pauses in between.

    Times are counted in samples from the start, at any speed. Ends after the last file unless it
    loops. A file that cannot be read is reported and skipped.
    """

    settings_class = ReplaySettings

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
                    skipped[path] = str(error)
                if stop.is_set():
                    break
            if len(skipped) == len(files):
                raise SsdptError(f"nothing to play: {next(iter(skipped.values()))}")
            if not self._settings.loop:
                break
        message = "stopped" if stop.is_set() else f"{self._settings.path}: played to its end"
        self._update_status(connected=False, message=message + _skipped(skipped))

    def _samples(self, path: Path, suffix: str) -> Iterator[Floats]:
        info = audio.probe(path)
        self._update_status(
            connected=True,
            message=f"playing {path.name}{suffix}",
            rate_in=info.sample_rate,
            channels_in=info.channels,
        )
        yield from read_blocks(path, self.rate, self.channel)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise SsdptError(f"{path}: there is no such file or folder; check the path")
    if path.is_file():
        return [path]
    files = sound_files(path)
    if not files:
        raise SsdptError(f"{path}: it has no sound files; WAV, FLAC, OGG and MP3 are played")
    return files


def _skipped(errors: dict[Path, str]) -> str:
    return skipped_message(len(errors), next(reversed(errors.values()), ""))
