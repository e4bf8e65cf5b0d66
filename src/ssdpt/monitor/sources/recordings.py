"""Sound files that stand in for live sound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ssdpt.data import audio
from ssdpt.monitor.sources.base import CHUNK_SECONDS
from ssdpt.types import Floats


def heard(path: Path, rate: int, channel: int) -> Iterator[Floats]:
    """What the file holds, in blocks of a chunk's length; silence too, which is news when live."""
    try:
        yield from audio.stream(path, rate, channel, block_seconds=CHUNK_SECONDS)
    except audio.AudioError as error:
        if error.problem != "silent":
            raise


def sound_files(folder: Path) -> list[Path]:
    """The sound files right in the folder, by name; hidden ones are somebody's work in progress."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in audio.AUDIO_SUFFIXES and not path.name.startswith(".")
    )
