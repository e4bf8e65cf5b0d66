"""Sensor values in Parquet files."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.data import audio


class Target(FuzzTarget):
    """Reads a file, with the rate from a sensor.yaml."""

    share = 40
    longest = 8192
    words = (b"PAR1", b"\x15\x00", b"ARROW:schema", b"\xff\xff\xff\x7f")

    def __init__(self, folder):
        super().__init__(folder)
        self.write("sensor.yaml", b"sample_rate: 25600\nfull_scale: 1000\n")

    def run(self, data: bytes) -> None:
        path = self.write("values.parquet", data)
        audio.is_recording(path)
        audio.read(path, 16000)
