"""Reads the configuration file again whenever it changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ssdpt.common.background_thread import BackgroundThread
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.store import StoreUnavailable

_CHECK_EVERY = 2.0  # seconds


class ConfigWatcher(BackgroundThread):
    """One thread that looks at the file; a broken file changes nothing."""

    def __init__(
        self,
        path: Path,
        reload: Callable[[], list[str]],
        log: ServiceLog,
        reporter: Reporter = SILENT,
    ) -> None:
        """`reload` gives what has changed, in sentences."""
        super().__init__("ssdpt-config")
        self._path, self._reload, self._log, self._reporter = path, reload, log, reporter

    def _run(self) -> None:
        used = seen = _version(self._path)
        while not self._stop.wait(_CHECK_EVERY):
            now, before = _version(self._path), seen
            seen = now
            if now == used or now != before:
                continue  # unchanged, or being written at this moment
            try:
                for change in self._reload() or ["no effective change"]:
                    self._log.note(f"configuration: {change}")
                self._log.config_problem = ""
            except StoreUnavailable:
                continue  # tried again until the store is back
            except Exception as error:
                message = f"The configuration has an error, the previous one stays active: {error}"
                self._reporter.warn(message)
                self._log.note(message)
                self._log.config_problem = message
            used = now


def _version(path: Path) -> tuple[int, int] | None:
    """Changes when the file does; None while there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
