"""Sound files as live sound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ssdpt.data import audio
from ssdpt.monitor.sources.base import CHUNK_SECONDS
from ssdpt.sentences import Sentence
from ssdpt.types import Floats


def read_blocks(path: Path, rate: int, channel: int) -> Iterator[Floats]:
    """The file in blocks of a chunk's length, at `rate` Hz.

    A silent file is not an error here: silence of a live machine is information.
    """
    try:
        yield from audio.stream(path, rate, channel, block_seconds=CHUNK_SECONDS)
    except audio.AudioError as error:
        if error.problem != "silent":
            raise


def sound_files(folder: Path) -> list[Path]:
    """The sound files directly in the folder, by name; hidden ones may still be written."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in audio.AUDIO_SUFFIXES and not path.name.startswith(".")
    )


def skipped_message(count: int, last: str) -> str:
    """What a status adds about files that could not be read; empty where there are none."""
    return Sentence("sources.skipped", count=count, last=last) if count else ""
