"""A machine that is listened to all the time: every second becomes a state and a reading."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from typing import Any

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.judge import MachineJudge, ScoreScale, Verdict
from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.alarms.running import RunningDetector
from ssdpt.alarms.stream_judge import StreamJudge, StreamVerdict
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.features.indicators import Indicators
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.events import descriptions
from ssdpt.monitor.events.signature import Signature, signature
from ssdpt.monitor.learning.collector import CLIP_SECONDS, BaselineCollector
from ssdpt.monitor.learning.references import References
from ssdpt.monitor.messages import (
    BandStatus,
    BaselineStatus,
    ChangePoint,
    CommissioningQuestion,
    EventLevel,
    MachineState,
    Message,
    Reading,
    ReadingTaken,
    SensorStatus,
)
from ssdpt.monitor.scoring.live_model import LiveModel, LiveScore, ScoringCursor
from ssdpt.monitor.service.band_status import band_statuses
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.normal_sound import NormalSound
from ssdpt.monitor.service.second_progress import SecondProgress
from ssdpt.monitor.service.shaft import Shaft
from ssdpt.monitor.service.stretch_progress import StretchProgress
from ssdpt.monitor.service.unusual_sound import changes_of, last_sound, message_of
from ssdpt.types import Floats, Level

_LATE_SCORE = 2.0  # seconds by which the first score may come later than a whole clip
_RECORDING_ENDED = 2.0  # seconds without sound after which no more of a recording comes


class StreamMonitor(MachineMonitor):
    """A machine whose sound comes as a stream and is scored by a model."""

    capture: AudioCapture
    collector: BaselineCollector | None

    def __init__(
        self,
        settings: MachineSettings,
        capture: AudioCapture,
        shaft: Shaft,
        model: LiveModel | None,
        section: str,
        *,
        usual_dbfs: float | None = None,
    ) -> None:
        """`section`: the machine ID within the model; `usual_dbfs`: its level while running."""
        super().__init__(settings, capture, shaft)
        self.model = model
        self.cursor = ScoringCursor(section)
        self.alarms = StreamJudge(settings.alarm, _scale(model, section))
        running = RunningDetector(settings.alarm.off_below_dbfs, usual_dbfs)
        self.normal = NormalSound(self.alarms, capture, running)
        self._progress = SecondProgress()
        self._near_alert = False  # whether the last score was above where an alert ends
        # From when on it was judged without a pause; None: the last second was not.
        self.judged_since: float | None = None
        self._stretch = StretchProgress()

    @property
    def judge(self) -> MachineJudge:
        """What judges its scores."""
        return self.alarms.scores

    @property
    def references(self) -> References:
        """What it is compared with."""
        return self.normal.references

    @property
    def section(self) -> str:
        """The machine ID within its model."""
        return self.cursor.section

    @property
    def due(self) -> bool:
        """Whether another second was captured.

        With another time, not a later one: the clock may be set back.
        """
        clip = CLIP_SECONDS if self.model is None else self.model.clip_seconds
        if self._stretch.seconds == round(clip) - 1:  # the next second completes a clip
            self.capture.complete_recording()
        levels = self.capture.levels
        return bool(levels) and levels[-1][0] != self._progress.noticed

    def look(self) -> int:
        return self._progress.notice(self.capture.levels[-1][0], self.capture.begun)

    @property
    def can_be_shed(self) -> bool:
        # Recordings wait until each second is judged.
        return not self.capture.in_files

    @property
    def urgent(self) -> bool:
        return self._near_alert or super().urgent

    @property
    def thresholds(self) -> Thresholds | None:
        return self.judge.thresholds

    @property
    def operating_point(self) -> int | None:
        return self.judge.operating_point

    @property
    def operating_points(self) -> OperatingPoints | None:
        return self.judge.baseline.points

    @property
    def sensor_status(self) -> SensorStatus:
        sensor = self.settings.sensor
        return SensorStatus(
            unit=sensor.unit,
            full_scale=sensor.scale,
            sample_rate=self.capture.rate,
            axes=sensor.axes,
            at_intervals=self.settings.source.arrives_in_files,
        )

    def start_learning(self, minutes: float) -> None:
        self.normal.forget_level()
        self.collector = BaselineCollector.for_minutes(minutes)

    def learned_values(self) -> dict[str, Any]:
        points = [point.model_dump(mode="json") for point in self.change_points]
        return {"change_points": points, **self.normal.values(self.model)}

    def restore_values(self, get: Callable[[str], Any]) -> None:
        points = get("change_points") or []
        self.change_points.extend(ChangePoint.model_validate(point) for point in points)
        self.normal.restore(get, self.model)

    def accept_false_alerts(self, per_week: float) -> None:
        self.judge.false_alerts_per_week = per_week

    def resume(self, level: Level) -> None:
        self.alarms.resume(level)

    def exclude_fault(self, begin: float, end: float | None) -> None:
        self.judge.exclude_fault(begin, self.capture.samples.end if end is None else end)

    def _lose_source(self) -> None:
        self.judge.lose_source()

    @property
    def baseline_status(self) -> BaselineStatus | None:
        return self.references.status

    @property
    def question(self) -> CommissioningQuestion | None:
        commissioning = self.alarms.commissioning
        if not commissioning.asking or commissioning.since is None:
            return None
        return CommissioningQuestion(message=descriptions.QUESTION, since=commissioning.since)

    @property
    def bands(self) -> tuple[BandStatus, ...]:
        now = () if self.last is None else self.last.bands_db
        return band_statuses(self.references.indicators, self.capture.band_edges, now)

    def continue_from(self, previous: MachineMonitor) -> None:
        """Go on from the same machine before its settings changed."""
        super().continue_from(previous)
        if not isinstance(previous, StreamMonitor):
            return
        if previous.capture is self.capture:
            self._progress = previous._progress
            self.judged_since = previous.judged_since
            self._stretch = previous._stretch
        same_model = previous.model is self.model
        if same_model:
            self.normal.continue_from(previous.normal)
        self.alarms.continue_from(previous.alarms, same_model=same_model)

    def adopt(
        self, model: LiveModel, points: OperatingPoints | None, references: References
    ) -> None:
        """Be judged by a newly learned model, and compared with its references, from now on."""
        sections = model.detector.sections
        section = sections[0] if len(sections) == 1 else self.settings.section
        self.model, self.cursor = model, ScoringCursor(section)
        scale = _scale(model, section)
        assert scale is not None
        self.normal.adopt(scale, points, references)

    def accept_drift(self) -> None:
        """Take the recent scores as usual, and the sound of the last minutes as normal."""
        now = None if self.last is None else self.last.time
        self.normal.accept_drift(now, self.judged_since)

    def accept_as_healthy(self) -> None:
        """A person says that it is healthy, though it sounds different from the start.

        Thresholds move at once; its model learns the sound afterwards.
        """
        now = None if self.last is None else self.last.time
        self.normal.accept_as_healthy(now, self.judged_since)

    def report_fault(self) -> list[Message]:
        """A person says that what sounds different from the start is a fault."""
        level: EventLevel = "alarm" if self.judge.alarm.level == "alarm" else "alert"
        self.alarms.commissioning.answer()
        self.alarms.resume(level)
        if self.last is None or "anomaly" in self.events.ongoing:
            return []
        thresholds = self.thresholds
        threshold = None if thresholds is None else thresholds.alert
        now, score = self.last.time, self.last.smoothed
        return [
            *self._change_state(level, now, score),
            *self._begin_anomaly(level, now, score, threshold),
        ]

    def replace_model(self, model: LiveModel) -> None:
        """The same model with more normal clips: the baseline stays."""
        self.model = model
        self.judge.scale = _scale(model, self.section)

    def process(self, score: LiveScore | None, *, scored: bool = True) -> list[Message]:
        """Process the last captured second, which the model scored as `score`."""
        now, loudness = self.capture.levels[-1]
        if now < self._progress.processed:
            self._clock_set_back()
        # What was measured of seconds that were left out counts all the same.
        left_out = self._progress.process(now, self.capture.begun, list(self.capture.levels))
        messages = self._follow_gap()
        if score is not None and not math.isfinite(score.value):
            score = None
        messages += self._report_source(now, self.health.update(now, loudness, lost=False))
        spectrum, indicators = self.capture.spectrum(now), self.capture.indicators_at(now)
        for end, level in left_out:
            self.judge.add_second(self.capture.spectrum(end), level.dbfs, self.operation)
        self.judge.add_second(spectrum, loudness.dbfs, self.operation)
        steps = [*(self.capture.indicators_at(end) for end, _ in left_out), indicators]
        state, verdict = self._decide(now, loudness, steps, score, scored=scored)
        held = not scored and verdict is None and self.judged_since is not None
        self.normal.learn(now, state, loudness.dbfs, spectrum, indicators, self.model)
        smoothed = None if verdict is None else verdict.scores.smoothed
        p_value = None if verdict is None else verdict.scores.p_value
        if held and self.last is not None:
            smoothed, p_value = self.last.smoothed, self.last.p_value
        waits = state == "starting" and self.capture.in_files and self.model is not None
        if not waits:
            messages += self._stretch.release(None if verdict is None else verdict.level)
            messages += self._change_state(state, now, smoothed)
        if verdict is not None:
            messages += self._report_drift(now, verdict.scores)
            self._note_change(now, verdict, indicators)
            if verdict.commissioned:
                self.references.commissioned_at = now
        # An event does not end because nothing can be judged, or was not asked.
        if state != "starting" and not held:
            messages += self._report_anomaly(now, verdict)
        self.last = Reading(
            machine=self.id,
            time=now,
            state=state,
            level_dbfs=loudness.dbfs,
            score=score.value if verdict and score else None,
            smoothed=smoothed,
            p_value=p_value,
            parts=score.parts if verdict and score else {},
            bands_db=() if indicators is None else _decibels(indicators.bands_db),
        )
        self._add_recent(now, smoothed)
        if waits:
            self._stretch.hold(self.last)
            return messages
        return [*messages, ReadingTaken(reading=self.last)]

    def check_lost(self) -> list[Message]:
        """Called every second of real time."""
        silent = clock.monotonic() - self.capture.last_chunk_at > _RECORDING_ENDED
        return [*(self._stretch.release(None) if silent else []), *super().check_lost()]

    def _follow_gap(self) -> list[Message]:
        """Nothing lasts across a gap."""
        if not self._stretch.add_second(self.capture.begun):
            return []
        self.normal.running.pause()
        self.alarms.follow_gap()
        return self._stretch.release(None)

    def _decide(
        self,
        now: float,
        loudness: Loudness,
        steps: list[Indicators | None],
        score: LiveScore | None,
        *,
        scored: bool,
    ) -> tuple[MachineState, StreamVerdict | None]:
        """The state after this second, and the verdict where it was judged.

        `steps`: the indicators of every second since the one before.
        """
        # While learning, how loud it runs may be what is to be learned anew.
        quietest = None if self.learning else self.judge.baseline.quietest_dbfs
        running = not loudness.silent and self.normal.running.update(now, loudness.dbfs, quietest)
        reported = self._update_reported_running(now)
        if reported.known:
            running = not reported.off
        if not running or self.learning or reported.settling:
            self._near_alert = False
            self.alarms.stop()
            self.judged_since = None
            if reported.settling:
                return "starting", None
            return "learning" if running else "off", None
        for indicators in steps:
            self.alarms.add_second(indicators)
        if not scored and self.judged_since is not None:
            return self.alarms.level, None  # until the next score
        if score is None or self.model is None:
            self.judged_since = None
            return "starting", None  # after a gap too, until a whole clip is captured
        # The first score covers a whole clip that was not judged before.
        clip = self.model.clip_seconds
        new, after_gap = self._progress.judge(now), False
        if self.judged_since is None:
            # A recording is judged as a whole. A stream goes on: one clip does not end a level.
            after_gap = self.capture.in_files and self._stretch.seconds < clip + _LATE_SCORE
            new = max(clip, float(self._stretch.seconds)) if after_gap else clip
            self.judged_since = now - new
        verdict = self.alarms.update(now, new, score.value, after_gap=after_gap)
        self._near_alert = verdict.scores.smoothed >= verdict.scores.thresholds.alert_exit
        return verdict.level, verdict

    def _note_change(
        self, now: float, verdict: StreamVerdict, indicators: Indicators | None
    ) -> None:
        """Keep when a lasting change began."""
        if verdict.change_began is None:
            return
        findings = self.alarms.early.findings(indicators, self.capture.band_edges)
        level: EventLevel = "alarm" if verdict.level == "alarm" else "alert"
        began = now - verdict.change_began
        self.change_points.append(ChangePoint(time=began, level=level, findings=findings))

    def _clock_set_back(self) -> None:
        """Everything counted in time starts again."""
        super()._clock_set_back()
        self.normal.running.pause()

    def _report_anomaly(self, now: float, verdict: StreamVerdict | None) -> list[Message]:
        if verdict is None or verdict.level == "normal":
            quiet = 0.0 if verdict is None else verdict.scores.seconds
            return [*self.events.end("anomaly", now), *self.events.add_quiet(quiet)]
        level: EventLevel = "alarm" if verdict.level == "alarm" else "alert"
        if "anomaly" in self.events.ongoing:
            return self.events.update_anomaly(level, now, verdict.scores.smoothed)
        if self.muted or verdict.holds_event:
            return []
        return self._begin_anomaly(level, now, verdict.scores.smoothed, verdict.threshold)

    def _begin_anomaly(
        self, level: EventLevel, now: float, score: float | None, threshold: float | None
    ) -> list[Message]:
        samples = last_sound(self.capture, now)
        begin = now - len(samples) / self.capture.rate
        findings = self.find_changes(samples, begin)
        return self.events.begin(
            "anomaly",
            level,
            now,
            message_of(self.judge, self.capture, self.normal.running.usual_dbfs, findings),
            peak=score,
            threshold=threshold,
            findings=findings,
            baseline_learned_at=self.references.learned_at,
            speed_rpm=self.shaft.rpm(begin, now),
        )

    def find_changes(self, samples: Floats, begin: float) -> tuple[Finding, ...]:
        """How an unusual sound (samples,) differs from the normal one; () where that is unknown.

        `begin`: its time, for the speed of the shaft.
        """
        rate = self.capture.rate
        lines = self.shaft.lines(begin, begin + len(samples) / rate)
        return changes_of(self.references.sound, samples, rate, lines)

    def signature(self, samples: Floats) -> Signature:
        """How a sound (samples,) differs from the normal one, to recognise it again."""
        return signature(self.references.sound, samples, self.capture.rate)

    def _report_drift(self, now: float, verdict: Verdict) -> list[Message]:
        if not verdict.drifted:
            return self.events.end("drift", now)
        if "drift" in self.events.ongoing or self.muted:
            return []
        return self.events.begin(
            "drift",
            "alert",
            now,
            descriptions.DRIFT,
            peak=verdict.smoothed,
            baseline_learned_at=self.references.learned_at,
        )


def _decibels(levels: Floats) -> tuple[float, ...]:
    return tuple(round(float(level), 2) for level in levels)


def _scale(model: LiveModel | None, section: str) -> ScoreScale | None:
    if model is None:
        return None
    return ScoreScale(model.detector.calibration.tail(section), model.clip_seconds)
