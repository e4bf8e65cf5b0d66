"""A limit on how often someone may try a password, which cannot lock the right person out.

Wrong passwords count for who sends them: for an address and a name together, for the address, and,
against guessing from many addresses, for the name and for all names. A browser in which the person
has signed in before counts for itself alone, so nobody else's wrong passwords keep it out.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from ssdpt.server.addresses import network_of

_FORGOTTEN = 3600.0  # seconds after the last wrong password
_MAX_TRACKED = 10_000


@dataclass(frozen=True, slots=True)
class _Limit:
    """So many wrong passwords are free; then each doubles the wait."""

    free: int
    first: float = 15.0  # seconds
    longest: float = 900.0  # seconds

    def wait(self, count: int) -> float:
        """Seconds to wait after so many wrong passwords."""
        if count < self.free:
            return 0.0
        return min(self.longest, self.first * 2.0 ** min(count - self.free, 60))


KNOWN_DEVICE = _Limit(10)
ADDRESS_AND_NAME = _Limit(10)
ADDRESS = _Limit(30)
NAME = _Limit(100)  # from devices that are not known
ALL = _Limit(1000, first=1.0, longest=60.0)  # from devices that are not known, for any name

Key = tuple[str, ...]


@dataclass(slots=True)
class _Failures:
    count: int = 0
    last: float = 0.0  # when the last one was, in seconds of a steady clock
    until: float = 0.0  # when the next may be


class SignInAttempts:
    """Wrong passwords of the last hour. May be used from any thread."""

    def __init__(self) -> None:
        self._failures: dict[Key, _Failures] = {}
        self._lock = threading.Lock()

    def begin(self, name: str, address: str, device: str = "") -> float:
        """Count an attempt before it is made, and return 0; else the seconds to wait.

        `device`: the id of a browser in which this person has signed in before; empty: none.
        Counting first keeps a hundred simultaneous attempts from counting as one.
        """
        now = time.monotonic()
        with self._lock:
            limits = _limits(name, address, device)
            entries = {key: self._current(key, now) for key in limits}
            wait = max(entry.until - now for entry in entries.values())
            if wait > 0.0:
                return wait
            for key, entry in entries.items():
                entry.count += 1
                entry.last, entry.until = now, now + limits[key].wait(entry.count)
                self._failures[key] = entry
            self._forget_some(now)
            return 0.0

    def succeed(self, name: str, address: str, device: str = "") -> None:
        """The password was right: reset what is of this person alone, take it off the rest.

        The rest is not reset, or a person with one account could try passwords of others.
        """
        with self._lock:
            for key, limit in _limits(name, address, device).items():
                entry = self._failures.get(key)
                if entry is None:
                    continue
                entry.count -= 1
                if entry.count < limit.free:
                    entry.until = 0.0
                if entry.count <= 0 or limit is KNOWN_DEVICE or limit is ADDRESS_AND_NAME:
                    del self._failures[key]

    def _current(self, key: Key, now: float) -> _Failures:
        entry = self._failures.get(key)
        if entry is None or (now - entry.last > _FORGOTTEN and now >= entry.until):
            return _Failures()
        return entry

    def _forget_some(self, now: float) -> None:
        if len(self._failures) <= _MAX_TRACKED:
            return
        recent = {
            key: entry for key, entry in self._failures.items() if now - entry.last <= _FORGOTTEN
        }
        # Under attack from many addresses at once, those with the most attempts are kept.
        most = sorted(recent.items(), key=lambda item: item[1].count)[-_MAX_TRACKED // 2 :]
        self._failures = dict(most)


def _limits(name: str, address: str, device: str) -> dict[Key, _Limit]:
    """What an attempt counts for."""
    name = name.casefold()
    if device:
        return {("device", device, name): KNOWN_DEVICE}
    network = network_of(address)
    return {
        ("address and name", network, name): ADDRESS_AND_NAME,
        ("address", network): ADDRESS,
        ("name", name): NAME,
        ("all",): ALL,
    }
