"""One machine under watch: what is heard of it becomes a state, readings and events."""

from __future__ import annotations

import math
import time as clock
from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np

from ssdpt.alarms.judge import MachineJudge, Verdict
from ssdpt.alarms.operating_points import UNKNOWN
from ssdpt.alarms.running import RunningDetector
from ssdpt.alarms.source_health import SourceHealth
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.capture.spectrum import SpectrumBaseline
from ssdpt.monitor.config import FolderSettings, MachineSettings, PushedSettings
from ssdpt.monitor.events.event_log import EventLog
from ssdpt.monitor.messages import EventLevel, MachineState, Reading
from ssdpt.monitor.outputs.messages import Message, ReadingTaken, StateChanged, event_json
from ssdpt.monitor.scoring.live_model import LiveScore
from ssdpt.types import Floats

_LOST_AFTER = 5.0  # seconds of real time without a chunk
_SPARK_SECONDS = 600.0
_SPARK_EVERY = 10.0
_SAMPLE_SECONDS, _SAMPLE_EVERY = 10.0, 60.0
_LEVEL_SECONDS, _PLAIN_DB = 5, 3.0
_LONGEST_STEP = 10.0  # seconds: what was not looked at for longer was not judged


class MachineMonitor:
    """Everything that is known of one machine now."""

    def __init__(
        self,
        settings: MachineSettings,
        hearing: AudioCapture,
        judge: MachineJudge,
        *,
        usual_dbfs: float | None = None,
    ) -> None:
        self.settings, self.hearing, self.judge = settings, hearing, judge
        self.events = EventLog(settings.id)
        self.running = RunningDetector(settings.alarm.off_below_dbfs, usual_dbfs)
        self.signals = SourceHealth()
        self.spectrum = SpectrumBaseline(hearing.rate)
        self.muted_until: float | None = None
        self.state: MachineState = "starting"
        self.state_since = clock.time()
        self.last: Reading | None = None
        self.spark: deque[tuple[float, float]] = deque()
        self.normal_samples: dict[int, Floats] = {}  # some seconds of each operating point
        self._sampled = 0.0  # when one was last taken
        self._complaint = ""  # about its source, as last told
        self._judged = 0.0  # time of the last second that was looked at
        self._unheard = True  # whether that was not judged

    @property
    def id(self) -> str:
        return self.settings.id

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

        A folder or a sender may have nothing to say for hours, unless it is known how often.
        """
        if self.hearing.failure:
            return True
        longest: float | None = _LOST_AFTER
        if isinstance(self.settings.source, FolderSettings | PushedSettings):
            longest = self.settings.source.every
        silent = clock.monotonic() - self.hearing.heard_at
        return longest is not None and silent > longest

    @property
    def muted(self) -> bool:
        """Whether events are held back: planned work."""
        return self.muted_until is not None and clock.time() < self.muted_until

    @property
    def normal_sample(self) -> Floats | None:
        """Some seconds (samples,) while all was well, at the operating point of now if there is."""
        here = self.normal_samples.get(self.judge.point or UNKNOWN)
        return here if here is not None else next(iter(self.normal_samples.values()), None)

    def follow(self, before: MachineMonitor) -> None:
        """Be what this machine was before its settings changed: the same events go on."""
        self.events, self.muted_until = before.events, before.muted_until
        self.state, self.state_since = before.state, before.state_since
        self.last, self.spark = before.last, before.spark
        self.judge.follow(before.judge)
        if before.judge.model is self.judge.model:
            self.running = before.running
            self.running.given = self.settings.alarm.off_below_dbfs
            self.spectrum, self.normal_samples = before.spectrum, before.normal_samples

    def turn(self, state: MachineState) -> list[Message]:
        """Be in this state until more is heard."""
        return self._become(state, self.last.time if self.last else clock.time(), None)

    def missing(self) -> list[Message]:
        """Told every second of real time in which nothing was heard."""
        if not self.lost:
            return []
        now = clock.time()
        complaint = self.signals.update(now, None, lost=True)
        told = self._become("lost", now, None)
        self.judge.point = None
        if self.last is not None and self.last.smoothed is not None:
            self.last = replace(self.last, score=None, smoothed=None, p_value=None, parts={})
        if complaint:
            told += self._signal(now, complaint, self.hearing.failure)
        return told

    def take(self, score: LiveScore | None, *, learning: bool) -> list[Message]:
        """The last second, judged as `score`; what came of it."""
        now, loudness = self.hearing.levels[-1]
        if now < self._judged:
            self._set_back()
        seconds = min(max(now - self._judged, 0.0), _LONGEST_STEP)
        self._judged = now
        if score is not None and not math.isfinite(score.value):
            score = None
        # How loud it runs may be what is to be learnt anew.
        quietest = None if learning else self.judge.baseline.quietest_dbfs
        runs = not loudness.silent and self.running.update(now, loudness.dbfs, quietest)
        told = self._signal(now, self.signals.update(now, loudness, lost=False))
        self.spectrum.hear(self.hearing.ring.between(now - 1.0, now)[0])
        self.judge.hear(self.spectrum.now, loudness.dbfs)
        verdict = None
        if not runs:
            self.judge.stop()
            state: MachineState = "off"
        elif learning:
            self.judge.stop()
            state = "learning"
        elif score is None or self.judge.model is None:
            state = "starting"  # after a gap too, until a whole clip is heard
        else:
            # The first score after a gap is of a clip of which nothing was judged before.
            new = self.judge.model.clip_seconds if self._unheard else seconds
            verdict = self.judge.judge(now, new, score.value)
            state = verdict.level
            told += self._drift(now, verdict)
        self._unheard = verdict is None
        if state in ("starting", "learning", "normal") and self.running.running:
            self.running.settle(loudness.dbfs)
        if state == "normal":
            self.spectrum.settle(self.judge.point or UNKNOWN)
            self._sample(now)
        smoothed = None if verdict is None else verdict.smoothed
        told += self._become(state, now, smoothed)
        told += self._anomaly(now, verdict)
        self.last = Reading(
            machine=self.id,
            time=now,
            state=state,
            level_dbfs=loudness.dbfs,
            score=score.value if verdict and score else None,
            smoothed=smoothed,
            p_value=None if verdict is None else verdict.p_value,
            parts=score.parts if verdict and score else {},
        )
        self._remember(now, smoothed)
        return [*told, ReadingTaken(self.last)]

    def _set_back(self) -> None:
        """The clock was set back: what was counted in time begins anew."""
        self.running.pause()
        self.events.set_back()
        self.signals = SourceHealth()
        self.spark.clear()
        self._sampled = 0.0

    def _become(self, state: MachineState, now: float, score: float | None) -> list[Message]:
        if state == self.state:
            return []
        self.state, self.state_since = state, now
        return [StateChanged(self.id, state, now, score)]

    def _anomaly(self, now: float, verdict: Verdict | None) -> list[Message]:
        if self.state == "starting":
            return []  # what is not judged is not over
        if verdict is None or verdict.level == "normal":
            return self.events.end("anomaly", now)
        level: EventLevel = "alarm" if verdict.level == "alarm" else "alert"
        if "anomaly" in self.events.open:
            return self.events.go_on(level, now, verdict.smoothed)
        if self.muted:
            return []
        return self.events.begin(
            "anomaly",
            level,
            now,
            f"{self.settings.title} sounds unlike its normal self{self._where()}{self._louder()}",
            peak=verdict.smoothed,
            threshold=verdict.limits.alarm if level == "alarm" else verdict.limits.alert,
        )

    def _where(self) -> str:
        """At which of several operating points, as the end of a sentence."""
        points, point = self.judge.baseline.points, self.judge.point
        title = "" if points is None or point is None else points.title(point)
        return f" at {title}" if title else ""

    def _louder(self) -> str:
        """How much louder or quieter than usual, as the end of a sentence, where that is plain."""
        points, point = self.judge.baseline.points, self.judge.point
        usual = self.running.usual_dbfs
        if points is not None and point:
            usual = points.points[point - 1].level_dbfs
        recent = [loudness.dbfs for _, loudness in list(self.hearing.levels)[-_LEVEL_SECONDS:]]
        if usual is None or abs(difference := float(np.median(recent)) - usual) < _PLAIN_DB:
            return ""
        return f", {abs(difference):.0f} dB {'louder' if difference > 0 else 'quieter'} than usual"

    def _drift(self, now: float, verdict: Verdict) -> list[Message]:
        if not verdict.drifted:
            return self.events.end("drift", now)
        if "drift" in self.events.open or self.muted:
            return []
        words = f"the usual sound of {self.settings.title} has changed slowly: take a new baseline?"
        return self.events.begin("drift", "alert", now, words, peak=verdict.smoothed)

    def _signal(self, now: float, complaint: str, why: str = "") -> list[Message]:
        before, self._complaint = self._complaint, complaint
        if not complaint:
            return self.events.end("signal", now)
        goes_on = "signal" in self.events.open and before in ("", complaint)
        if goes_on or self.muted:
            return []
        # Another trouble is another event.
        ended = self.events.end("signal", now)
        words = f"{self.settings.title}: {why or complaint}"
        return [*ended, *self.events.begin("signal", "alert", now, words)]

    def _sample(self, now: float) -> None:
        if (
            now - self._sampled >= _SAMPLE_EVERY
            and now - self.hearing.begun >= _SAMPLE_SECONDS  # a gap is silence
        ):
            self._sampled = now
            sample = self.hearing.ring.between(now - _SAMPLE_SECONDS, now)[0]
            self.normal_samples[self.judge.point or UNKNOWN] = sample

    def _remember(self, now: float, smoothed: float | None) -> None:
        if smoothed is not None and (not self.spark or now - self.spark[-1][0] >= _SPARK_EVERY):
            self.spark.append((now, smoothed))
        while self.spark and self.spark[0][0] < now - _SPARK_SECONDS:
            self.spark.popleft()

    def as_json(self) -> dict[str, Any]:
        """As the API tells it, but for what only the service knows."""
        judge, source, reading = self.judge, self.hearing.source.status, self.last
        limits, last, drift = judge.limits, self.events.last, self.events.open.get("drift")
        return {
            "id": self.id,
            "name": self.settings.title,
            "site": self.settings.site,
            "kind": self.settings.source.kind,
            "model": "" if judge.model is None else judge.model.detector.system_name,
            "state": self.state,
            "state_since": self.state_since,
            "muted_until": self.muted_until,
            "score": reading.smoothed if reading else None,
            "p_value": reading.p_value if reading else None,
            "level_dbfs": reading.level_dbfs if reading else None,
            "last_sound": reading.time if reading else None,
            "thresholds": None if limits is None else limits.to_json(),
            "operating_point": judge.point,
            "operating_points": self._points_json(),
            "drift": None if drift is None else {"words": drift.words, "since": drift.began},
            "source": {
                "connected": source.connected and not self.hearing.failure,
                "words": self.hearing.failure or source.words,
                "drift_ppm": source.drift_ppm,
                "gaps": source.gaps,
                "reconnects": source.reconnects,
            },
            "learning": None,
            "open_events": len(self.events.open),
            "last_event": None if last is None else event_json(last),
            "spark": [list(point) for point in self.spark],
        }

    def _points_json(self) -> list[dict[str, Any]]:
        known = self.judge.baseline.points
        return [
            {
                "number": number,
                "name": point.name,
                "share": point.share,
                "level_dbfs": point.level_dbfs,
                "usual": point.usual,
            }
            for number, point in enumerate(known.points if known else (), 1)
        ]
