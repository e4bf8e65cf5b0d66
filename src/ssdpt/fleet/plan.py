"""What a fit will do with these recordings and how long it takes, said before it starts.

Networks join the hand-made views by evidence. With some fifty or a hundred clips of each machine ID
they were worth nothing on machines that nobody had tuned them on; with a thousand they were. They
need two machine IDs to tell apart, and on a CPU a day for so many clips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

ENOUGH_CLIPS = 500  # of each machine ID, in the mean, from which on networks pay
WITH_NETWORKS = "multiview"

_PROBED = 50  # recordings whose lengths are read
# Seconds: to begin with, per clip of ten seconds on one core, per clip on a GPU.
_BEGIN, _PER_CLIP = 3.0, 0.05
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
    what = f"{clips} normal clips of {sections} machine ID{'s' if sections != 1 else ''}"
    if system.trains_networks and sections > 1:
        per_clip = _TRAIN_PER_CLIP_GPU if gpu else _TRAIN_PER_CLIP / cores()
        place = "the GPU" if gpu else "this CPU"
        took = _duration(_TRAIN_BEGIN + clips * per_clip)
        message = f"{what}: hand-made views and trained networks, about {took} on {place}"
        if not gpu or not pays:
            message += (
                f"; networks pay from about {ENOUGH_CLIPS} clips per machine ID on, and preset "
                "default without them takes seconds"
            )
        return FitPlan(config, message)
    if not system.uses_shared_reference:
        return FitPlan(config, "")  # its training tells how long it takes
    took = _duration(_BEGIN + clips * _PER_CLIP / cores())
    message = f"{what}: hand-made views, no training, about {took}"
    if pays:
        message += "; networks would find more in so many clips, on a GPU: --preset best"
    elif sections > 1:
        message += (
            f"; from about {ENOUGH_CLIPS} clips per machine ID on, networks find more, on a GPU"
        )
    return FitPlan(config, message)


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
    """Rounded, since it is an estimate: 10 s, 3 min, 2 h."""
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{round(seconds / length)} {unit}"
    return f"{max(10, round(seconds, -1)):.0f} s"
