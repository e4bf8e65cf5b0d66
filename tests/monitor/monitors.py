"""Simulated machines that run many times faster than real ones, for tests of the service."""

from __future__ import annotations

import threading

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.sources.simulated_source import SimulatedSettings

SPEED = 16.0
QUICK = AlarmSettings(smoothing=5.0)


def pump(**changes):
    source = SimulatedSettings(machine="pump", seed=7, speed=SPEED, **changes)
    return MachineSettings(id="pump-1", name="Pump 1", source=source, alarm=QUICK)


def finish_jobs(service):
    """Wait until every job submitted so far is done."""
    done = threading.Event()
    service._jobs.submit("marker", done.set)
    assert done.wait(60), "the jobs were not done in time"
