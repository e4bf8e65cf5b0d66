"""One machine under watch: what is heard of it becomes a state, readings and events."""

from __future__ import annotations

import math
import time as clock
import uuid
from collections import deque
from dataclasses import replace
from typing import Any

from ssdpt.monitor.alarms import LevelKeeper, Smoother
from ssdpt.monitor.drift import DriftKeeper
from ssdpt.monitor.hearing import Hearing
from ssdpt.monitor.idle import RunningKeeper
from ssdpt.monitor.limits import Limits, limits_of
from ssdpt.monitor.live import LiveModel, LiveScore, Place
from ssdpt.monitor.outputs.messages import (
    EventChanged,
    Message,
    ReadingTaken,
    StateChanged,
    event_json,
)
from ssdpt.monitor.plant import MachineSettings
from ssdpt.monitor.signals import SignalKeeper
from ssdpt.monitor.spectrum import SpectrumKeeper
from ssdpt.monitor.types import Event, EventKind, EventLevel, MachineState, Reading
from ssdpt.types import Floats

_LOST_AFTER = 5.0  # seconds of real time without a chunk
_SPARK_SECONDS = 600.0
_SPARK_EVERY = 10.0
_PEAK_EVERY = 60.0  # seconds: who is told of every change is not told of every second
_SAMPLE_SECONDS, _SAMPLE_EVERY = 10.0, 60.0
_ALARM_RATIO = 0.1  # an alarm is so much rarer than an alert


class MachineMonitor:
    """Everything that is known of one machine now."""

    def __init__(
        self,
        settings: MachineSettings,
        hearing: Hearing,
        model: LiveModel | None,
        *,
        section: str = "",
        shift: float = 0.0,
        usual_dbfs: float | None = None,
    ) -> None:
        self.settings, self.hearing, self.model = settings, hearing, model
        self.place = Place(section)
        self.shift = shift  # of the limits, since the last new baseline
        self.running = RunningKeeper(settings.alarm.off_below_dbfs, usual_dbfs)
        self.levels = LevelKeeper(settings.alarm)
        self.smoother = Smoother(settings.alarm.smoothing)
        self.drift = DriftKeeper()
        self.signals = SignalKeeper()
        self.spectrum = SpectrumKeeper(hearing.rate)
        self.per_week = settings.alarm.per_week
        self.muted_until: float | None = None
        self.state: MachineState = "starting"
        self.state_since = clock.time()
        self.last: Reading | None = None
        self.open: dict[EventKind, Event] = {}
        self.last_event: Event | None = None
        self.spark: deque[tuple[float, float]] = deque()
        self.normal_sample: Floats | None = None  # some seconds while all was well
        self._sampled = 0.0  # when that was
        self._peak_told = 0.0  # when the peak of the anomaly under way was last told
        self._judged = 0.0  # time of the last second that was looked at

    @property
    def id(self) -> str:
        return self.settings.id

    @property
    def limits(self) -> Limits | None:
        """None while there is no model."""
        return None if self.model is None else self.limits_at(self.per_week)

    def limits_at(self, per_week: float) -> Limits:
        """What the limits would be with so many false alerts a week."""
        assert self.model is not None
        return limits_of(
            self.model.detector.calibration.tail(self.place.section),
            self.settings.alarm.model_copy(update={"per_week": per_week}),
            clip_seconds=self.model.clip_seconds,
            alarm_ratio=_ALARM_RATIO,
            shift=self.shift,
        )

    @property
    def due(self) -> bool:
        """Whether a second has passed since it was last looked at.

        By another time, not a later one: a clock may be set back.
        """
        levels = self.hearing.levels
        return bool(levels) and levels[-1][0] != self._judged

    @property
    def lost(self) -> bool:
        """Whether nothing comes from its source any more.

        A folder or a sender may have nothing to say for hours.
        """
        if self.hearing.failure:
            return True
        if self.settings.source.kind in ("folder", "pushed"):
            return False
        return clock.monotonic() - self.hearing.heard_at > _LOST_AFTER

    def missing(self) -> list[Message]:
        """Told every second of real time in which nothing was heard."""
        if not self.lost:
            return []
        now = clock.time()
        complaint = self.signals.update(now, None, lost=True)
        told = self._become("lost", now, None)
        if complaint:
            words = self.hearing.failure or complaint
            told += self._signal(now, words)
        return told

    def take(self, score: LiveScore | None, *, learning: bool) -> list[Message]:
        """The last second, judged as `score`; what came of it."""
        now, loudness = self.hearing.levels[-1]
        if now < self._judged:
            self._set_back()
        seconds = min(max(now - self._judged, 0.0), 10.0) if self._judged else 1.0
        self._judged = now
        if score is not None and not math.isfinite(score.value):
            score = None
        runs = not loudness.silent and self.running.update(now, loudness.dbfs)
        complaint = self.signals.update(now, loudness, lost=False)
        told = self._signal(now, complaint)
        smoothed = p_value = None
        if not runs:
            self.smoother.clear()
            self.levels.reset()
            state: MachineState = "off"
        elif learning:
            state = "learning"
        elif score is None or self.model is None:
            # After a gap too, until a whole clip is heard; a level that was reached stays.
            self.smoother.clear()
            self.levels.pause()
            state = "starting"
        else:
            limits = self.limits
            assert limits is not None
            smoothed = self.smoother.add(now, score.value)
            tail = self.model.detector.calibration.tail(self.place.section)
            p_value = tail.p_value(smoothed - self.shift)
            state = self.levels.update(now, smoothed, limits)
            if state == "normal":
                self.drift.update(now, smoothed, seconds)
            told += self._drift(now, limits)
        self.spectrum.update(self.hearing.ring.between(now - 1.0, now)[0], normal=state == "normal")
        told += self._become(state, now, smoothed)
        told += self._anomaly(now, smoothed)
        judged = score is not None and smoothed is not None
        self.last = Reading(
            machine=self.id,
            time=now,
            state=state,
            level_dbfs=loudness.dbfs,
            score=score.value if judged and score else None,
            smoothed=smoothed,
            p_value=p_value,
            parts=score.parts if judged and score else {},
        )
        self._remember(now, smoothed)
        if state == "normal" and now - self._sampled >= _SAMPLE_EVERY:
            self._sampled = now
            self.normal_sample = self.hearing.ring.between(now - _SAMPLE_SECONDS, now)[0]
        self.hearing.taken.set()
        return [*told, ReadingTaken(self.last)]

    @property
    def muted(self) -> bool:
        """Whether events are held back: planned work."""
        return self.muted_until is not None and clock.time() < self.muted_until

    def rebaseline(self) -> float:
        """Take the score it has had lately as the usual one; how far the limits move."""
        limits = self.limits
        if limits is None or not self.drift.seconds:
            return 0.0
        moved = self.drift.mean - limits.usual
        self.shift += moved
        self.drift.reset()
        self.smoother.clear()
        self.levels.reset()
        return moved

    def said(self, event: Event) -> Event:
        """What people have said of an event is taken over; what was heard of it here stays."""
        known = self.known(event.id)
        if known is None:
            return event
        return self.replace_event(
            replace(
                known,
                acknowledged_by=event.acknowledged_by,
                acknowledged_at=event.acknowledged_at,
                label=event.label,
                comments=event.comments,
            )
        )

    def known(self, id: str) -> Event | None:
        """An event that goes on, or the last one."""
        latest = [*self.open.values(), *([self.last_event] if self.last_event else [])]
        return next((event for event in latest if event.id == id), None)

    def replace_event(self, event: Event) -> Event:
        """Take it as it is now."""
        for kind, known in self.open.items():
            if known.id == event.id:
                self.open[kind] = event
        if self.last_event is not None and self.last_event.id == event.id:
            self.last_event = event
        return event

    def _set_back(self) -> None:
        """The clock was set back: what was counted in time begins anew."""
        self.smoother.clear()
        self.levels.pause()
        self.running.pause()
        self.signals = SignalKeeper()
        self.spark.clear()
        self._sampled = self._peak_told = 0.0

    def adopt(self, model: LiveModel) -> None:
        """Be judged by this model from now on."""
        known = model.detector.sections
        self.model, self.shift = model, 0.0
        self.place = Place(known[0] if len(known) == 1 else self.settings.section)
        self.drift.reset()
        self.smoother.clear()
        self.levels.reset()

    def resume(self, event: Event) -> None:
        """An event that was under way when the service stopped goes on, or ends, from here."""
        self.open[event.kind] = event
        if event.kind == "anomaly":
            self.levels.level = event.level

    def _become(self, state: MachineState, now: float, score: float | None) -> list[Message]:
        if state == self.state:
            return []
        self.state, self.state_since = state, now
        return [StateChanged(self.id, state, now, score)]

    def _anomaly(self, now: float, smoothed: float | None) -> list[Message]:
        known = self.open.get("anomaly")
        if self.state == "starting":
            return []  # what is not judged is not over
        if self.state in ("alert", "alarm"):
            level: EventLevel = "alarm" if self.state == "alarm" else "alert"
            limits = self.limits
            assert smoothed is not None
            assert limits is not None
            if known is None:
                if self.muted:
                    return []
                limit = limits.alarm if level == "alarm" else limits.alert
                words = f"{self.settings.title} sounds unlike its normal self"
                return self._begin("anomaly", level, now, words, peak=smoothed, threshold=limit)
            if level == "alarm" and known.level == "alert":
                return self._change(replace(known, level="alarm", peak=_higher(known, smoothed)))
            higher = replace(known, peak=_higher(known, smoothed))
            if higher != known and now - self._peak_told >= _PEAK_EVERY:
                self._peak_told = now
                return self._change(higher)
            self.open["anomaly"] = higher
            return []
        return self._end("anomaly", now)

    def _drift(self, now: float, limits: Limits) -> list[Message]:
        if not self.drift.judge(now, limits.usual, limits.alert):
            return self._end("drift", now)
        if "drift" in self.open or self.muted:
            return []
        words = f"the usual sound of {self.settings.title} has changed slowly: take a new baseline?"
        return self._begin("drift", "alert", now, words, peak=self.drift.mean, threshold=None)

    def _signal(self, now: float, complaint: str) -> list[Message]:
        if not complaint:
            return self._end("signal", now)
        if "signal" in self.open or self.muted:
            return []
        words = f"{self.settings.title}: {complaint}"
        return self._begin("signal", "alert", now, words, peak=None, threshold=None)

    def _begin(
        self,
        kind: EventKind,
        level: EventLevel,
        now: float,
        words: str,
        *,
        peak: float | None,
        threshold: float | None,
    ) -> list[Message]:
        self._peak_told = now
        event = Event(
            id=uuid.uuid4().hex,
            machine=self.id,
            kind=kind,
            level=level,
            began=now,
            words=words,
            peak=peak,
            threshold=threshold,
        )
        return self._change(event)

    def _change(self, event: Event) -> list[Message]:
        self.open[event.kind] = self.last_event = event
        return [EventChanged(event)]

    def _end(self, kind: EventKind, now: float) -> list[Message]:
        known = self.open.pop(kind, None)
        if known is None:
            return []
        ended = replace(known, ended=now)
        if self.last_event is not None and self.last_event.id == ended.id:
            self.last_event = ended
        return [EventChanged(ended)]

    def _remember(self, now: float, smoothed: float | None) -> None:
        if smoothed is not None and (not self.spark or now - self.spark[-1][0] >= _SPARK_EVERY):
            self.spark.append((now, smoothed))
        while self.spark and self.spark[0][0] < now - _SPARK_SECONDS:
            self.spark.popleft()

    def as_json(self) -> dict[str, Any]:
        """As the API tells it, but for what only the service knows."""
        limits, source, reading = self.limits, self.hearing.source.status, self.last
        return {
            "id": self.id,
            "name": self.settings.title,
            "site": self.settings.site,
            "kind": self.settings.source.kind,
            "model": "" if self.model is None else self.model.detector.system_name,
            "state": self.state,
            "state_since": self.state_since,
            "muted_until": self.muted_until,
            "score": reading.smoothed if reading else None,
            "p_value": reading.p_value if reading else None,
            "level_dbfs": reading.level_dbfs if reading else None,
            "thresholds": None if limits is None else limits_json(limits),
            "operating_point": "",
            "drift": self._drift_json(),
            "source": {
                "connected": source.connected and not self.hearing.failure,
                "words": self.hearing.failure or source.words,
                "drift_ppm": source.drift_ppm,
                "gaps": source.gaps,
                "reconnects": source.reconnects,
            },
            "learning": None,
            "open_events": len(self.open),
            "last_event": None if self.last_event is None else event_json(self.last_event),
            "spark": [list(point) for point in self.spark],
        }

    def _drift_json(self) -> dict[str, Any] | None:
        event = self.open.get("drift")
        return None if event is None else {"words": event.words, "since": event.began}


def limits_json(limits: Limits) -> dict[str, Any]:
    """As the API tells limits."""
    return {
        "alert": limits.alert,
        "alarm": limits.alarm,
        "alert_exit": limits.alert_exit,
        "alarm_exit": limits.alarm_exit,
        "usual": limits.usual,
        "per_week": limits.per_week,
        "extrapolated": limits.extrapolated,
        "words": limits.words,
    }


def _higher(event: Event, score: float) -> float:
    return score if event.peak is None else max(event.peak, score)
