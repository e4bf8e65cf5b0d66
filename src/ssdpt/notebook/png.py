"""A matrix as a PNG: the base install has no library that draws one."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from ssdpt.types import Floats

# From quiet to loud: dark blue, blue-green, light yellow. Readable on white, on black, and by
# those who see red and green as one, since brightness only rises.
_ANCHORS = ((18, 22, 58), (32, 70, 128), (35, 128, 140), (120, 184, 110), (250, 240, 150))


def data_uri(kind: str, content: bytes) -> str:
    """Content that lies in the page itself."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def heat_picture(values: Floats, low: float, high: float) -> str:
    """A matrix (rows, columns), its first row at the top, as the data URI of a PNG.

    `low` and below is the darkest colour, `high` and above the lightest.
    """
    share = (values - low) / max(high - low, 1e-9)
    pixels = (np.clip(share, 0.0, 1.0) * 255).astype(np.uint8)
    places = np.linspace(0, 255, len(_ANCHORS))
    palette = np.array(
        [np.interp(np.arange(256), places, channel) for channel in zip(*_ANCHORS, strict=True)]
    )
    rows, columns = pixels.shape
    # Every row begins with the number of its filter: none.
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels], axis=1)
    content = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", palette.T.round().astype(np.uint8).tobytes())
        + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )
    return data_uri("image/png", content)


def _chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)
