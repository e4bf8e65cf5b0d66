"""Simulated machines that run many times faster than real ones, for tests of the service."""

from __future__ import annotations

import threading
from functools import partial

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.sources.simulated_source import SimulatedSettings
from waiting import wait_until

SPEED = 16.0
QUICK = AlarmSettings(smoothing=5.0)


def pump(**changes):
    source = SimulatedSettings(machine="pump", seed=7, speed=SPEED, **changes)
    return MachineSettings(id="pump-1", name="Pump 1", source=source, alarm=QUICK)


def learn(service, id="pump-1", clips=12):
    """Learn a baseline; nothing happens to the machine before it was heard to be normal."""
    source = service.machines[id].capture.source
    source.held.set()
    service.learning.learn_from(id, partial(source.normal_clips, clips))
    wait_until(lambda: service.api.machine_status(id).state == "normal", "it is normal")
    source.held.clear()


def finish_jobs(service):
    """Wait until every job submitted so far is done."""
    for jobs in (service._recordings, service._fits):  # a recording may be learned from
        done = threading.Event()
        jobs.submit("marker", done.set)
        assert done.wait(60), "the jobs were not done in time"
