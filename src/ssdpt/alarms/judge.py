"""What the scores of one machine mean, at its operating point and against its thresholds."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.alarms.baseline import MIN_RECENT_SECONDS, Baseline
from ssdpt.alarms.drift import has_drifted
from ssdpt.alarms.operating_points import OperatingPointLearner, OperatingPoints
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.speed_and_load import SpeedAndLoad
from ssdpt.alarms.state_machine import AlarmStateMachine, Smoother
from ssdpt.alarms.thresholds import Thresholds, thresholds_for
from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import Tail, fit_tail
from ssdpt.types import Floats, Level

_POINT_SECONDS = 10  # of sound that decide on the operating point: about a clip


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """How the model that scores a machine scores its normal clips."""

    tail: Tail
    clip_seconds: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """On one second of a machine."""

    level: Level
    score: float  # of the last clip alone, at its operating point
    smoothed: float  # the score that is compared with the thresholds
    p_value: float  # share of normal clips that score at least so high
    thresholds: Thresholds
    drifted: bool
    seconds: float  # of sound that were not judged before


class MachineJudge:
    """Turns the scores of one machine into levels."""

    def __init__(self, settings: AlarmSettings, scale: ScoreScale | None) -> None:
        """`scale` is None while the machine has no model."""
        self.settings, self.scale = settings, scale
        self.false_alerts_per_week = settings.false_alerts_per_week
        self.baseline = Baseline(settings.min_duration)
        self.alarm = AlarmStateMachine(settings)
        self.operating_point: int | None = None  # its number now; None: not known
        self._smoother = Smoother(settings.smoothing)
        # Mean spectrum (bins,) in dB, level in dBFS, speed and load of each second of the clip.
        self._seconds: deque[tuple[Floats, float, SpeedAndLoad]] = deque(maxlen=_POINT_SECONDS)
        # Seconds of sound judged so far. Gaps do not count, neither towards a level nor against it.
        self._running_time = 0.0
        self._last_point_clip = 0.0  # running time of the last clip given to the point learner
        # The model's tail, the scores of the first hour, and the tail of both.
        self._commissioned: tuple[Tail, list[float], Tail] | None = None

    @property
    def tail(self) -> Tail:
        """How normal clips score: those of the model, and the first normal hour once it is over."""
        assert self.scale is not None
        tail, first_hour, known = self.scale.tail, self.baseline.first_hour, self._commissioned
        if not first_hour:
            return tail
        if known is None or known[0] is not tail or known[1] is not first_hour:
            known = self._commissioned = tail, first_hour, _joined(tail, np.array(first_hour))
        return known[2]

    @property
    def thresholds(self) -> Thresholds | None:
        """None while there is no model."""
        return None if self.scale is None else self.thresholds_at(self.false_alerts_per_week)

    def thresholds_at(self, false_alerts_per_week: float) -> Thresholds:
        """What the thresholds would be for so many false alerts per week."""
        assert self.scale is not None
        thresholds = thresholds_for(
            self.tail,
            self.baseline.blocks,
            self.settings.model_copy(update={"false_alerts_per_week": false_alerts_per_week}),
            clip_seconds=self.scale.clip_seconds,
        )
        return thresholds.shifted(self.baseline.shift)

    def add_second(
        self, spectrum: Floats | None, level_dbfs: float, operation: SpeedAndLoad | None = None
    ) -> None:
        """Take the mean spectrum (bins,) in dB, sound level, speed and load of one second."""
        if spectrum is not None:
            self._seconds.append((spectrum, level_dbfs, operation or SpeedAndLoad()))

    def update(
        self,
        now: float,
        seconds: float,
        score: float,
        *,
        after_gap: bool = False,
        changed: bool = False,
    ) -> Verdict:
        """Judge the score of the last clip, of which `seconds` are new since the last one.

        `after_gap`: it is the first one after a gap, and has lasted for all of these seconds. So a
        recording of one clip's length is judged when it has come, and not with the next one.
        `changed`: the machine sounds different by other signs: its scores are not usual ones.
        """
        thresholds, baseline = self.thresholds, self.baseline
        assert thresholds is not None
        spectrum = self._mean_spectrum()
        score_at_point = score
        if baseline.points is not None and spectrum is not None:
            self.operating_point = baseline.points.at(spectrum, self._operation)
            score_at_point = baseline.points.adjusted(score, self.operating_point)
        since = self._running_time if after_gap else None
        self._running_time += seconds
        smoothed = self._smoother.update(self._running_time, score_at_point)
        level = self.alarm.update(self._running_time, smoothed, thresholds, since=since)
        normal = level == "normal" and not changed
        unshifted = smoothed - baseline.shift
        baseline.update(now, self._running_time, unshifted, seconds, normal=normal, since=since)
        if baseline.points is None and spectrum is not None and normal:
            self._collect_point_clip(spectrum, score)
        return Verdict(
            level=level,
            score=score_at_point,
            smoothed=smoothed,
            p_value=self.tail.p_value(unshifted),
            thresholds=thresholds,
            drifted=has_drifted(baseline.long_term, thresholds.shifted(-baseline.shift)),
            seconds=seconds,
        )

    def stop(self) -> None:
        """The machine is off or not judged: its level ends."""
        self._smoother.reset()
        self.alarm.reset()
        self._seconds.clear()
        self.baseline.blocks.pause()
        self.operating_point = None

    def lose_source(self) -> None:
        """No sound arrives: the operating point is not known any more."""
        self.operating_point = None

    def resume(self, level: Level) -> None:
        """The service has restarted during an event of this level."""
        self.alarm.level = level

    def exclude_fault(self, begin: float, end: float) -> None:
        """A person says that there was a fault: its scores set no thresholds."""
        self.baseline.blocks.drop(begin, end)

    def name_point(self, number: int, name: str) -> None:
        """Name an operating point, counted from 1; IndexError where there is none."""
        if self.baseline.points is None:
            raise IndexError(number)
        self.baseline.points = self.baseline.points.named(number, name)

    def take_point_learner(self) -> OperatingPointLearner | None:
        """The clips that operating points can be learned from, once there are enough."""
        baseline = self.baseline
        if baseline.points is not None or not baseline.learner.ready:
            return None
        learner, baseline.learner = baseline.learner, OperatingPointLearner()
        return learner

    @property
    def can_accept_drift(self) -> bool:
        """Whether it was judged long enough."""
        return self.scale is not None and self.baseline.recent.seconds >= MIN_RECENT_SECONDS

    def accept_drift(self) -> None:
        """Take the recent scores as usual."""
        self.baseline.blocks.reset()
        thresholds = self.thresholds
        assert thresholds is not None
        self.baseline.accept_drift(thresholds.shifted(-self.baseline.shift))
        self.stop()

    def allow(self, scores: Sequence[float]) -> None:
        """Move the thresholds as far as clips of the healthy machine with these scores need."""
        self.baseline.shift = 0.0
        thresholds = self.thresholds
        assert thresholds is not None
        self.baseline.allow(float(np.mean(scores)), max(scores), thresholds)

    def commission(self, scores: np.ndarray) -> None:
        """Set the thresholds with the scores (clips,) of the first hour too."""
        self.baseline.first_hour = [float(score) for score in scores]

    def continue_from(self, previous: MachineJudge, *, same_model: bool) -> None:
        """Go on from the judge of the same machine before its settings changed."""
        self.alarm.level = previous.alarm.level
        if same_model:
            self.baseline = previous.baseline
            self.baseline.blocks.lasting.min_duration = self.settings.min_duration
            # The current block and the length of its alert go on too.
            self._running_time = previous._running_time
            self._last_point_clip = previous._last_point_clip

    def adopt(self, scale: ScoreScale, points: OperatingPoints | None) -> None:
        """Use the scores of a newly learned model from now on."""
        self.scale = scale
        self.baseline = Baseline(self.settings.min_duration)
        self.baseline.points = points
        self.stop()

    def _mean_spectrum(self) -> Floats | None:
        """Over the seconds of the last clip; None while some are missing."""
        complete = len(self._seconds) == _POINT_SECONDS
        return np.mean([spectrum for spectrum, _, _ in self._seconds], axis=0) if complete else None

    @property
    def _operation(self) -> SpeedAndLoad:
        """Speed and load of the last clip."""
        return SpeedAndLoad.over([operation for _, _, operation in self._seconds])

    def _collect_point_clip(self, spectrum: Floats, score: float) -> None:
        """One clip per clip length: overlapping ones say the same."""
        if self._running_time - self._last_point_clip >= _POINT_SECONDS:
            self._last_point_clip = self._running_time
            level_dbfs = float(np.mean([dbfs for _, dbfs, _ in self._seconds]))
            self.baseline.learner.add(spectrum, level_dbfs, score, self._operation)


def _joined(tail: Tail, scores: np.ndarray) -> Tail:
    """The tail of the clips behind `tail`, at most as many as there are scores, and of `scores`."""
    clips = min(tail.clips, len(scores))
    ranks = (np.arange(clips) + 0.5) / clips
    learned = np.array([tail.threshold(float(rank)) for rank in ranks])
    return fit_tail([np.concatenate([learned, scores])], DecisionConfig(), 0)
