"""Simulated machines that run many times faster than real ones, for tests of monitors."""

from __future__ import annotations

import time

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.monitor.config import MachineSettings, SimulatedSettings

SPEED = 16.0
QUICK = AlarmSettings(smoothing=5.0)


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return found


def pump(**changes):
    source = SimulatedSettings(machine="pump", seed=7, speed=SPEED, **changes)
    return MachineSettings(id="pump-1", name="Pump 1", source=source, alarm=QUICK)
