"""Plain rules that a run to failure is also judged by, for comparison.

Each takes the snapshots up to a moment and nothing of the future. Rules on clips read as many
snapshots in a row as fill a second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ssdpt.features.indicators import Indicators

_DEVIATIONS = 6.0  # standard deviations above the mean of the learning part
_CLIPS_IN_A_ROW = 3
_BAND_DB = 6.0
_SNAPSHOTS_IN_A_ROW = 6
_BAND_MEAN = 12  # snapshots: two minutes at one every ten seconds


def rms_alarm(steps: Sequence[Indicators], learned: slice, clip_steps: int) -> int | None:
    """First snapshot at which the root mean square of three clips was above mean + 6 σ."""
    power = _power(np.array([step.level_db for step in steps]))
    return _six_sigma(np.sqrt(_clip_means(power, clip_steps)), learned, clip_steps)


def kurtosis_alarm(steps: Sequence[Indicators], learned: slice, clip_steps: int) -> int | None:
    """The same of the kurtosis."""
    kurtosis = np.array([step.kurtosis for step in steps])
    return _six_sigma(_clip_means(kurtosis, clip_steps), learned, clip_steps)


def gaussian_alarm(steps: Sequence[Indicators], learned: slice, clip_steps: int) -> int | None:
    """The same of the distance from one Gaussian of the band levels in dB."""
    from sklearn.covariance import LedoitWolf

    bands = _clip_means(np.array([step.bands_db for step in steps], np.float64), clip_steps)
    first, last = _clip_range(learned, clip_steps)
    gaussian = LedoitWolf().fit(bands[first:last])
    return _six_sigma(np.sqrt(gaussian.mahalanobis(bands)), learned, clip_steps)


def eight_band_alarm(steps: Sequence[Indicators], learned: slice) -> int | None:
    """First snapshot at which some band was 6 dB above its highest learned mean, six in a row."""
    bands = np.array([step.bands_db for step in steps], np.float64)  # (snapshots, bands)
    means = sliding_window_view(_power(bands[learned]), _BAND_MEAN, axis=0).mean(-1)
    above = (bands > 10 * np.log10(means.max(0)) + _BAND_DB).any(1)
    return _first_in_a_row(above, _SNAPSHOTS_IN_A_ROW, learned.stop)


def _power(db: np.ndarray) -> np.ndarray:
    return 10 ** (db / 10)


def _clip_means(values: np.ndarray, clip_steps: int) -> np.ndarray:
    """Means over clips of so many snapshots: (snapshots, …) to (clips, …)."""
    clips = len(values) // clip_steps
    return values[: clips * clip_steps].reshape(clips, clip_steps, *values.shape[1:]).mean(1)


def _clip_range(learned: slice, clip_steps: int) -> tuple[int, int]:
    """The clips that lie within the learning part."""
    return -(-learned.start // clip_steps), learned.stop // clip_steps


def _six_sigma(clips: np.ndarray, learned: slice, clip_steps: int) -> int | None:
    first, last = _clip_range(learned, clip_steps)
    normal = clips[first:last]
    above = clips > normal.mean() + _DEVIATIONS * normal.std()
    alarm = _first_in_a_row(above, _CLIPS_IN_A_ROW, last)
    return None if alarm is None else (alarm + 1) * clip_steps - 1


def _first_in_a_row(above: np.ndarray, in_a_row: int, start: int) -> int | None:
    """Where so many in a row, from `start` on, are complete."""
    count = 0
    for number in range(start, len(above)):
        count = count + 1 if above[number] else 0
        if count == in_a_row:
            return number
    return None
