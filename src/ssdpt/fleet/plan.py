"""What a fit will do with these recordings and how long it takes, said before it starts; and what
it did, said at its end.

Networks join the hand-made views by evidence, which the sentences quote from docs: quality. They
need two machine IDs to tell apart, and on a CPU a day for a thousand clips of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdpt.common.threads import cores
from ssdpt.config.tree import Config
from ssdpt.data.audio import probe
from ssdpt.data.split import training_split
from ssdpt.errors import SsdptError
from ssdpt.scoring.fusion import spread_evenly
from ssdpt.systems import system_class
from ssdpt.training.loop import choose_device
from ssdpt.types import Recording

if TYPE_CHECKING:
    from ssdpt.detection.detector import Detector

ENOUGH_CLIPS = 500  # of each machine ID, in the mean, from which on networks are added
WITH_NETWORKS = "multiview"

# Measured on real machines, the mean official score (docs/explanation/quality.md).
NETWORKS_BRING = (
    "Networks brought -0.001 to +0.020 of the score with 60 to 110 clips per machine ID, +0.026 "
    "with 1,000"
)
CLIPS_BRING_ALONE, CLIPS_BRING_TOGETHER = "+0.006", "+0.004"  # 110 instead of 60 per machine ID
_FEWEST_MEASURED = 60  # clips of each machine ID

_IN_SECONDS = 90.0  # a shorter fit is told in seconds
_PROBED = 50  # recordings whose lengths are read
# Seconds on cores that have other work too: to begin with, per clip of ten seconds on one core, per
# clip on a GPU.
_BEGIN, _PER_CLIP = 4.0, 0.1
_TRAIN_BEGIN, _TRAIN_PER_CLIP, _TRAIN_PER_CLIP_GPU = 60.0, 24.0, 0.05


@dataclass(frozen=True, slots=True)
class FitPlan:
    """The settings of a fit, and a sentence for the person who waits for it, if there is one."""

    config: Config
    message: str


def plan_fit(recordings: Sequence[Recording], config: Config, *, choose: bool) -> FitPlan:
    """What a fit of these recordings of one or several machines will do.

    With `choose` the system may change: networks are added where they pay.
    """
    clips, sections = _size(recordings, config)
    per_section = clips / max(sections, 1)
    gpu = choose_device(config.device).type == "cuda"
    pays = per_section >= ENOUGH_CLIPS and sections > 1
    if choose and pays and gpu:
        config = config.model_copy(update={"system": WITH_NETWORKS})
    system = system_class(config.system)
    what = f"{_count(clips, 'normal clip')} of {_count(sections, 'machine ID')}"
    without = _duration(_BEGIN + clips * _PER_CLIP / cores())
    if system.trains_networks and sections > 1:
        per_clip = _TRAIN_PER_CLIP_GPU if gpu else _TRAIN_PER_CLIP / cores()
        place = "the GPU" if gpu else "this CPU"
        took = _duration(_TRAIN_BEGIN + clips * per_clip)
        message = f"{what}: hand-made views and trained networks, about {took} on {place}. "
        quicker = "" if gpu else f"; preset default, without them, takes about {without}"
        return FitPlan(config, f"{message}{NETWORKS_BRING}{quicker}.")
    if not system.uses_shared_reference:
        return FitPlan(config, "")  # its training tells how long it takes
    message = f"{what}: hand-made views, no training, about {without}. "
    if round(per_section) < _FEWEST_MEASURED:  # a clip that is missing of one ID does not count
        message += f"Record {_FEWEST_MEASURED} clips per machine ID if you can. "
    else:
        gain = CLIPS_BRING_TOGETHER if sections > 1 else CLIPS_BRING_ALONE
        message += f"More clips bring little: {gain} of the score from 60 to 110 per machine ID. "
    if sections > 1:
        message += f"{NETWORKS_BRING}; they need --preset best and a GPU."
    else:
        message += "A GPU brings nothing: networks need two machine IDs."
    return FitPlan(config, message)


def what_was_done(fleet: Mapping[str, Detector], seconds: float) -> str:
    """What a fit of these models did, for the person who waited for it."""
    systems = [detector.system for detector in fleet.values()]
    sections = sum(len(system.sections) for system in systems)
    reference = systems[0].shared_reference
    if reference is None:
        how = f"system {systems[0].name}"
    else:
        networks = "and networks" if reference.networks is not None else "without networks"
        how = f"hand-made views {networks}, spread from {reference.origin}"
    took = f"{seconds:.0f} s" if seconds < _IN_SECONDS else _duration(seconds)
    return f"fitted {_count(sections, 'machine ID')} in {took}: {how}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number != 1 else ''}"


def _size(recordings: Sequence[Recording], config: Config) -> tuple[int, int]:
    """About how many clips there are to learn from, and of how many machine IDs."""
    train = [item for item in training_split(recordings, config.seed)[0] if item.label != "anomaly"]
    seconds = [
        length
        for length in (_seconds(train[at]) for at in spread_evenly(len(train), _PROBED))
        if length is not None
    ]
    clips = [max(1, int(length / config.audio.clip_seconds + 0.5)) for length in seconds]
    sections = {(recording.machine, recording.section) for recording in train}
    return round(len(train) * float(np.mean(clips))) if clips else len(train), len(sections)


def _seconds(recording: Recording) -> float | None:
    try:
        return probe(recording).seconds
    except SsdptError:
        return None  # the fit says what is wrong with it


def _duration(seconds: float) -> str:
    """Rounded: 10 s, 3 min, 2 h."""
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{round(seconds / length)} {unit}"
    return f"{max(10, round(seconds, -1)):.0f} s"
