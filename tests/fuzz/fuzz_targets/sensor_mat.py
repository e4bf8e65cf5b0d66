"""Sensor values in MATLAB files, old and new."""

from __future__ import annotations

import h5py  # noqa: F401 (its import starts a process)
from fuzz_target import FuzzTarget

from ssdpt.data import audio


class Target(FuzzTarget):
    """Reads a file, with the rate from a sensor.yaml."""

    share = 60
    longest = 8192
    words = (b"MATLAB 5.0 MAT-file", b"IM", b"\x0e\x00\x00\x00", b"\x0f\x00\x00\x00", b"\x89HDF")

    def __init__(self, folder):
        super().__init__(folder)
        self.write("sensor.yaml", b"sample_rate: 25600\nfull_scale: 1000\n")

    def run(self, data: bytes) -> None:
        audio.read(self.write("values.mat", data), 16000)
