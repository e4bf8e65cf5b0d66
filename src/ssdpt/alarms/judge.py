"""What the scores of one machine mean: at its operating point, against its limits, over time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ssdpt.alarms.baseline import LEAST_LATELY, Baseline
from ssdpt.alarms.drift import has_drifted
from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine, Smoother
from ssdpt.alarms.thresholds import Thresholds, thresholds_for
from ssdpt.monitor.scoring.live_model import LiveModel, ScoringCursor
from ssdpt.types import Floats, Level

_POINT_SECONDS = 10  # that tell the operating point: about a clip


@dataclass(frozen=True, slots=True)
class Verdict:
    """On one second of a machine."""

    level: Level
    smoothed: float  # what the limits are compared with
    p_value: float  # share of normal clips that score at least so high
    limits: Thresholds
    drifted: bool


class MachineJudge:
    """The model of one machine and everything that its scores are weighed by."""

    def __init__(self, settings: AlarmSettings, model: LiveModel | None, section: str) -> None:
        self.settings, self.model = settings, model
        self.place = ScoringCursor(section)
        self.per_week = settings.per_week
        self.baseline = Baseline(settings.shortest)
        self.levels = AlarmStateMachine(settings)
        self.point: int | None = None  # number of the operating point now; None: not known
        self._smoother = Smoother(settings.smoothing)
        # Spectra (bins,) in dB and levels in dBFS of the seconds of the last clip.
        self._seconds: deque[tuple[Floats, float]] = deque(maxlen=_POINT_SECONDS)
        # Seconds of sound that were judged so far. What lies in a gap does not count: neither
        # towards a level nor against it.
        self._heard = 0.0
        self._learnt_from = 0.0  # how far that was at the last clip the points are learnt from

    @property
    def limits(self) -> Thresholds | None:
        """None while there is no model."""
        return None if self.model is None else self.limits_at(self.per_week)

    def limits_at(self, per_week: float) -> Thresholds:
        """What the limits would be with so many false alerts a week."""
        assert self.model is not None
        found = thresholds_for(
            self.model.detector.calibration.tail(self.place.section),
            self.baseline.marks,
            self.settings.model_copy(update={"per_week": per_week}),
            clip_seconds=self.model.clip_seconds,
        )
        return found.shifted(self.baseline.shift)

    def hear(self, spectrum: Floats | None, level_dbfs: float) -> None:
        """One second: its spectrum (bins,) in dB, and how loud it was."""
        if spectrum is not None:
            self._seconds.append((spectrum, level_dbfs))

    def judge(self, now: float, seconds: float, score: float) -> Verdict:
        """The score of the last clip, of which `seconds` are new since the last one."""
        limits, baseline, model = self.limits, self.baseline, self.model
        assert limits is not None
        assert model is not None
        mean = self._mean_spectrum()
        score_here = score
        if baseline.points is not None and mean is not None:
            self.point = baseline.points.at(mean)
            score_here = baseline.points.adjusted(score, self.point)
        self._heard += seconds
        smoothed = self._smoother.add(self._heard, score_here)
        level = self.levels.update(self._heard, smoothed, limits)
        normal = level == "normal"
        baseline.update(now, self._heard, smoothed - baseline.shift, seconds, normal=normal)
        if baseline.points is None and mean is not None and normal:
            self._learn_points(mean, score)
        tail = model.detector.calibration.tail(self.place.section)
        return Verdict(
            level=level,
            smoothed=smoothed,
            p_value=tail.p_value(smoothed - baseline.shift),
            limits=limits,
            drifted=has_drifted(baseline.long, limits.shifted(-baseline.shift)),
        )

    def stop(self) -> None:
        """The machine is off, or not judged by this model: whatever level there was is over."""
        self._smoother.clear()
        self.levels.reset()
        self._seconds.clear()
        self.baseline.marks.pause()
        self.point = None

    @property
    def may_move(self) -> bool:
        """Whether it was judged for long enough to take a new baseline."""
        return self.model is not None and self.baseline.lately.seconds >= LEAST_LATELY

    def move_baseline(self) -> None:
        """Take the scores it has now as usual."""
        self.baseline.marks.forget()
        limits = self.limits
        assert limits is not None
        self.baseline.move(limits.shifted(-self.baseline.shift))
        self.stop()

    def follow(self, before: MachineJudge) -> None:
        """Go on with what the judge before has learnt of the same machine and model."""
        self.levels.level = before.levels.level
        if before.model is self.model:
            self.baseline = before.baseline
            self.baseline.marks.shortest = self.settings.shortest
            self.baseline.marks.pause()  # seconds are counted from here on

    def adopt(self, model: LiveModel, section: str, points: OperatingPoints | None) -> None:
        """Be judged by this model from now on."""
        known = model.detector.sections
        self.model = model
        self.place = ScoringCursor(known[0] if len(known) == 1 else section)
        self.baseline = Baseline(self.settings.shortest)
        self.baseline.points = points
        self.stop()

    def _mean_spectrum(self) -> Floats | None:
        """Over the seconds that the score rests on; None while some are missing."""
        whole = len(self._seconds) == _POINT_SECONDS
        return np.mean([spectrum for spectrum, _ in self._seconds], axis=0) if whole else None

    def _learn_points(self, spectrum: Floats, score: float) -> None:
        """Clips that overlap say the same: one a clip's length."""
        if self._heard - self._learnt_from >= _POINT_SECONDS:
            self._learnt_from = self._heard
            level = float(np.mean([level for _, level in self._seconds]))
            self.baseline.learner.add(spectrum, level, score)
