"""Tables of recordings: one's own data, row by row."""

from __future__ import annotations

from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.data.layouts import read_layout


class Target(FuzzTarget):
    """Reads a manifest beside three sound files."""

    share = 120
    longest = 1024
    words = (
        *(b"path,machine,section,domain,split,label,attributes,fault\n", b"a.wav", b"sub/b.wav"),
        *(b";", b'"', b"speed=2;load=high", b"normal", b"anomaly", b"source", b"target", b"test"),
        *(b"\xef\xbb\xbf", b"\r", b"\x0b", b"\xe2\x80\xa8", b"../", b"/etc/passwd", b"\x1b[31m"),
    )

    def __init__(self, folder):
        super().__init__(folder)
        for name in ("a.wav", "c.flac", "sub/b.wav"):
            self.write(name, b"RIFF")

    def run(self, data: bytes) -> None:
        dataset = read_layout(self.write("list.csv", data), join=False)
        for text in dataset.notes:
            if wrong := wrong_in(text, "a note"):
                raise Violation(wrong[0])
