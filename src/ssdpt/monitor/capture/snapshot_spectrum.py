"""Spectrum and spectrogram of a machine that sends snapshots, as the page draws them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssdpt.alarms.indicator_baseline import IndicatorBaseline
from ssdpt.config.settings import FeatureConfig
from ssdpt.features.indicators import Indicators
from ssdpt.features.logmel import LogMel
from ssdpt.monitor.capture.spectrum import spectrogram
from ssdpt.monitor.messages import Spectrogram, Spectrum
from ssdpt.monitor.sources.snapshot import Snapshot


def band_spectrum(
    edges: np.ndarray, now: Indicators | None, baseline: IndicatorBaseline | None
) -> Spectrum:
    """Levels of the bands with these edges (bands + 1,) in Hz, beside what was learned."""
    return Spectrum(
        hz=_numbers(np.sqrt(edges[:-1] * edges[1:])),
        now=() if now is None else _numbers(now.bands_db),
        low=() if baseline is None else _numbers(baseline.lowest_db[1:]),
        mean=() if baseline is None else _numbers(baseline.usual_db[1:]),
        high=() if baseline is None else _numbers(baseline.highest_db[1:]),
    )


def snapshot_spectrogram(snapshots: Sequence[Snapshot], axis: str, seconds: float) -> Spectrogram:
    """A column for each snapshot of the last seconds, in order of time."""
    alike = alike_snapshots(snapshots)
    recent = [one for one in alike if one.time >= alike[-1].time - seconds]
    if not recent:
        return spectrogram(np.zeros((0, 0), np.float32), 0.0, np.zeros(0, np.float32), 1.0)
    last = recent[-1]
    row = last.axes.index(axis) if axis in last.axes else 0
    log_mel = LogMel(FeatureConfig(), last.sample_rate)
    columns = np.stack([log_mel(one.samples[row]).mean(0) for one in recent])
    apart = (last.time - recent[0].time) / (len(recent) - 1) if len(recent) > 1 else last.seconds
    return spectrogram(columns, recent[0].time, log_mel.frequencies, apart)


def alike_snapshots(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """Those with the sample rate and the axes of the last one."""
    return [
        one
        for one in snapshots
        if (one.sample_rate, one.axes) == (snapshots[-1].sample_rate, snapshots[-1].axes)
    ]


def _numbers(values: np.ndarray) -> tuple[float, ...]:
    return tuple(round(float(value), 2) for value in values)
