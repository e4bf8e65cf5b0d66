"""Machines and the service as the API, the page and other programs see them."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

from ssdpt.alarms.outlook import Outlook
from ssdpt.alarms.severity import Severity
from ssdpt.monitor.messages import (
    DriftStatus,
    LearningProgress,
    Listening,
    MachineStatus,
    OperatingPointStatus,
    ServiceStatus,
    SheddingStatus,
    SourceState,
)
from ssdpt.monitor.service.current_config import CurrentConfig
from ssdpt.monitor.service.listening import listening
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.prognosis import Prognosis
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.sentences import clauses
from ssdpt.version import __version__


class ServiceView:
    """Gathers what is shown of machines and of the service."""

    def __init__(
        self,
        machines: MachineRegistry,
        current: CurrentConfig,
        prognosis: Prognosis,
        log: ServiceLog,
        shedding: Callable[[], SheddingStatus | None],
        *,
        demo: bool,
    ) -> None:
        """`shedding` says what is left out for lack of computing time."""
        self._machines, self._current, self._prognosis = machines, current, prognosis
        self._log, self._shedding, self._demo = log, shedding, demo

    def machine(self, id: str) -> MachineStatus:
        """One machine; UnknownMachine where there is none."""
        with self._machines.lock:
            machine = self._machines[id]
            return machine_status(
                machine,
                added_on_page=self._current.is_added(id),
                listening=listening(machine, self._current.config),
                severity=self._prognosis.severity(machine),
                outlook=self._prognosis.outlook(machine),
            )

    def machine_if_known(self, id: str) -> MachineStatus | None:
        """None for a machine that is not there, or no longer."""
        with self._machines.lock:
            return self.machine(id) if id in self._machines else None

    def machines(self) -> list[MachineStatus]:
        """All machines."""
        statuses = [self.machine_if_known(id) for id in self._machines.ids()]
        return [status for status in statuses if status is not None]

    @property
    def config_upgrades(self) -> tuple[str, ...]:
        """What of the configuration file is of an earlier release, in sentences."""
        return self._current.config.upgrade_notes

    def service(self) -> ServiceStatus:
        """The service itself."""
        config = self._current.config
        times = [machine.last.time for machine in self._machines if machine.last]
        return ServiceStatus(
            # In simulations the machines' clock runs ahead of ours.
            now=max(times) if times and config.speed != 1 else clock.time(),
            name=config.name,
            timezone=config.timezone,
            language=config.language,
            version=__version__,
            demo=self._demo,
            keeps_audio=config.retention.keep_audio,
            recent_minutes=config.retention.recent_seconds / 60,
            drops_speech=config.retention.drop_speech,
            speed=config.speed,
            notes=self._log.notes,
            problems=self._log.problems,
            shedding=self._shedding(),
        )


def machine_status(
    machine: MachineMonitor,
    *,
    added_on_page: bool,
    listening: Listening = "switched_off",
    severity: Severity | None = None,
    outlook: Outlook | None = None,
) -> MachineStatus:
    """Everything that is shown of a machine; a new field of the page begins here."""
    reading, drift = machine.last, machine.events.ongoing.get("drift")
    return MachineStatus(
        id=machine.id,
        name=machine.settings.title,
        site=machine.settings.site,
        group=machine.settings.group,
        type=machine.settings.type,
        model="" if machine.model is None else machine.model.detector.system_name,
        state=machine.state,
        state_since=machine.state_since,
        muted_until=machine.muted_until if machine.muted else None,
        smoothed=reading.smoothed if reading else None,
        p_value=reading.p_value if reading else None,
        level_dbfs=reading.level_dbfs if reading else None,
        last_sound=reading.time if reading else None,
        data_age=_data_age(machine),
        stale_after=machine.capture.arrivals.stale_after,
        listening=listening,
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
        operating_data=machine.operating_data,
        operating_data_source=None if machine.operating is None else machine.operating.status,
        sensor=machine.sensor_status,
        bands=machine.bands,
        change_points=tuple(machine.change_points),
        recent_scores=tuple(machine.recent_scores),
    )


def _data_age(machine: MachineMonitor) -> float | None:
    last = machine.capture.arrivals.last
    return None if last is None else clock.monotonic() - last


def _source_state(machine: MachineMonitor) -> SourceState:
    status, failure = machine.capture.source.status, machine.capture.failure
    return SourceState(
        kind=machine.settings.source.kind,
        connected=status.connected and not failure,
        message=clauses(failure or status.message, machine.source_remarks),
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
            speed_rpm=point.operation.speed_rpm,
            load_percent=point.operation.load_percent,
        )
        for number, point in enumerate(points.points if points else (), 1)
    )
