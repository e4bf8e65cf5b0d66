"""The recording of an event of a machine that sends snapshots: they are put end to end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssdpt.config.settings import FeatureConfig
from ssdpt.features.logmel import LogMel
from ssdpt.monitor.capture.snapshot_spectrum import alike_snapshots
from ssdpt.monitor.events.picture import EventSound
from ssdpt.monitor.sources.snapshot import Snapshot

_MOST_SNAPSHOTS = 60


def snapshot_sound(snapshots: Sequence[Snapshot], axis: str, end: float) -> EventSound | None:
    """One axis of the last snapshots that began before `end`; None where there are none.

    All of them have the sample rate and the axes of the last one.
    """
    before = [one for one in snapshots if one.time < end]
    if not before:
        return None
    chosen = alike_snapshots(before)[-_MOST_SNAPSHOTS:]
    rate, axes = chosen[-1].sample_rate, chosen[-1].axes
    row = axes.index(axis) if axis in axes else 0
    samples = np.concatenate([one.samples[row] for one in chosen])
    log_mel = LogMel(FeatureConfig(), rate)
    return EventSound(
        samples=samples,
        rate=rate,
        begin=chosen[0].time,
        log_mel=log_mel(samples),
        frequencies=log_mel.frequencies,
        frame_seconds=log_mel.frame_seconds,
    )
