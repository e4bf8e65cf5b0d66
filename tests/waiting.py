"""Wait in a test until something has happened, without a fixed sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_PAUSE = 0.01  # seconds between two looks


def wait_until(condition: Callable[[], T], message: str = "", *, timeout: float = 60.0) -> T:
    """The first true value of `condition()`; fails with `message` after `timeout` seconds.

    `message` says what was expected: "the event is stored". An assertion that `condition` raises
    ends the wait at once, so it may check that a process is still alive. The limit only ends a
    test that has failed: it is long, for busy computers.
    """
    end = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {timeout:g} s: {message or 'the condition'}"
        time.sleep(_PAUSE)
    return value
