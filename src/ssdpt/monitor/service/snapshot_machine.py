"""A machine that is measured at intervals: every snapshot becomes a state and a reading."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any

from ssdpt.alarms.indicator_baseline import STEPS_AVERAGED
from ssdpt.alarms.running import RunningDetector
from ssdpt.alarms.snapshot_judge import SnapshotJudge, SnapshotVerdict, measure
from ssdpt.alarms.source_health import UNUSABLE
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.features.indicators import IndicatorMeter, Indicators
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.snapshot_capture import SnapshotCapture
from ssdpt.monitor.capture.snapshot_checks import SnapshotChecks, UnusableSnapshot, form_of
from ssdpt.monitor.capture.snapshot_spectrum import (
    alike_snapshots,
    band_spectrum,
    snapshot_spectrogram,
)
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.events import descriptions
from ssdpt.monitor.events.picture import EventSound
from ssdpt.monitor.events.snapshot_sound import snapshot_sound
from ssdpt.monitor.learning.snapshot_collector import SnapshotCollector
from ssdpt.monitor.messages import (
    BandStatus,
    BaselineStatus,
    ChangePoint,
    EventChanged,
    EventLevel,
    MachineState,
    Message,
    Reading,
    ReadingTaken,
    SensorStatus,
    Spectrogram,
    Spectrum,
)
from ssdpt.monitor.scoring.live_model import LiveScore
from ssdpt.monitor.service.band_status import band_statuses
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.normal_snapshots import NormalSnapshots
from ssdpt.monitor.service.shaft import Shaft
from ssdpt.monitor.sources.snapshot import Snapshot, Unusable
from ssdpt.sentences import Sentence, clauses, said
from ssdpt.types import VIBRATION_UNITS, Level

_MAX_DISCONNECTED = 60.0  # seconds
_CHANGE_POINTS = "change_points"  # key of what is kept


class SnapshotMonitor(MachineMonitor):
    """A machine whose sensor sends short snapshots; each is judged when it arrives."""

    capture: SnapshotCapture
    collector: SnapshotCollector | None

    def __init__(self, settings: MachineSettings, capture: SnapshotCapture, shaft: Shaft) -> None:
        super().__init__(settings, capture, shaft)
        self.normal = NormalSnapshots(settings)
        self._checks = SnapshotChecks(settings.sensor, None if self.is_played else clock.time)
        self._running = _running_detector(settings)
        self._last_snapshot: Snapshot | None = None
        self._last_axes: tuple[Indicators, ...] = ()  # of that snapshot
        self._shown_axis = ""  # the one that has changed most
        self._left_out = 0  # snapshots that could not be used
        self._last_left_out = ""  # why, in a sentence

    @property
    def judge(self) -> SnapshotJudge | None:
        """What judges its snapshots; None until a baseline is learned."""
        return self.normal.judge

    # --- What is shown ----------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        return self.capture.due

    @property
    def thresholds(self) -> Thresholds | None:
        return None if self.judge is None else self.judge.thresholds

    @property
    def source_remarks(self) -> str:
        """What is to be said of the snapshots that arrived."""
        left_out = other_scale = ""
        if self._left_out:
            left_out = Sentence("sources.leftOut", count=self._left_out, last=self._last_left_out)
        if self.normal.other_scale:
            other_scale = Sentence("sources.otherScale")
        return clauses(left_out, other_scale)

    @property
    def sensor_status(self) -> SensorStatus:
        """What it is measured with."""
        sensor, snapshot = self.settings.sensor, self._last_snapshot
        form = None if self.judge is None else self.judge.form
        rate = sensor.sample_rate or 0
        axes = sensor.axes
        if snapshot is not None:
            rate, axes = snapshot.sample_rate, snapshot.axes
        elif form is not None:
            rate, axes = form.sample_rate, form.axes
        return SensorStatus(
            unit=sensor.unit,
            full_scale=sensor.scale,
            sample_rate=rate,
            axes=() if axes == ("",) else axes,
            at_intervals=True,
        )

    @property
    def baseline_status(self) -> BaselineStatus | None:
        if self.judge is None:
            return None
        baseline = self.judge.baseline
        return BaselineStatus(learned_at=baseline.learned_at, recordings=baseline.steps)

    @property
    def bands(self) -> tuple[BandStatus, ...]:
        """The bands of the axis that has changed most."""
        judge = self.judge
        if judge is None:
            return ()
        axis = self._axis_of(judge)
        step = self._axis_now(judge, axis)
        now = [] if step is None else [round(float(band), 1) for band in step.bands_db]
        return band_statuses(judge.judges[axis].baseline, judge.meter.edges, now)

    def spectrum(self) -> Spectrum:
        """The bands of the last snapshot, of the axis that has changed most."""
        judge, snapshot = self.judge, self._last_snapshot
        if judge is not None:
            axis = self._axis_of(judge)
            now = self._axis_now(judge, axis)
            return band_spectrum(judge.meter.edges, now, judge.judges[axis].baseline)
        if snapshot is None:
            return Spectrum(hz=(), now=(), low=(), mean=(), high=())
        edges = IndicatorMeter(snapshot.sample_rate, snapshot.samples.shape[1]).edges
        return band_spectrum(edges, self._last_axes[0], None)

    @property
    def shown_axis(self) -> str:
        """Name of the axis that has changed most; empty before anything was judged."""
        return self._shown_axis

    @property
    def shown_row(self) -> int:
        """Number of the axis that has changed most; there is a baseline."""
        assert self.judge is not None
        return self.judge.form.axes.index(self._axis_of(self.judge))

    def spectrogram(self, seconds: float) -> Spectrogram:
        """The snapshots of the last seconds, of the axis that has changed most."""
        return snapshot_spectrogram(self.capture.kept, self._shown_axis, seconds)

    def last_snapshots(self) -> list[Snapshot]:
        """The last ones of one form, as many as are measured together; oldest first."""
        return alike_snapshots(self.capture.kept)[-STEPS_AVERAGED:]

    def event_sound(self, end: float) -> EventSound | None:
        """The snapshots up to `end`, end to end, of the axis that has changed most."""
        return snapshot_sound(self.capture.kept, self._shown_axis, end)

    # --- What is learned --------------------------------------------------------------------------

    def start_learning(self, minutes: float) -> None:
        self._running = _running_detector(self.settings)
        self.collector = SnapshotCollector.for_minutes(minutes)

    def learned_values(self) -> dict[str, Any]:
        if self.judge is None:
            return {}
        points = [point.model_dump(mode="json") for point in self.change_points]
        return {**self.normal.values(), _CHANGE_POINTS: points}

    def restore_values(self, get: Callable[[str], Any]) -> None:
        """What has changed belongs to the baseline: it is forgotten with it."""
        self.normal.restore(get)
        if self.judge is not None:
            self.change_points.extend(
                ChangePoint.model_validate(point) for point in get(_CHANGE_POINTS) or ()
            )

    def accept_false_alerts(self, per_week: float) -> None:
        """Limits of change are fixed: they do not come from numbers of false alerts."""

    def resume(self, level: Level) -> None:
        if self.judge is not None:
            self.judge.resume(level)

    def exclude_fault(self, begin: float, end: float | None) -> None:
        """The baseline does not go on learning: no fault is in it."""

    def continue_from(self, previous: MachineMonitor) -> None:
        super().continue_from(previous)
        if isinstance(previous, SnapshotMonitor) and previous.capture is self.capture:
            self._checks, self._running = previous._checks, previous._running
            self._running.off_below_dbfs = self.settings.alarm.off_below_dbfs
            self._last_snapshot, self._last_axes = previous._last_snapshot, previous._last_axes
            self._left_out, self._last_left_out = previous._left_out, previous._last_left_out

    # --- What is judged ---------------------------------------------------------------------------

    def process(self, score: LiveScore | None, *, scored: bool = True) -> list[Message]:
        """Judge the next snapshot."""
        arrived = self.capture.take()
        try:
            if isinstance(arrived, Unusable):
                raise UnusableSnapshot(arrived.reason)
            # While a new baseline is learned, the form of the one before does not matter.
            learned = None if self.judge is None or self.learning else self.judge.form
            snapshot = self._checks.check(arrived, learned)
        except UnusableSnapshot as error:
            return self._leave_out(said(error))
        return self._judge(snapshot)

    def _leave_out(self, reason: str) -> list[Message]:
        """Neither judge a snapshot nor learn from it."""
        self._left_out += 1
        self._last_left_out = reason
        # Its own time may be what is wrong with it.
        now = max(clock.time(), self.last.time if self.last else 0.0)
        problem = self.health.add_snapshot(now, None)
        detail = Sentence("events.unusableBecause", reason=reason) if problem == UNUSABLE else ""
        messages = self._report_source(now, problem, detail)
        if problem == UNUSABLE:
            self._lose_source()
            messages += self._change_state("lost", now, None)
        return messages

    def _judge(self, snapshot: Snapshot) -> list[Message]:
        now = snapshot.end
        self.capture.keep(snapshot)
        meter = IndicatorMeter(snapshot.sample_rate, snapshot.samples.shape[1])
        axes = measure(meter, snapshot.samples)
        self._last_snapshot, self._last_axes = snapshot, axes
        problem = self.health.add_snapshot(now, Loudness.of(snapshot.samples).clipped)
        messages = self._report_source(now, problem)
        level_db = max(axis.level_db for axis in axes)
        state, verdict = self._decide(now, level_db, axes)
        settling = self.reported_running.settling
        self._collect(now, snapshot, axes, running=state != "off" and not settling)
        if verdict is not None:
            self._shown_axis = verdict.axis
        lasting = None if verdict is None else verdict.lasting
        messages += self._change_state(state, now, lasting)
        messages += self._report_anomaly(now, verdict)
        shown = axes[snapshot.axes.index(self._shown_axis) if verdict else 0]
        self.last = Reading(
            machine=self.id,
            time=now,
            state=state,
            level_dbfs=level_db,
            score=None if verdict is None else verdict.score,
            smoothed=lasting,
            parts={} if verdict is None or len(axes) == 1 else verdict.scores,
            bands_db=tuple(round(float(band), 1) for band in shown.bands_db),
        )
        self._add_recent(now, lasting)
        return [*messages, ReadingTaken(reading=self.last)]

    def _decide(
        self, now: float, level_db: float, axes: tuple[Indicators, ...]
    ) -> tuple[MachineState, SnapshotVerdict | None]:
        """The state after this snapshot, and the verdict where it was judged."""
        # While learning, how loud it runs may be what is to be learned anew.
        judge = None if self.learning else self.judge
        usual = None if judge is None else judge.usual_db
        running = self._running.update(now, level_db, usual)
        reported = self._update_reported_running(now)
        if reported.known:
            running = not reported.off
        if running and judge is None:
            self._running.learn(level_db)
        if not running or judge is None or reported.settling:
            if self.judge is not None:
                self.judge.pause()
            if reported.settling:
                return "starting", None
            return ("learning" if self.learning else "starting") if running else "off", None
        verdict = judge.update(axes)
        return verdict.level, verdict

    def _collect(
        self, now: float, snapshot: Snapshot, axes: tuple[Indicators, ...], *, running: bool
    ) -> None:
        """Take a snapshot for the baseline that is being learned, if there is one."""
        if self.collector is None:
            return
        if not running:
            self.collector.pause()
        else:
            self.collector.add(form_of(snapshot), snapshot.samples, axes, now)

    def _report_anomaly(self, now: float, verdict: SnapshotVerdict | None) -> list[Message]:
        if self.state == "starting":
            return []  # an event does not end because nothing can be judged
        if verdict is None or verdict.level == "normal":
            # A snapshot stands for the time since the one before.
            quiet = 0.0 if verdict is None or self.last is None else now - self.last.time
            return [*self.events.end("anomaly", now), *self.events.add_quiet(max(quiet, 0.0))]
        level: EventLevel = "alarm" if verdict.level == "alarm" else "alert"
        if verdict.began:
            self.change_points.append(ChangePoint(time=now, level=level, findings=verdict.findings))
        ongoing = self.events.ongoing.get("anomaly")
        if ongoing is None:
            if self.muted or self.judge is None:
                return []
            thresholds = self.judge.thresholds
            messages = self.events.begin(
                "anomaly",
                level,
                now,
                "",
                peak=verdict.lasting,
                threshold=thresholds.alarm if level == "alarm" else thresholds.alert,
                baseline_learned_at=self.judge.baseline.learned_at,
            )
            # What comes back is already described, by what was worst.
            came_back = len(self.events.ongoing["anomaly"].episodes) > 1
            return messages if came_back else [*messages[:-1], *self._describe(verdict)]
        messages = self.events.update_anomaly(level, now, verdict.lasting)
        # What has made it worse is what matters from then on.
        worse = level == "alarm" and ongoing.level == "alert"
        return self._describe(verdict) if worse else messages

    def _describe(self, verdict: SnapshotVerdict) -> list[Message]:
        """The ongoing event with what has changed."""
        assert self.judge is not None
        vibration = self.settings.sensor.unit in VIBRATION_UNITS
        last = self.last_snapshots()
        begin, end = last[0].time, last[-1].end
        findings = self.normal.changes(verdict, last, self.shaft.lines(begin, end))
        event = self.events.ongoing["anomaly"].model_copy(
            update={
                "message": descriptions.change(verdict.axis, findings, vibration=vibration),
                "findings": findings,
                "speed_rpm": self.shaft.rpm(begin, end),
            }
        )
        return [EventChanged(event=self.events.replace(event))]

    def _lose_source(self) -> None:
        if self.judge is not None:
            self.judge.interrupt()

    @property
    def lost(self) -> bool:
        """Snapshots may be rare, so a source without a connection is lost too; a played one not."""
        if self.is_played:
            return bool(self.capture.failure)
        status = self.capture.source.status
        disconnected = not status.connected and clock.time() - status.since > _MAX_DISCONNECTED
        return disconnected or super().lost

    def _axis_of(self, judge: SnapshotJudge) -> str:
        """The axis that is shown."""
        return self._shown_axis if self._shown_axis in judge.judges else judge.form.axes[0]

    def _axis_now(self, judge: SnapshotJudge, axis: str) -> Indicators | None:
        """Indicators of an axis of the last snapshot, if it is of the form that was learned."""
        if self._last_snapshot is None or form_of(self._last_snapshot) != judge.form:
            return None
        return self._last_axes[judge.form.axes.index(axis)]


def _running_detector(settings: MachineSettings) -> RunningDetector:
    return RunningDetector(settings.alarm.off_below_dbfs, min_seconds=0.0)
