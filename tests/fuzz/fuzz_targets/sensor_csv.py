"""Sensor values as text."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.data import audio


class Target(FuzzTarget):
    """Reads a table, with the rate from a sensor.yaml."""

    share = 100
    longest = 2048
    words = (
        *(
            b"time [s],acc_x [g]\n",
            b"0.001",
            b"1e308",
            b"1e-400",
            b"nan",
            b"inf",
            b";",
            b"\t",
            b",,",
        ),
        *(b"2026-01-31 12:00:00.001", b"12:00:00", b"0001-01-01T00:00:00", b"9999-12-31T23:59:59"),
        *(b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"1_0", b"+14:00", b"# ", b'"', b"\x85"),
    )

    def __init__(self, folder):
        super().__init__(folder)
        self.write("sensor.yaml", b"sample_rate: 25600\nfull_scale: 1000\n")

    def run(self, data: bytes) -> None:
        path = self.write("values.csv", data)
        audio.is_recording(path)
        audio.read(path, 16000)
