"""Whether a sound file holds as many bytes as its own header promises.

libsndfile reads a WAV or OGG file that was cut off as if it had been meant to be shorter, and its
MP3 decoder talks on the error stream. These checks look at the container alone, before anything is
decoded. FLAC needs none: its decoder notices.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

# What a program writes that does not know the length beforehand (a pipe, a live recording).
_UNKNOWN_SIZES = frozenset({0, 0x7FFFFFFF, 0x7FFFF000, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})

_LARGEST_TRAILER = 4096  # bytes of titles and the like that may follow an empty recording
_OGG_HEADER = 27  # bytes of an Ogg page before its segment table
_OGG_LAST_PAGE = 4  # flag bit
_OGG_LARGEST_PAGE = 65_307  # bytes
_W64_HEADER = 24  # a 16-byte name and an 8-byte size that counts the header too
_W64_RIFF = b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00"


def missing_part(path: Path) -> str:
    """What the file at `path` lacks of what its header promises, as a phrase; empty if nothing."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(16)
        if head[:4] in (b"RIFF", b"RIFX", b"RF64", b"BW64") and head[8:12] == b"WAVE":
            return _missing_riff(file, size, ">" if head[:4] == b"RIFX" else "<")
        if head == _W64_RIFF:
            return _missing_w64(file, size)
        if head[:4] == b"OggS":
            return _missing_ogg(file, size)
        return _missing_mp3(file, size)


def _missing_riff(file: BinaryIO, size: int, order: str) -> str:
    long_size: int | None = None
    position = 12
    while position + 8 <= size:
        file.seek(position)
        name, length = struct.unpack(f"{order}4sI", file.read(8))
        if name == b"ds64":
            _, long_size = struct.unpack("<QQ", file.read(16).ljust(16, b"\0"))
        if name == b"data":
            if length == 0xFFFFFFFF and long_size is not None:
                length = long_size
            held = size - position - 8
            if length == 0 and held > _LARGEST_TRAILER:
                return f"its header was never finished, though {held:,} bytes of sound follow"
            return _compare(length, held)
        position += 8 + length + length % 2
    return "its header is there but no sound follows"


def _missing_w64(file: BinaryIO, size: int) -> str:
    position = _W64_HEADER + 16
    while position + _W64_HEADER <= size:
        file.seek(position)
        name, length = struct.unpack("<16sQ", file.read(_W64_HEADER))
        if name[:4] == b"data":
            return _compare(length - _W64_HEADER, size - position - _W64_HEADER)
        position += max(_W64_HEADER, length + -length % 8)
    return "its header is there but no sound follows"


def _compare(promised: int, held: int) -> str:
    if promised in _UNKNOWN_SIZES or promised <= held:
        return ""
    return f"{held:,} of the {promised:,} bytes that its header promises"


def _missing_ogg(file: BinaryIO, size: int) -> str:
    """The last page of a finished Ogg stream is marked as such and is complete."""
    start = max(0, size - 2 * _OGG_LARGEST_PAGE)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"OggS")
    page = tail[at:]
    if at < 0 or len(page) < _OGG_HEADER:
        return "the last page is incomplete"
    table = page[_OGG_HEADER : _OGG_HEADER + page[26]]
    if len(table) < page[26] or len(page) < _OGG_HEADER + len(table) + sum(table):
        return "the last page is incomplete"
    if not page[5] & _OGG_LAST_PAGE:
        return "the page that ends the stream is missing"
    return ""


def _missing_mp3(file: BinaryIO, size: int) -> str:
    """Many encoders write the number of bytes into an information frame at the beginning."""
    file.seek(0)
    head = file.read(10)
    start = 0
    if head[:3] == b"ID3" and len(head) == 10:
        # Four bytes of seven bits each, so that no tag looks like the start of a frame.
        start = 10 + (head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9])
    file.seek(start)
    frame = file.read(64)
    if frame[:1] != b"\xff":
        return ""
    at = max(frame.find(b"Xing"), frame.find(b"Info"))
    if at < 0 or len(frame) < at + 16 or not frame[at + 7] & 2:
        return ""
    # The count of frames comes first where it is there at all.
    field = at + 8 + 4 * (frame[at + 7] & 1)
    (promised,) = struct.unpack(">I", frame[field : field + 4])
    return _compare(promised, size - start)
