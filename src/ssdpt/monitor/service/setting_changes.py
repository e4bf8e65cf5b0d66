"""What changed settings mean for what a machine has learned."""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.setup_messages import BaselineAfter, BaselineChoice
from ssdpt.sentences import Sentence


def baseline_after(before: MachineSettings, after: MachineSettings) -> BaselineAfter:
    """Whether the baseline still applies.

    Only a person knows whether another address is the same microphone at the same place.
    """
    if before.sensor != after.sensor:
        return "new"
    return "kept" if before.source.same_sound(after.source) else "ask"


def keeps_baseline(id: str, after: BaselineAfter, choice: BaselineChoice | None) -> bool:
    """What a person's choice comes to; SsdptError where one is missing or impossible.

    What took days to learn is never given up without being asked for.
    """
    if after == "kept":
        return choice != "new"
    if choice is None:
        if after == "new":
            raise SsdptError(Sentence("machines.sensorChanges", id=id))
        raise SsdptError(Sentence("machines.sourceChanges", id=id))
    if after == "new" and choice == "keep":
        raise SsdptError(Sentence("machines.baselineLost", id=id))
    return choice == "keep"
