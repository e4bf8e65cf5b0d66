"""The sources on trial: few at a time, and each only as long as somebody looks at it."""

from __future__ import annotations

import secrets
import threading
import time as clock
from collections.abc import Callable

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.service.trial import SnapshotTrial, StreamTrial, Trial
from ssdpt.monitor.setup_messages import TrialStatus
from ssdpt.monitor.sources.base import SourceWithStatus
from ssdpt.sentences import Sentence

_MOST = 4
_UNUSED_SECONDS = 10.0  # without a look at it: the page was left
_LONGEST_SECONDS = 900.0
_CLOSING_SECONDS = 1.0  # a sound card may be wanted by the machine at once


class UnknownTrial(KeyError):
    """There is no trial with this id, or no longer."""


class Trials:
    """Opens and closes them; may be called from any thread."""

    def __init__(
        self, config: Callable[[], MonitorConfig], now: Callable[[], float] = clock.monotonic
    ) -> None:
        """`config` says whether people may listen; `now` in seconds, of any origin."""
        self._config, self._now = config, now
        self._trials: dict[str, Trial] = {}
        self._times: dict[str, tuple[float, float]] = {}  # opened, and last looked at, by id
        self._lock = threading.Lock()

    def open(self, settings: MachineSettings) -> TrialStatus:
        """Begin to read the source of a machine that need not exist."""
        settings = settings.model_copy(update={"source": settings.source.for_trial()})
        id = secrets.token_hex(8)
        with self._lock:
            if len(self._trials) >= _MOST:
                raise SsdptError(Sentence("machines.tooManyTrials", count=_MOST))
            is_snapshot = settings.sensor.snapshots
            trial = SnapshotTrial(id, settings) if is_snapshot else StreamTrial(id, settings)
            self._trials[id] = trial
            self._times[id] = (self._now(), self._now())
        trial.start()
        return trial.status(0.0, self._config())

    def status(self, id: str, seconds: float) -> TrialStatus:
        """How a trial is doing, with a picture of the last seconds; it goes on."""
        trial = self.find(id)
        with self._lock:
            if id in self._times:
                self._times[id] = (self._times[id][0], self._now())
        return trial.status(seconds, self._config())

    def find(self, id: str) -> Trial:
        """A trial; this does not count as a look at it."""
        with self._lock:
            trial = self._trials.get(id)
        if trial is None:
            raise UnknownTrial(id)
        return trial

    def close(self, id: str) -> None:
        """End a trial, and free its device."""
        with self._lock:
            if id not in self._trials:
                raise UnknownTrial(id)
            trial = self._remove(id)
        trial.stop(_CLOSING_SECONDS)

    def close_unused(self) -> None:
        """Called every second: end those that nobody looks at any more."""
        now = self._now()
        with self._lock:
            for id, (opened, asked) in list(self._times.items()):
                if now - asked > _UNUSED_SECONDS or now - opened > _LONGEST_SECONDS:
                    self._remove(id).ask_to_stop()

    def close_all(self) -> None:
        with self._lock:
            for trial in self._trials.values():
                trial.ask_to_stop()
            self._trials.clear()
            self._times.clear()

    def source_for(self, machine: str) -> SourceWithStatus | None:
        """The source on trial of a machine that does not exist yet; None: there is none."""
        with self._lock:
            trials = [trial for trial in self._trials.values() if trial.settings.id == machine]
        return trials[-1].source if trials else None

    def _remove(self, id: str) -> Trial:
        del self._times[id]
        return self._trials.pop(id)
