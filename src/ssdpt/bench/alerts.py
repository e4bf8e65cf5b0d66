"""False alerts: how many a week the limits of a machine give, of how many were asked for.

No machine can be listened to for a year here. Scores are drawn instead, of a kind of which the
limits know nothing: as single clips at first, then as days and weeks of running, in which the
machine is judged by the limits of the time, false alerts included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ssdpt.alarms.baseline import Baseline
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine
from ssdpt.alarms.thresholds import Thresholds, thresholds_for
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import Tail, fit_tail

_DAY, _WEEK = 86400, 604800  # seconds
_CLIP = 10  # seconds
_CLIPS = 60  # of the baseline: ten minutes
_SLOW = 600.0  # seconds that a slow swing lasts
LISTENED = (0, 1, 7, 28)  # days
_ASKED = (0.1, 1.0, 10.0)  # false alerts a week


@dataclass(frozen=True, slots=True)
class AlertRow:
    """What came of it when so much was asked after so many days."""

    scores: str
    days: int  # listened to; 0: clips of the baseline alone
    asked: float  # false alerts a week
    found: float


def bench_alerts(
    weeks: int, seed: int, listened: Sequence[int] = LISTENED, reporter: Reporter = SILENT
) -> dict[str, Any]:
    """Thresholds from a baseline and from days of running, each tried on `weeks` of normal scores.

    `listened`: days after which limits are looked at, rising; 0 is before any.
    """
    rows: list[AlertRow] = []
    with reporter.task("weeks of scores", total=len(_KINDS)) as task:
        for name, draw in _KINDS.items():
            rng = np.random.default_rng(seed)
            known = draw(max(listened[-1] * _DAY, _CLIPS * _CLIP), rng)
            rows += _rows(name, known, draw(weeks * _WEEK, rng), weeks, listened)
            task.advance()
    return {"weeks": weeks, "clips": _CLIPS, "rows": [asdict(row) for row in rows]}


def _rows(
    name: str, known: np.ndarray, tried: np.ndarray, weeks: int, listened: Sequence[int]
) -> list[AlertRow]:
    settings = AlarmSettings()
    tail = fit_tail([known[: _CLIPS * _CLIP : _CLIP]], DecisionConfig(), 0)
    heard, smoothed = _mean(known, settings.smoothing), _mean(tried, settings.smoothing)
    found = []
    baseline, keeper, day = Baseline(settings.shortest), AlarmStateMachine(settings), 0
    for days in listened:
        _listen(heard[day * _DAY : days * _DAY], day * _DAY, baseline, keeper, tail)
        day = days
        for asked in _ASKED:
            wanted = settings.model_copy(update={"per_week": asked})
            limits = thresholds_for(tail, baseline.marks, wanted, clip_seconds=_CLIP)
            found.append(AlertRow(name, days, asked, alerts(smoothed, limits, settings) / weeks))
    return found


def _listen(
    smoothed: np.ndarray, begin: int, baseline: Baseline, keeper: AlarmStateMachine, tail: Tail
) -> None:
    """Seconds of running from `begin` on, judged as a machine is."""
    marks, limits = -1, None
    for second, score in enumerate(smoothed.tolist(), begin):
        if limits is None or len(baseline.marks.highest) != marks:  # they change with them only
            marks = len(baseline.marks.highest)
            limits = thresholds_for(tail, baseline.marks, keeper.settings, clip_seconds=_CLIP)
        level = keeper.update(second, score, limits)
        baseline.update(second, second, score, 1.0, normal=level == "normal")


def alerts(smoothed: np.ndarray, limits: Thresholds, settings: AlarmSettings) -> int:
    """How often a machine with these scores, one a second, goes into alert.

    As `AlarmStateMachine` has it, but for years of seconds.
    """
    begins = np.flatnonzero(_lasted(smoothed, settings.shortest) > limits.alert)
    ends = np.flatnonzero(-_lasted(-smoothed, settings.settle) < limits.alert_exit)
    count, now = 0, 0
    while (place := np.searchsorted(begins, now)) < len(begins):
        count += 1
        after = np.searchsorted(ends, begins[place])
        if after == len(ends):
            break
        now = int(ends[after])
    return count


def _mean(scores: np.ndarray, seconds: float) -> np.ndarray:
    """Over the last `seconds`."""
    from scipy.ndimage import uniform_filter1d

    size = round(seconds)
    return np.asarray(uniform_filter1d(scores, size, origin=(size - 1) // 2))


def _lasted(scores: np.ndarray, seconds: float) -> np.ndarray:
    """The lowest from `seconds` ago until now."""
    from scipy.ndimage import minimum_filter1d

    size = round(seconds) + 1
    return np.asarray(minimum_filter1d(scores, size, origin=(size - 1) // 2))


def _drawn(
    noise: Callable[[int, np.random.Generator], np.ndarray], slow: float
) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Scores of clips that overlap, with a slow swing of that part of their variance."""

    def draw(seconds: int, rng: np.random.Generator) -> np.ndarray:
        from scipy.signal import lfilter

        fast = np.sqrt(_CLIP) * _mean(noise(seconds, rng), _CLIP)
        keep = np.exp(-1 / _SLOW)
        swing = lfilter([np.sqrt(1 - keep**2)], [1, -keep], rng.standard_normal(seconds))
        return np.asarray(np.sqrt(1 - slow) * fast + np.sqrt(slow) * swing)

    return draw


def _skewed(seconds: int, rng: np.random.Generator) -> np.ndarray:
    return rng.gamma(0.5, np.sqrt(2.0), seconds) - np.sqrt(0.5)


_KINDS = {
    "steady": _drawn(lambda seconds, rng: rng.standard_normal(seconds), 0.1),
    "slow swings": _drawn(lambda seconds, rng: rng.standard_normal(seconds), 0.6),
    "skewed": _drawn(_skewed, 0.1),
    "heavy tails": _drawn(lambda seconds, rng: rng.standard_t(4, seconds), 0.1),
}
