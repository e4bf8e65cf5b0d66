"""ZIP files of data sets."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.data.archive import unpack


class Target(FuzzTarget):
    """Unpacks an archive into an empty folder."""

    share = 40
    longest = 2048
    words = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"fan/train/", b"../", b"/etc/", b"C:\\")

    def run(self, data: bytes) -> None:
        unpack(self.write("fan.zip", data), self.empty("out"), "fan")
