"""sensor.yaml beside a table of sensor values."""

from __future__ import annotations

import math

from fuzz_target import FuzzTarget

from ssdpt.data import audio
from ssdpt.data.measuring import measure
from ssdpt.types import Recording

_ROWS = "".join(f"{0.001 * n:.3f},{math.sin(n):.4f},{math.cos(n):.4f}\n" for n in range(40))


class Target(FuzzTarget):
    """Reads a table as the file says."""

    share = 40
    longest = 512
    document = True
    words = (
        *(b"unit: ", b"full_scale: ", b"sample_rate: ", b"columns: ", b"axes: ", b"snapshot: "),
        *(b"every: ", b"m/s2", b"[acc_x, acc_y]", b"!!", b"&a ", b"*a", b"<<: ", b".inf", b"- "),
    )

    def __init__(self, folder):
        super().__init__(folder)
        self._table = self.write("data/values.csv", f"time,acc_x,acc_y\n{_ROWS}".encode())

    def run(self, data: bytes) -> None:
        self.write("data/sensor.yaml", data)
        audio.is_recording(self._table)
        measure(Recording(self._table, "fan"))
        audio.read(self._table, 16000)
