"""Operating data in messages of an MQTT broker."""

from __future__ import annotations

import math

from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.monitor.operating.mqtt_operating_data import (
    MqttNumber,
    MqttOperatingData,
    MqttOperatingDataSettings,
    MqttRunState,
)


class Target(FuzzTarget):
    """Takes one message for a run state, a speed and a load."""

    share = 60
    longest = 1024
    document = True
    words = (b'"data"', b'"speed"', b"RUN", b"true", b"1e999", b"NaN", b"-1", b"\x1b[2J", b"\n")

    def __init__(self, folder):
        super().__init__(folder)
        self._settings = MqttOperatingDataSettings(
            host="localhost",
            running=MqttRunState(topic="t", values=("RUN", 2)),
            speed_rpm=MqttNumber(topic="t", pointer="/data/speed", scale=60.0),
            load_percent=MqttNumber(topic="t", pointer="/data/0/load~1a"),
        )

    def run(self, data: bytes) -> None:
        source = MqttOperatingData(self._settings)
        source.take("t", data)
        if wrong := wrong_in(source.status.message, "the status"):
            raise Violation(wrong[0])
        values = source.data
        for value in () if values is None else (values.speed_rpm, values.load_percent):
            if value is not None and not math.isfinite(value):
                raise Violation(f"the value {value}")
