"""How often someone may try a password."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import deque

_SECONDS = 300.0
_OF_A_NAME = 10  # wrong passwords in that time, from wherever
_OF_AN_ADDRESS = 30  # for whatever names
_MOST = 10_000  # names and addresses that are remembered


class Attempts:
    """Wrong passwords of the last minutes, by name and by address."""

    def __init__(self) -> None:
        self._tried: dict[tuple[str, str], deque[float]] = {}
        self._lock = threading.Lock()

    def begin(self, name: str, address: str) -> float:
        """Count an attempt before it is made; else how many seconds until one is allowed.

        Counting first keeps a hundred attempts at once from being one.
        """
        now = time.monotonic()
        limits = {("name", name): _OF_A_NAME, ("address", _network(address)): _OF_AN_ADDRESS}
        with self._lock:
            wait = 0.0
            for key, most in limits.items():
                tried = self._tried.get(key, deque())
                while tried and now - tried[0] > _SECONDS:
                    tried.popleft()
                if len(tried) >= most:
                    wait = max(wait, _SECONDS - (now - tried[0]))
            if wait == 0.0:
                for key in limits:
                    self._tried.setdefault(key, deque()).append(now)
                self._forget_old(now)
            return wait

    def succeed(self, name: str, address: str) -> None:
        """The password was right: the name starts afresh, and this was none of the wrong ones.

        The address does not start afresh, or a person with one login could try for others.
        """
        with self._lock:
            self._tried.pop(("name", name), None)
            tried = self._tried.get(("address", _network(address)))
            if tried:
                tried.pop()
            if not tried:
                self._tried.pop(("address", _network(address)), None)

    def _forget_old(self, now: float) -> None:
        if len(self._tried) > _MOST:
            recent = {
                key: tried for key, tried in self._tried.items() if now - tried[-1] <= _SECONDS
            }
            # Under attack from everywhere at once, those who tried most are remembered.
            most = sorted(recent.items(), key=lambda item: len(item[1]))[-_MOST // 2 :]
            self._tried = dict(most)


def _network(address: str) -> str:
    """One customer has 2⁶⁴ addresses of IPv6; they count as one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:  # as a listener for both sees one of IPv4
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))
    return address
