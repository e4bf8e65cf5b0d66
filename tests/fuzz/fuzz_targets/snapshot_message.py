"""Snapshots that sensors send by HTTP or MQTT, and how they are checked."""

from __future__ import annotations

from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.snapshot_checks import SnapshotChecks, UnusableSnapshot
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.sources.snapshot_message import decode_snapshot

_NOW = 1.79e9
_SENSORS = (
    SensorSettings(snapshots=True),
    SensorSettings(snapshots=True, unit="g", full_scale=10.0, sample_rate=3200, axes=("x", "y")),
)


class Target(FuzzTarget):
    """Decodes a message for a sensor without settings and for one with all of them."""

    share = 120
    longest = 4096
    document = True
    words = (
        *(b'"time":', b'"sample_rate":', b'"unit":', b'"values":', b'"axes":', b'"m/s2"', b'"g"'),
        *(b"1e999", b"NaN", b"-Infinity", b'"2026-01-31T12:00:00"', b"[0,1]", b"fLaC", b"RIFF"),
    )

    def run(self, data: bytes) -> None:
        for sensor in _SENSORS:
            try:
                snapshot = decode_snapshot(data, sensor, _NOW)
                SnapshotChecks(sensor, lambda: _NOW).check(snapshot, None)
            except (SsdptError, UnusableSnapshot) as error:
                if wrong := wrong_in(str(error), "the sentence"):
                    raise Violation(wrong[0]) from error
