"""The shaft of a machine: how fast it turned, and where its diagnosis lines were then."""

from __future__ import annotations

import threading
from collections import deque

from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.diagnosis.lines import DiagnosisLine, ShaftSpeed, SpeedOrigin, diagnosis_lines
from ssdpt.diagnosis.machine_data import MachineData
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.sentences import Sentence

_FRESH = 60.0  # seconds for which a reported speed holds
_HELD = 900.0  # seconds; events are described within minutes
_STEADY = 0.02  # relative, that the speed may change during a sound
_REPORT_ERROR = 0.002  # relative, of a reported speed


class Shaft:
    """Speeds that were reported lately, and the lines at any of them. Threads may share it."""

    def __init__(self, data: MachineData, catalogue: BearingCatalogue) -> None:
        """SsdptError for a bearing that is not in the catalogue."""
        self._data, self._geometries = data, data.geometries(catalogue)
        self._reported: deque[tuple[float, float]] = deque()  # (time, rpm)
        self._lock = threading.Lock()

    def continue_from(self, previous: Shaft) -> None:
        """The same machine with other settings: its speed is the same."""
        self._reported = previous._reported

    def report_speed(self, at: float, rpm: float) -> None:
        """Its control system says how fast it turns, in revolutions per minute."""
        with self._lock:
            self._reported.append((at, rpm))
            while self._reported[0][0] < at - _HELD:
                self._reported.popleft()

    def speed(self, begin: float, end: float) -> tuple[SpeedOrigin, ShaftSpeed | None]:
        """The speed from `begin` to `end`; None where it is not known, or changed meanwhile."""
        reported = self._reported_between(begin, end)
        if not reported:
            fixed, tolerance = self._data.speed_rpm, self._data.speed_tolerance_percent / 100
            return ("unknown", None) if fixed is None else ("fixed", ShaftSpeed(fixed, tolerance))
        mean, spread = sum(reported) / len(reported), max(reported) - min(reported)
        if spread > _STEADY * mean:
            return "changing", None
        if mean <= 0:
            return "reported", None  # it stands still
        return "reported", ShaftSpeed(mean, _REPORT_ERROR + spread / mean / 2)

    def lines(self, begin: float, end: float) -> tuple[DiagnosisLine, ...]:
        """Where its lines were from `begin` to `end`; none where the speed is not known."""
        return self.lines_at(self.speed(begin, end)[1])

    def lines_at(self, speed: ShaftSpeed | None) -> tuple[DiagnosisLine, ...]:
        """Where its lines are at a speed."""
        return () if speed is None else diagnosis_lines(self._data, self._geometries, speed)

    def rpm(self, begin: float, end: float) -> float | None:
        """Its speed from `begin` to `end`; None where it is not known, or changed meanwhile."""
        speed = self.speed(begin, end)[1]
        return None if speed is None else speed.rpm

    def _reported_between(self, begin: float, end: float) -> list[float]:
        """Speeds in force from `begin` to `end`: the one before, if it is fresh, and all since."""
        with self._lock:
            reported = list(self._reported)
        before = [rpm for at, rpm in reported if begin - _FRESH <= at < begin][-1:]
        return before + [rpm for at, rpm in reported if begin <= at <= end]


def open_shaft(settings: MachineSettings, catalogue: BearingCatalogue) -> Shaft:
    """The shaft of a machine; SsdptError for a bearing that is not in the catalogue."""
    try:
        return Shaft(settings.machine_data, catalogue)
    except SsdptError as error:
        raise SsdptError(
            Sentence("machines.machineDataUnusable", id=settings.id, error=error)
        ) from error
