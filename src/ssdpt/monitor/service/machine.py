"""One monitored machine: what is captured of it becomes a state, readings and events."""

from __future__ import annotations

import math
import time as clock
from collections import deque

from ssdpt.alarms.judge import MachineJudge, ScoreScale, Verdict
from ssdpt.alarms.operating_points import UNKNOWN, OperatingPoints
from ssdpt.alarms.running import RunningDetector
from ssdpt.alarms.source_health import SourceHealth
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.capture.spectrum import SpectrumBaseline
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.events import descriptions
from ssdpt.monitor.events.event_log import EventLog
from ssdpt.monitor.learning.collector import BaselineCollector
from ssdpt.monitor.messages import (
    EventLevel,
    MachineState,
    Message,
    Reading,
    ReadingTaken,
    StateChanged,
)
from ssdpt.monitor.scoring.live_model import LiveModel, LiveScore, ScoringCursor
from ssdpt.types import Floats

_RECENT_SECONDS, _RECENT_EVERY = 600.0, 10.0  # of the scores shown on a card
_SAMPLE_SECONDS, _SAMPLE_EVERY = 10.0, 60.0  # of the normal sample
_LEVEL_SECONDS = 5  # whose median level is compared with the usual one
_LONGEST_STEP = 10.0  # seconds; after a longer pause nothing was judged in between


class MachineMonitor:
    """Everything that is known of one machine now."""

    def __init__(
        self,
        settings: MachineSettings,
        capture: AudioCapture,
        model: LiveModel | None,
        section: str,
        *,
        usual_dbfs: float | None = None,
    ) -> None:
        """`section`: the machine ID within the model; `usual_dbfs`: its level while running."""
        self.settings, self.capture, self.model = settings, capture, model
        self.cursor = ScoringCursor(section)
        self.judge = MachineJudge(settings.alarm, _scale(model, section))
        self.events = EventLog(settings.id)
        self.running = RunningDetector(settings.alarm.off_below_dbfs, usual_dbfs)
        self.health = SourceHealth()
        self.spectrum = SpectrumBaseline()
        self.muted_until: float | None = None
        self.collector: BaselineCollector | None = None  # while it collects normal clips
        self.fitting = False  # whether a model is being fitted to them
        self.state: MachineState = "starting"
        self.state_since = clock.time()
        self.last: Reading | None = None
        self.recent_scores: deque[tuple[float, float]] = deque()  # (time, smoothed score)
        self.normal_samples: dict[int, Floats] = {}  # some seconds by operating point
        self._sampled = 0.0  # when one was last taken
        self._problem = ""  # of its source, as last reported
        self._processed_until = 0.0  # end of the last second that was processed
        self._without_verdict = True  # whether that second got no verdict

    @property
    def id(self) -> str:
        return self.settings.id

    @property
    def section(self) -> str:
        """The machine ID within its model."""
        return self.cursor.section

    @property
    def due(self) -> bool:
        """Whether another second was captured.

        With another time, not a later one: the clock may be set back.
        """
        levels = self.capture.levels
        return bool(levels) and levels[-1][0] != self._processed_until

    @property
    def lost(self) -> bool:
        """Whether no sound arrives any more."""
        if self.capture.failure:
            return True
        silent = clock.monotonic() - self.capture.last_chunk_at
        longest = self.settings.source.max_silence
        return longest is not None and silent > longest

    @property
    def learning(self) -> bool:
        """Whether it learns a baseline and is not judged."""
        return self.collector is not None or self.fitting

    @property
    def muted(self) -> bool:
        """Whether new events are held back: planned work."""
        # In simulations the machine's clock runs ahead of ours.
        now = max(clock.time(), self.last.time if self.last else 0.0)
        return self.muted_until is not None and now < self.muted_until

    @property
    def normal_sample(self) -> Floats | None:
        """Some seconds (samples,) of normal sound, at the current operating point if known."""
        here = self.normal_samples.get(self.judge.operating_point or UNKNOWN)
        return here if here is not None else next(iter(self.normal_samples.values()), None)

    def continue_from(self, previous: MachineMonitor) -> None:
        """Go on from the same machine before its settings changed."""
        self.events, self.muted_until = previous.events, previous.muted_until
        self.state, self.state_since = previous.state, previous.state_since
        self.last, self.recent_scores = previous.last, previous.recent_scores
        if self.settings.model is None:
            self.collector, self.fitting = previous.collector, previous.fitting
        self.health, self._problem = previous.health, previous._problem
        if previous.capture is self.capture:
            self._processed_until, self._without_verdict = (
                previous._processed_until,
                previous._without_verdict,
            )
        same_model = previous.model is self.model
        self.judge.continue_from(previous.judge, same_model=same_model)
        if same_model:
            self.running = previous.running
            self.running.off_below_dbfs = self.settings.alarm.off_below_dbfs
            self.spectrum, self.normal_samples = previous.spectrum, previous.normal_samples

    def adopt(self, model: LiveModel, points: OperatingPoints | None) -> None:
        """Be judged by a newly learned model from now on."""
        sections = model.detector.sections
        section = sections[0] if len(sections) == 1 else self.settings.section
        self.model, self.cursor = model, ScoringCursor(section)
        scale = _scale(model, section)
        assert scale is not None
        self.judge.adopt(scale, points)

    def replace_model(self, model: LiveModel) -> None:
        """The same model with more normal clips: the baseline stays."""
        self.model = model
        self.judge.scale = _scale(model, self.section)

    def restart_running(self) -> None:
        """Learn anew how loud the machine runs."""
        self.running = RunningDetector(self.settings.alarm.off_below_dbfs)

    def set_state(self, state: MachineState) -> list[Message]:
        """Be in this state until the next second."""
        return self._change_state(state, self.last.time if self.last else clock.time(), None)

    def check_lost(self) -> list[Message]:
        """Called every second of real time: report a source that sends nothing."""
        if not self.lost:
            return []
        now = clock.time()
        problem = self.health.update(now, None, lost=True)
        messages = self._change_state("lost", now, None)
        self.judge.lose_source()
        if self.last is not None and self.last.smoothed is not None:
            # Nothing of before is shown as if it were of now.
            self.last = Reading(
                machine=self.id,
                time=self.last.time,
                state="lost",
                level_dbfs=self.last.level_dbfs,
            )
        if problem:
            messages += self._report_source(now, problem, self.capture.failure)
        return messages

    def process_second(self, score: LiveScore | None) -> list[Message]:
        """Process the last captured second, which the model scored as `score`."""
        now, loudness = self.capture.levels[-1]
        if now < self._processed_until:
            self._clock_set_back()
        seconds = min(max(now - self._processed_until, 0.0), _LONGEST_STEP)
        self._processed_until = now
        if score is not None and not math.isfinite(score.value):
            score = None
        messages = self._report_source(now, self.health.update(now, loudness, lost=False))
        spectrum = self.capture.spectrum(now)
        self.judge.add_second(spectrum, loudness.dbfs)
        state, verdict = self._decide(now, seconds, loudness, score)
        self._learn_normal(now, state, loudness, spectrum)
        smoothed = None if verdict is None else verdict.smoothed
        messages += self._change_state(state, now, smoothed)
        if verdict is not None:
            messages += self._report_drift(now, verdict)
        messages += self._report_anomaly(now, verdict)
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
        self._add_recent(now, smoothed)
        return [*messages, ReadingTaken(reading=self.last)]

    def _decide(
        self, now: float, seconds: float, loudness: Loudness, score: LiveScore | None
    ) -> tuple[MachineState, Verdict | None]:
        """The state after this second, and the verdict where it was judged."""
        # While learning, how loud it runs may be what is to be learned anew.
        quietest = None if self.learning else self.judge.baseline.quietest_dbfs
        running = not loudness.silent and self.running.update(now, loudness.dbfs, quietest)
        verdict = None
        if not running or self.learning:
            self.judge.stop()
            state: MachineState = "learning" if running else "off"
        elif score is None or self.model is None:
            state = "starting"  # after a gap too, until a whole clip is captured
        else:
            # The first score after a gap covers a whole clip that was not judged before.
            new = self.model.clip_seconds if self._without_verdict else seconds
            verdict = self.judge.update(now, new, score.value)
            state = verdict.level
        self._without_verdict = verdict is None
        return state, verdict

    def _learn_normal(
        self, now: float, state: MachineState, loudness: Loudness, spectrum: Floats | None
    ) -> None:
        """Take level, spectrum and sound of a normal second as such."""
        if state in ("starting", "learning", "normal") and self.running.running:
            self.running.learn(loudness.dbfs)
        if state == "normal":
            if spectrum is not None:
                self.spectrum.learn(spectrum, self.judge.operating_point or UNKNOWN)
            self._take_sample(now)

    def _clock_set_back(self) -> None:
        """Everything counted in time starts again."""
        self.running.pause()
        self.events.clock_set_back()
        self.health = SourceHealth()
        self.recent_scores.clear()
        self._sampled = 0.0

    def _change_state(
        self, state: MachineState, now: float, smoothed: float | None
    ) -> list[Message]:
        if state == self.state:
            return []
        self.state, self.state_since = state, now
        return [StateChanged(machine=self.id, state=state, at=now, smoothed=smoothed)]

    def _report_anomaly(self, now: float, verdict: Verdict | None) -> list[Message]:
        if self.state == "starting":
            return []  # an event does not end because nothing can be judged
        if verdict is None or verdict.level == "normal":
            return self.events.end("anomaly", now)
        level: EventLevel = "alarm" if verdict.level == "alarm" else "alert"
        if "anomaly" in self.events.ongoing:
            return self.events.update_anomaly(level, now, verdict.smoothed)
        if self.muted:
            return []
        thresholds = verdict.thresholds
        return self.events.begin(
            "anomaly",
            level,
            now,
            self._describe_anomaly(),
            peak=verdict.smoothed,
            threshold=thresholds.alarm if level == "alarm" else thresholds.alert,
        )

    def _describe_anomaly(self) -> str:
        points, number = self.judge.baseline.points, self.judge.operating_point
        usual = self.running.usual_dbfs
        if points is not None and number:
            usual = points.points[number - 1].level_dbfs
        point_title = "" if points is None or number is None else points.title(number)
        recent = [loudness.dbfs for _, loudness in list(self.capture.levels)[-_LEVEL_SECONDS:]]
        difference = descriptions.level_difference(recent, usual)
        return descriptions.anomaly(point_title, difference)

    def _report_drift(self, now: float, verdict: Verdict) -> list[Message]:
        if not verdict.drifted:
            return self.events.end("drift", now)
        if "drift" in self.events.ongoing or self.muted:
            return []
        return self.events.begin("drift", "alert", now, descriptions.DRIFT, peak=verdict.smoothed)

    def _report_source(self, now: float, problem: str, detail: str = "") -> list[Message]:
        """`detail`: a more exact reason, where the source gives one."""
        before, self._problem = self._problem, problem
        if not problem:
            return self.events.end("signal", now)
        continues = "signal" in self.events.ongoing and before in ("", problem)
        if continues or self.muted:
            return []
        # Another problem is another event.
        ended = self.events.end("signal", now)
        return [*ended, *self.events.begin("signal", "alert", now, detail or problem)]

    def _take_sample(self, now: float) -> None:
        recent = now - self._sampled < _SAMPLE_EVERY
        if recent or now - self.capture.begun < _SAMPLE_SECONDS:  # a gap is silence
            return
        self._sampled = now
        sample = self.capture.samples.between(now - _SAMPLE_SECONDS, now)[0]
        self.normal_samples[self.judge.operating_point or UNKNOWN] = sample

    def _add_recent(self, now: float, smoothed: float | None) -> None:
        scores = self.recent_scores
        if smoothed is not None and (not scores or now - scores[-1][0] >= _RECENT_EVERY):
            scores.append((now, smoothed))
        while scores and scores[0][0] < now - _RECENT_SECONDS:
            scores.popleft()


def _scale(model: LiveModel | None, section: str) -> ScoreScale | None:
    if model is None:
        return None
    return ScoreScale(model.detector.calibration.tail(section), model.clip_seconds)
