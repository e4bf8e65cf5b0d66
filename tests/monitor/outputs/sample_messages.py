"""Messages for tests of outputs, in short."""

from __future__ import annotations

from ssdpt.monitor.messages import Acknowledgement, Reading, ReadingTaken, StateChanged
from ssdpt.monitor.outputs.context import MachineLabel, OutputContext


def named(names, **more):
    """Machines with these names, by id."""
    return OutputContext({id: MachineLabel(name) for id, name in names.items()}, **more)


def changed(event, **changes):
    """The same event with other values."""
    return event.model_copy(update=changes)


def acknowledgement(who="ann", at=1.7e9):
    return Acknowledgement(who=who, at=at)


def reading(machine, time, state="normal", level_dbfs=-30.0, **scores):
    return ReadingTaken(
        reading=Reading(machine=machine, time=time, state=state, level_dbfs=level_dbfs, **scores)
    )


def state_changed(machine, state, at, smoothed=None):
    return StateChanged(machine=machine, state=state, at=at, smoothed=smoothed)
