"""Sends the report of the week before, once, at the time that the configuration names."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

from ssdpt.monitor.config import MonitorConfig, ReportSettings
from ssdpt.monitor.messages import MachineStatus, WeeklyReport
from ssdpt.monitor.service.publisher import Publisher
from ssdpt.monitor.service.weekly_report import ReportedMachine, weekly_report
from ssdpt.monitor.store import Store
from ssdpt.monitor.week import Week


def due_week(settings: ReportSettings, last_sent: str, now: float, zone: str) -> Week | None:
    """The week whose report is to be sent now; None: none.

    It is sent on the day after the week at the earliest, and later where the service did not run.

    >>> monday_at_8 = 1_763_362_800.0  # in UTC
    >>> str(due_week(ReportSettings(), "", monday_at_8, "UTC"))
    '2025-W46'
    >>> due_week(ReportSettings(), "2025-W46", monday_at_8, "UTC")
    >>> due_week(ReportSettings(time="09:00"), "2025-W45", monday_at_8, "UTC")
    """
    current = Week.of(now, zone)
    if now < current.at(settings.day, settings.clock, zone):
        current = current.shifted(-1)
    week = current.shifted(-1)
    return week if str(week) > last_sent else None  # the form of a week sorts by time


class Reports:
    """Makes weekly reports, and sends each of them once."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        config: Callable[[], MonitorConfig],
        machines: Callable[[], list[MachineStatus]],
        now: Callable[[], float] = clock.time,
    ) -> None:
        """`config` and `machines` give the present ones."""
        self._store, self._publisher = store, publisher
        self._config, self._machines, self._now = config, machines, now

    def of(self, week: Week | None = None) -> WeeklyReport:
        """Of a week, by default of the present one."""
        config, now = self._config(), self._now()
        snapshots = {machine.id for machine in config.machines if machine.sensor.snapshots}
        return weekly_report(
            self._store,
            week or Week.of(now, config.timezone),
            [
                ReportedMachine.of(status, snapshots=status.id in snapshots)
                for status in self._machines()
            ],
            plant=config.name,
            timezone=config.timezone,
            language=config.language,
            now=now,
        )

    def send_due(self) -> None:
        """Hand the report of the week before to the outputs, if it is time and not done yet."""
        config = self._config()
        if config.report is None:
            return
        last_sent = self._store.last_report_sent()
        week = due_week(config.report, last_sent, self._now(), config.timezone)
        if week is None:
            return
        report = self.of(week)
        # Remembered first: a report that is missing is asked for, one that comes twice is ignored.
        self._store.report_sent(str(week))
        if _says_something(report):
            self._publisher.publish(report)


def _says_something(report: WeeklyReport) -> bool:
    """False for a week in which nothing was monitored, such as before the first start."""
    heard = any(machine.listened_hours or machine.measurements for machine in report.machines)
    return heard or bool(report.events)
