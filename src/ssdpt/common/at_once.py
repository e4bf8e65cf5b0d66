"""Several things done at once, for a limited time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from time import monotonic

from ssdpt.errors import SsdptError

_LOG = logging.getLogger(__name__)


def do_at_once(tasks: Mapping[str, Callable[[], object]], seconds: float) -> list[str]:
    """Do all tasks at the same time, each on a thread of its own; gives the names of late ones.

    A task that is not over after so many seconds is left to itself: whoever stops a service does
    not wait for a receiver or a database that hangs. An error of a task is logged.
    """
    threads = {
        name: threading.Thread(target=_attempt, args=(name, task), name=name, daemon=True)
        for name, task in tasks.items()
    }
    for thread in threads.values():
        thread.start()
    end = monotonic() + seconds
    for thread in threads.values():
        thread.join(max(0.0, end - monotonic()))
    return [name for name, thread in threads.items() if thread.is_alive()]


def _attempt(name: str, task: Callable[[], object]) -> None:
    try:
        task()
    except SsdptError as error:
        _LOG.warning("%s failed: %s", name, error)
    except Exception:
        _LOG.exception("%s failed", name)
