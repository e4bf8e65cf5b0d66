"""Machines and the service as the API, the page and other programs see them."""

from __future__ import annotations

import time as clock

from ssdpt.alarms.outlook import Outlook
from ssdpt.alarms.severity import Severity
from ssdpt.monitor.messages import (
    DriftStatus,
    LearningProgress,
    MachineStatus,
    OperatingPointStatus,
    ServiceStatus,
    SourceState,
)
from ssdpt.monitor.service.current_config import CurrentConfig
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.prognosis import Prognosis
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.version import __version__


class ServiceView:
    """Gathers what is shown of machines and of the service."""

    def __init__(
        self,
        machines: MachineRegistry,
        current: CurrentConfig,
        prognosis: Prognosis,
        log: ServiceLog,
        *,
        demo: bool,
    ) -> None:
        self._machines, self._current, self._prognosis = machines, current, prognosis
        self._log, self._demo = log, demo

    def machine(self, id: str) -> MachineStatus:
        """One machine; UnknownMachine where there is none."""
        with self._machines.lock:
            machine = self._machines[id]
            return machine_status(
                machine,
                added_on_page=self._current.is_added(id),
                severity=self._prognosis.severity(machine),
                outlook=self._prognosis.outlook(machine),
            )

    def machine_if_known(self, id: str) -> MachineStatus | None:
        """None for a machine that is not there, or no longer."""
        with self._machines.lock:
            return self.machine(id) if id in self._machines else None

    def service(self) -> ServiceStatus:
        """The service itself."""
        config = self._current.config
        times = [machine.last.time for machine in self._machines if machine.last]
        return ServiceStatus(
            # In simulations the machines' clock runs ahead of ours.
            now=max(times) if times and config.speed != 1 else clock.time(),
            name=config.name,
            timezone=config.timezone,
            version=__version__,
            demo=self._demo,
            keeps_audio=config.retention.keep_audio,
            speed=config.speed,
            notes=self._log.notes,
            problems=self._log.problems,
        )


def machine_status(
    machine: MachineMonitor,
    *,
    added_on_page: bool,
    severity: Severity | None = None,
    outlook: Outlook | None = None,
) -> MachineStatus:
    """Everything that is shown of a machine; a new field of the page begins here."""
    reading, drift = machine.last, machine.events.ongoing.get("drift")
    return MachineStatus(
        id=machine.id,
        name=machine.settings.title,
        site=machine.settings.site,
        model="" if machine.model is None else machine.model.detector.system_name,
        state=machine.state,
        state_since=machine.state_since,
        muted_until=machine.muted_until if machine.muted else None,
        smoothed=reading.smoothed if reading else None,
        p_value=reading.p_value if reading else None,
        level_dbfs=reading.level_dbfs if reading else None,
        last_sound=reading.time if reading else None,
        thresholds=machine.thresholds,
        operating_point=machine.operating_point,
        operating_points=_operating_points(machine),
        added_on_page=added_on_page,
        drift=None if drift is None else DriftStatus(message=drift.message, since=drift.began),
        source=_source_state(machine),
        learning=_learning_progress(machine),
        ongoing_events=len(machine.events.ongoing),
        last_event=machine.events.last,
        baseline=machine.baseline_status,
        question=machine.question,
        severity=severity,
        outlook=outlook,
        sensor=machine.sensor_status,
        bands=machine.bands,
        change_points=tuple(machine.change_points),
        recent_scores=tuple(machine.recent_scores),
    )


def _source_state(machine: MachineMonitor) -> SourceState:
    status, failure = machine.capture.source.status, machine.capture.failure
    return SourceState(
        kind=machine.settings.source.kind,
        connected=status.connected and not failure,
        message=(failure or status.message) + machine.source_remarks,
        drift_ppm=status.drift_ppm,
        gaps=status.gaps,
        reconnects=status.reconnects,
    )


def _learning_progress(machine: MachineMonitor) -> LearningProgress | None:
    collector = machine.collector
    if collector is None:
        return None
    return LearningProgress(seconds=collector.seconds, target_seconds=collector.target_seconds)


def _operating_points(machine: MachineMonitor) -> tuple[OperatingPointStatus, ...]:
    points = machine.operating_points
    return tuple(
        OperatingPointStatus(
            number=number,
            name=point.name,
            share=point.share,
            level_dbfs=point.level_dbfs,
            usual_score=point.usual_score,
        )
        for number, point in enumerate(points.points if points else (), 1)
    )
