"""Slow work, one job after the other, so that no second of a machine waits for it."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

from ssdpt.errors import SsdptError
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.sentences import Sentence

_LOG = logging.getLogger(__name__)


class JobQueue:
    """Runs jobs on one thread; a job that fails is noted."""

    def __init__(self, log: ServiceLog, name: str) -> None:
        self._log, self.name = log, name
        self._closed = False
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        # A daemon: stopping the service does not wait for a model to be fitted.
        self._thread = threading.Thread(target=self._run, name=f"ssdpt-{name}", daemon=True)
        self._thread.start()

    def submit(self, failure: Sentence, job: Callable[[], None]) -> None:
        """Run `job` in its turn; `failure` says what did not happen if it fails."""
        self._jobs.put(lambda: self._attempt(failure, job))

    def close(self, timeout: float = 0.0) -> None:
        """Run what is queued for at most `timeout` seconds, then start nothing more.

        A longer job, such as a fit, is not waited for.
        """
        done = threading.Event()
        self._jobs.put(done.set)
        done.wait(timeout)
        self._closed = True
        self._jobs.put(lambda: None)

    def _run(self) -> None:
        while not self._closed:
            self._jobs.get()()

    def _attempt(self, failure: Sentence, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            if self._closed:
                return  # the service was stopped during the job
            if isinstance(error, SsdptError | OSError):
                self._log.note(Sentence("service.failedBecause", failure=failure, error=error))
                return
            _LOG.exception("%s", failure)
            self._log.note(Sentence("service.failedInternally", failure=failure, error=repr(error)))
