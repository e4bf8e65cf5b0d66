"""A limit on how often someone may try a password."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import deque

_WINDOW_SECONDS = 300.0
_MAX_PER_NAME = 10  # wrong passwords in the window, from any address
_MAX_PER_ADDRESS = 30  # for any names
_MAX_TRACKED = 10_000  # names and addresses


class SignInAttempts:
    """Wrong passwords of the last minutes, by name and by address."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], deque[float]] = {}
        self._lock = threading.Lock()

    def begin(self, name: str, address: str) -> float:
        """Count an attempt before it is made, and return 0; else the seconds to wait.

        Counting first keeps a hundred simultaneous attempts from counting as one.
        """
        now = time.monotonic()
        limits = {("name", name): _MAX_PER_NAME, ("address", _network(address)): _MAX_PER_ADDRESS}
        with self._lock:
            wait = 0.0
            for key, most in limits.items():
                times = self._times.get(key, deque())
                while times and now - times[0] > _WINDOW_SECONDS:
                    times.popleft()
                if len(times) >= most:
                    wait = max(wait, _WINDOW_SECONDS - (now - times[0]))
            if wait == 0.0:
                for key in limits:
                    self._times.setdefault(key, deque()).append(now)
                self._remove_old(now)
            return wait

    def succeed(self, name: str, address: str) -> None:
        """The password was right: reset the name, and take this attempt off the address.

        The address is not reset, or a person with one account could try passwords of others.
        """
        with self._lock:
            self._times.pop(("name", name), None)
            times = self._times.get(("address", _network(address)))
            if times:
                times.pop()
            if not times:
                self._times.pop(("address", _network(address)), None)

    def _remove_old(self, now: float) -> None:
        if len(self._times) > _MAX_TRACKED:
            recent = {
                key: times
                for key, times in self._times.items()
                if now - times[-1] <= _WINDOW_SECONDS
            }
            # Under attack from many addresses at once, those with the most attempts are kept.
            most = sorted(recent.items(), key=lambda item: len(item[1]))[-_MAX_TRACKED // 2 :]
            self._times = dict(most)


def _network(address: str) -> str:
    """A customer has 2⁶⁴ IPv6 addresses; they count as one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:  # an IPv4 client of a dual-stack listener
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))
    return address
