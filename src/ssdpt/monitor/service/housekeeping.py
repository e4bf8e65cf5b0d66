"""Work of every minute: retention, roll-ups, the weekly report, and what must outlive a restart."""

from __future__ import annotations

import logging
import time as clock
from collections.abc import Callable

from ssdpt.common import memory
from ssdpt.common.background_thread import BackgroundThread
from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.service.last_run import LastRun
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.monitor.service.normal_samples import NormalSamples
from ssdpt.monitor.service.prognosis import Prognosis
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.reports import Reports
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.store import Store, StoreUnavailable

_EVERY = 60.0  # seconds
_SETTLE_EVERY = 3600.0  # seconds; earlier where machines have changed
_LOG = logging.getLogger(__name__)


class Housekeeping(BackgroundThread):
    """One thread beside the loop."""

    def __init__(
        self,
        machines: MachineRegistry,
        store: Store,
        values: MachineValues,
        samples: NormalSamples,
        prognosis: Prognosis,
        reports: Reports,
        log: ServiceLog,
        last_run: LastRun,
        retention: Callable[[], RetentionSettings],
    ) -> None:
        super().__init__("ssdpt-housekeeping")
        self._machines, self._store, self._values = machines, store, values
        self._samples, self._prognosis, self._reports = samples, prognosis, reports
        self._log, self._last_run, self._retention = log, last_run, retention
        self._settled: tuple[float, list[int]] | None = None  # when, and with which machines

    def save_values(self) -> None:
        """What must outlive a restart."""
        self._values.save(*self._machines)
        self._prognosis.save()

    def _run(self) -> None:
        while not self._stop.wait(_EVERY):
            # Each by itself: on a full disk nothing can be written until old sound is removed.
            for task in (
                *(self._retain, self._roll_up, self.save_values),
                *(self._store_samples, self._prognosis.refresh, self._note_alive),
                *(self._reports.send_due, self._settle_memory),
            ):
                try:
                    task()
                except StoreUnavailable as error:
                    _LOG.warning("%s", error)
                except Exception:
                    _LOG.exception("housekeeping failed")

    def _retain(self) -> None:
        removed = self._store.retain(clock.time(), self._retention())
        if removed.message:
            self._log.note(removed.message)

    def _roll_up(self) -> None:
        self._store.roll_up(clock.time())

    def _note_alive(self) -> None:
        self._last_run.alive(clock.time())

    def _settle_memory(self) -> None:
        """What is loaded now stays; machines that were replaced or removed do not."""
        machines, now = [id(machine) for machine in self._machines], clock.monotonic()
        before = self._settled
        if before is None or before[1] != machines or now - before[0] >= _SETTLE_EVERY:
            self._settled = now, machines
            memory.settle()
        memory.release()

    def _store_samples(self) -> None:
        for machine in self._machines:
            if isinstance(machine, StreamMonitor):
                self._samples.store_due(machine)
