"""Reads the configuration file again whenever it changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ssdpt.common.background_thread import BackgroundThread
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.sentences import Sentence

_CHECK_EVERY = 1.0  # seconds

FileVersion = tuple[int, int] | None  # time of change and size; None: no file


class ConfigWatcher(BackgroundThread):
    """One thread that looks at the file; a broken file changes nothing."""

    def __init__(
        self,
        path: Path,
        reload: Callable[[], list[str]],
        log: ServiceLog,
        used: FileVersion,
        reporter: Reporter = SILENT,
    ) -> None:
        """`reload` gives what has changed, in sentences; `used`: version of the file in use."""
        super().__init__("ssdpt-config")
        self._path, self._reload, self._log, self._reporter = path, reload, log, reporter
        self._used = used

    def _run(self) -> None:
        seen = self._used
        while not self._stop.wait(_CHECK_EVERY):
            now, before = file_version(self._path), seen
            seen = now
            if now == self._used or now != before:
                continue  # unchanged, or being written at this moment
            try:
                for change in self._reload() or [Sentence("config.unchanged")]:
                    self._log.note(Sentence("config.change", change=change))
                self._log.config_problem = ""
            except StoreUnavailable:
                continue  # tried again until the store is back
            except Exception as error:
                message = Sentence("config.error", error=error)
                self._reporter.warn(message)
                self._log.note(message)
                self._log.config_problem = message
            self._used = now


def file_version(path: Path) -> FileVersion:
    """Changes when the file does; None while there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
