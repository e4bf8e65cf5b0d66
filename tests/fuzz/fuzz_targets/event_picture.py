"""The spectrogram of an event, as a store keeps it."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.monitor.events.picture import read_picture


class Target(FuzzTarget):
    """Reads a picture."""

    share = 40
    longest = 4096
    words = (b"PK\x03\x04", b"PK\x01\x02", b"\x93NUMPY", b"'shape': (", b"'descr': '|O'", b"hz.npy")

    def run(self, data: bytes) -> None:
        read_picture(data)
