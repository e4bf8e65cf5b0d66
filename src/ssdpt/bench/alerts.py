"""False alerts: how many per week the thresholds of a machine give, for how many requested.

No machine can be recorded for a year here. Instead, scores are drawn at random, from distributions
that the thresholds know nothing about: first as single clips, then as days and weeks of running.
The machine is judged by its thresholds at the time, and its false alerts are part of its history.
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
_CLIP_SECONDS = 10
_CLIPS = 60  # of the baseline: ten minutes
_SLOW_SECONDS = 600.0  # time constant of slow variation
DAYS = (0, 1, 7, 28)
_REQUESTED = (0.1, 1.0, 10.0)  # false alerts per week

Draw = Callable[[int, np.random.Generator], np.ndarray]  # seconds → scores (seconds,)


@dataclass(frozen=True, slots=True)
class AlertRow:
    """False alerts per week after some days of running."""

    scores: str  # kind of distribution
    days: int  # of running; 0: only the clips of the baseline
    requested: float
    observed: float


def bench_alerts(
    weeks: int, seed: int, days: Sequence[int] = DAYS, reporter: Reporter = SILENT
) -> dict[str, Any]:
    """Thresholds from a baseline and from days of running, each tested on `weeks` of normal scores.

    `days`: days of running after which thresholds are tested, rising; 0 is before any.
    """
    rows: list[AlertRow] = []
    with reporter.task("weeks of scores", total=len(_KINDS)) as task:
        for name, draw in _KINDS.items():
            rng = np.random.default_rng(seed)
            history = draw(max(days[-1] * _DAY, _CLIPS * _CLIP_SECONDS), rng)
            rows += _rows(name, history, draw(weeks * _WEEK, rng), weeks, days)
            task.advance()
    return {"weeks": weeks, "clips": _CLIPS, "rows": [asdict(row) for row in rows]}


def _rows(
    name: str, history: np.ndarray, test: np.ndarray, weeks: int, days: Sequence[int]
) -> list[AlertRow]:
    """`history`, `test`: scores (seconds,) to learn thresholds from and to test them on."""
    settings = AlarmSettings()
    tail = fit_tail([history[: _CLIPS * _CLIP_SECONDS : _CLIP_SECONDS]], DecisionConfig(), 0)
    history, test = _mean(history, settings.smoothing), _mean(test, settings.smoothing)
    rows = []
    baseline, machine, last = Baseline(settings.min_duration), AlarmStateMachine(settings), 0
    for day in days:
        run_machine(history[last * _DAY : day * _DAY], last * _DAY, baseline, machine, tail)
        last = day
        for requested in _REQUESTED:
            changed = settings.model_copy(update={"false_alerts_per_week": requested})
            thresholds = thresholds_for(tail, baseline.blocks, changed, clip_seconds=_CLIP_SECONDS)
            observed = count_alerts(test, thresholds, settings) / weeks
            rows.append(AlertRow(name, day, requested, observed))
    return rows


def run_machine(
    smoothed: np.ndarray, begin: int, baseline: Baseline, machine: AlarmStateMachine, tail: Tail
) -> None:
    """Judge smoothed scores (seconds,) from second `begin` on, as `MachineJudge` does.

    Thresholds are computed once per block and not every second, since years are judged here.
    """
    blocks, thresholds = -1, None
    for second, score in enumerate(smoothed.tolist(), begin):
        if thresholds is None or len(baseline.blocks.highest) != blocks:
            blocks = len(baseline.blocks.highest)
            thresholds = thresholds_for(
                tail, baseline.blocks, machine.settings, clip_seconds=_CLIP_SECONDS
            )
        level = machine.update(second, score, thresholds)
        baseline.update(second, second, score, 1.0, normal=level == "normal")


def count_alerts(smoothed: np.ndarray, thresholds: Thresholds, settings: AlarmSettings) -> int:
    """How often a machine with these scores (seconds,) goes into alert.

    The rule of `AlarmStateMachine`, fast enough for years of seconds.
    """
    begins = np.flatnonzero(_lasting(smoothed, settings.min_duration) > thresholds.alert)
    ends = np.flatnonzero(-_lasting(-smoothed, settings.clear_after) < thresholds.alert_exit)
    count, now = 0, 0
    while (next_begin := np.searchsorted(begins, now)) < len(begins):
        count += 1
        next_end = np.searchsorted(ends, begins[next_begin])
        if next_end == len(ends):
            break
        now = int(ends[next_end])
    return count


def _mean(scores: np.ndarray, seconds: float) -> np.ndarray:
    """Mean of the last `seconds`, at every second."""
    from scipy.ndimage import uniform_filter1d

    size = round(seconds)
    return np.asarray(uniform_filter1d(scores, size, origin=(size - 1) // 2))


def _lasting(scores: np.ndarray, seconds: float) -> np.ndarray:
    """The lowest score from `seconds` ago until now, at every second."""
    from scipy.ndimage import minimum_filter1d

    size = round(seconds) + 1
    return np.asarray(minimum_filter1d(scores, size, origin=(size - 1) // 2))


def _scores_of(noise: Draw, slow: float) -> Draw:
    """Scores of overlapping clips; `slow`: the share of slow variation in their variance."""

    def draw(seconds: int, rng: np.random.Generator) -> np.ndarray:
        from scipy.signal import lfilter

        fast = np.sqrt(_CLIP_SECONDS) * _mean(noise(seconds, rng), _CLIP_SECONDS)
        keep = np.exp(-1 / _SLOW_SECONDS)
        variation = lfilter([np.sqrt(1 - keep**2)], [1, -keep], rng.standard_normal(seconds))
        return np.asarray(np.sqrt(1 - slow) * fast + np.sqrt(slow) * variation)

    return draw


def _normal(seconds: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal(seconds)


def _skewed(seconds: int, rng: np.random.Generator) -> np.ndarray:
    return rng.gamma(0.5, np.sqrt(2.0), seconds) - np.sqrt(0.5)


def _heavy_tailed(seconds: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_t(4, seconds)


_KINDS = {
    "steady": _scores_of(_normal, 0.1),
    "slow variation": _scores_of(_normal, 0.6),
    "skewed": _scores_of(_skewed, 0.1),
    "heavy tails": _scores_of(_heavy_tailed, 0.1),
}
