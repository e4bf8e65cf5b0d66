"""One monitored machine: what is captured of it becomes a state, readings and events.

What is the same for every machine is here; how its sound is judged is a subclass.
"""

from __future__ import annotations

import time as clock
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.alarms.reported_running import ReportedRunning
from ssdpt.alarms.source_health import SourceHealth
from ssdpt.alarms.speed_and_load import SpeedAndLoad
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.monitor.capture.base import Capture
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.events.event_log import EventLog
from ssdpt.monitor.learning.collector import BaselineCollector
from ssdpt.monitor.learning.snapshot_collector import SnapshotCollector
from ssdpt.monitor.messages import (
    BandStatus,
    BaselineStatus,
    ChangePoint,
    CommissioningQuestion,
    MachineState,
    Message,
    OperatingData,
    Reading,
    SensorStatus,
    StateChanged,
)
from ssdpt.monitor.operating.base import OperatingDataSource
from ssdpt.monitor.scoring.live_model import LiveModel, LiveScore
from ssdpt.monitor.service.listening import SoundStream
from ssdpt.monitor.service.shaft import Shaft
from ssdpt.types import Level

_CHANGE_POINTS_KEPT = 50
_RECENT_SECONDS, _RECENT_EVERY = 600.0, 10.0  # of the scores shown on a card


class MachineMonitor(ABC):
    """Everything that is known of one machine now."""

    def __init__(self, settings: MachineSettings, capture: Capture, shaft: Shaft) -> None:
        self.settings, self.capture, self.shaft = settings, capture, shaft
        self.model: LiveModel | None = None  # that scores it
        self.events = EventLog(settings.id, settings.alarm.rejoin_within)
        self.health = SourceHealth()
        self.muted_until: float | None = None
        # While it collects normal clips or snapshots.
        self.collector: BaselineCollector | SnapshotCollector | None = None
        self.fitting = False  # whether a model is being fitted to them
        self.state: MachineState = "starting"
        self.state_since = clock.time()
        self.last: Reading | None = None
        self.recent_scores: deque[tuple[float, float]] = deque()  # (time, smoothed score)
        self.change_points: deque[ChangePoint] = deque(maxlen=_CHANGE_POINTS_KEPT)
        self.operating: OperatingDataSource | None = None  # what its control system reports
        reported = settings.operating_data
        self.reported_running = ReportedRunning(reported.settle_seconds if reported else 0.0)
        self._problem = ""  # of its source, as last reported

    @property
    def parts(self) -> tuple[Capture | OperatingDataSource, ...]:
        """What receives something on a thread of its own, to be started and stopped."""
        return (self.capture,) if self.operating is None else (self.capture, self.operating)

    @property
    def stream(self) -> SoundStream | None:
        """Its sound as it arrives; None: it sends snapshots."""
        return self.capture if isinstance(self.capture, AudioCapture) else None

    @property
    def operating_data(self) -> OperatingData | None:
        """How it runs by its control system; None where that reports nothing."""
        return None if self.operating is None else self.operating.data

    @property
    def operation(self) -> SpeedAndLoad:
        """Its speed and load by its control system."""
        data = self.operating_data
        return SpeedAndLoad() if data is None else SpeedAndLoad(data.speed_rpm, data.load_percent)

    def _update_reported_running(self, now: float) -> ReportedRunning:
        """What its control system says about whether it runs, after this second.

        The speed that it reports moves the diagnosis lines.
        """
        data = self.operating_data
        if data is not None and data.speed_rpm is not None:
            self.shaft.report_speed(now, data.speed_rpm)
        self.reported_running.update(now, None if data is None else data.running)
        return self.reported_running

    @property
    def id(self) -> str:
        return self.settings.id

    @property
    @abstractmethod
    def due(self) -> bool:
        """Whether something new was captured."""

    def look(self) -> int:
        """Take note of what is new; gives how many seconds of sound it is."""
        return 1

    @property
    def can_be_shed(self) -> bool:
        """Whether some of its seconds may be left out: others follow at once."""
        return False

    @property
    def urgent(self) -> bool:
        """Whether it comes first, since something is unusual or may be in a moment."""
        return self.state in ("alert", "alarm") or "anomaly" in self.events.ongoing

    @abstractmethod
    def process(self, score: LiveScore | None, *, scored: bool = True) -> list[Message]:
        """Process what is new, which the model scored as `score`.

        Not `scored`: the model was not asked this time, and the level stays as it is.
        """

    @property
    @abstractmethod
    def thresholds(self) -> Thresholds | None:
        """None while there is no baseline."""

    @property
    def operating_point(self) -> int | None:
        """Number of the current one; None: not known."""
        return None

    @property
    def operating_points(self) -> OperatingPoints | None:
        """None where none are learned."""
        return None

    @property
    @abstractmethod
    def sensor_status(self) -> SensorStatus:
        """What it is measured with."""

    @property
    def source_remarks(self) -> str:
        """What is to be said about its source beyond that one's own status."""
        return ""

    @property
    def baseline_status(self) -> BaselineStatus | None:
        """What it is compared with; None until that is learned."""
        return None

    @property
    def question(self) -> CommissioningQuestion | None:
        """What a person is asked; None: nothing."""
        return None

    @property
    def bands(self) -> tuple[BandStatus, ...]:
        """The level of each band against the baseline; empty until that is learned."""
        return ()

    @abstractmethod
    def start_learning(self, minutes: float) -> None:
        """Collect a new baseline from so many minutes of running."""

    @abstractmethod
    def learned_values(self) -> dict[str, Any]:
        """What it has learned beside its model and must outlive a restart, by key."""

    @abstractmethod
    def restore_values(self, get: Callable[[str], Any]) -> None:
        """The reverse of `learned_values`; `get` gives None for a key that is not kept."""

    @abstractmethod
    def accept_false_alerts(self, per_week: float) -> None:
        """Set the thresholds for so many false alerts per week."""

    @abstractmethod
    def resume(self, level: Level) -> None:
        """The service has restarted during an event of this level."""

    @abstractmethod
    def exclude_fault(self, begin: float, end: float | None) -> None:
        """A person says that there was a fault, until now if `end` is None."""

    @property
    def lost(self) -> bool:
        """Whether no sound arrives any more."""
        if self.capture.failure:
            return True
        silent = clock.monotonic() - self.capture.last_chunk_at
        longest = self.settings.source.max_silence
        return longest is not None and silent > longest

    @property
    def is_played(self) -> bool:
        """Whether its sound is a recording or a simulation, whose time may run ahead of ours."""
        return self.settings.source.playback_speed is not None

    @property
    def now(self) -> float:
        """Seconds since 1970 by the clock that its sound follows."""
        if not self.is_played or self.last is None:
            return clock.time()
        # Where nothing is played any more, time goes on.
        since = clock.monotonic() - self.capture.last_chunk_at
        return max(clock.time(), self.last.time + since)

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

    def continue_from(self, previous: MachineMonitor) -> None:
        """Go on from the same machine before its settings changed."""
        self.events, self.muted_until = previous.events, previous.muted_until
        self.events.rejoin_within = self.settings.alarm.rejoin_within
        self.state, self.state_since = previous.state, previous.state_since
        self.last, self.recent_scores = previous.last, previous.recent_scores
        self.change_points = previous.change_points
        if self.capture is not previous.capture:
            self.capture.arrivals.continue_from(previous.capture.arrivals)
        self.shaft.continue_from(previous.shaft)
        if self.settings.model is None and type(previous) is type(self):
            self.collector, self.fitting = previous.collector, previous.fitting
        self.health, self._problem = previous.health, previous._problem
        self.reported_running.continue_from(previous.reported_running)

    def set_state(self, state: MachineState) -> list[Message]:
        """Be in this state until the next second."""
        return self._change_state(state, self.last.time if self.last else clock.time(), None)

    def check_lost(self) -> list[Message]:
        """Called every second of real time: report a source that sends nothing."""
        if not self.lost:
            return []
        now = self.now
        problem = self.health.update(now, None, lost=True)
        messages = self._change_state("lost", now, None)
        self._lose_source()
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

    @abstractmethod
    def _lose_source(self) -> None:
        """No sound arrives any more."""

    def _clock_set_back(self) -> None:
        """Everything counted in time starts again."""
        self.events.clock_set_back()
        self.health = SourceHealth()
        self.recent_scores.clear()

    def _change_state(
        self, state: MachineState, now: float, smoothed: float | None
    ) -> list[Message]:
        if state == self.state:
            return []
        self.state, self.state_since = state, now
        return [StateChanged(machine=self.id, state=state, at=now, smoothed=smoothed)]

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

    def _add_recent(self, now: float, smoothed: float | None) -> None:
        scores = self.recent_scores
        if smoothed is not None and (not scores or now - scores[-1][0] >= _RECENT_EVERY):
            scores.append((now, smoothed))
        while scores and scores[0][0] < now - _RECENT_SECONDS:
            scores.popleft()
