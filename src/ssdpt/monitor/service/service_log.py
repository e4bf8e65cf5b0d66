"""What whoever runs the service should know: notes of what happened, and present problems."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from ssdpt.errors import one_line
from ssdpt.sentences import Sentence

_MOST_NOTES = 20
_LOG = logging.getLogger(__name__)


class ServiceLog:
    """The last notes, and the problems that a number of checks report."""

    def __init__(self) -> None:
        self.config_problem = ""  # why the changed configuration file is not used
        self._notes: deque[str] = deque(maxlen=_MOST_NOTES)
        self._checks: list[Callable[[], str]] = [lambda: self.config_problem]
        self._lock = threading.Lock()

    def add_check(self, check: Callable[[], str]) -> None:
        """`check` gives a problem in a sentence, or nothing."""
        self._checks.append(check)

    def note(self, text: Sentence) -> None:
        """Something has happened."""
        line = one_line(text)
        _LOG.info("%s", line)
        with self._lock:
            if not self._notes or self._notes[-1] != line:
                self._notes.append(line)

    def failure(self, what: Sentence, error: Exception) -> None:
        """An internal error; noted once while it repeats."""
        text = Sentence("service.failed", what=what, error=repr(error))
        if text not in self.notes:
            _LOG.error("%s", text, exc_info=error)
            self.note(text)

    @property
    def notes(self) -> tuple[str, ...]:
        """Newest last."""
        with self._lock:
            return tuple(self._notes)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong right now."""
        return tuple(problem for check in self._checks if (problem := check()))
