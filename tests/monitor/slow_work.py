"""Notices disk and database work where it would hold up every machine and every look at the page.

That is in whoever holds the lock of the machines, and in the loop that judges every second.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import traceback
from pathlib import Path

from ssdpt.monitor.store.engine import Database

# Of files and folders that are written, moved or removed.
_EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree", "os.chmod"}
_MONITOR = f"{Path('ssdpt', 'monitor')}"
_watches = []


class SlowWork:
    """What was done where it must not, each with where."""

    def __init__(self, lock):
        self._lock = lock
        self.done = []

    def note(self, what):
        in_loop = threading.current_thread().name == "ssdpt-loop"
        if in_loop or self._lock._is_owned():  # by this thread
            calls = [one for one in traceback.extract_stack() if _MONITOR in one.filename]
            where = " < ".join(f"{Path(one.filename).stem}.{one.name}" for one in calls[-4:][::-1])
            self.done.append(f"{what} {'in the loop' if in_loop else 'with the lock'}: {where}")


def _hear(event, arguments):
    if not _watches or event not in _EVENTS or (event == "open" and not _writes(*arguments)):
        return
    for watch in list(_watches):
        watch.note(f"{event} {arguments[0]}")


def _writes(_, mode, flags):
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & 3)  # O_WRONLY, O_RDWR


sys.addaudithook(_hear)  # cannot be removed: it does nothing while nobody watches


@contextlib.contextmanager
def no_slow_work(lock, patch):
    """Fails at its end if there was any."""
    watch = SlowWork(lock)
    for name in ("read", "write"):
        patch.setattr(Database, name, _noting(watch, name, getattr(Database, name)))
    _watches.append(watch)
    try:
        yield
    finally:
        _watches.remove(watch)
    assert not watch.done, "\n".join(watch.done)


def _noting(watch, name, transaction):
    def noted(self, *arguments, **named):
        watch.note(f"a database {name}")
        return transaction(self, *arguments, **named)

    return noted
