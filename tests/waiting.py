"""Wait in a test until something has happened, without a fixed sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T],
    message: str | Callable[[], str] = "",
    *,
    timeout: float = 180.0,
    every: float = 0.01,
) -> T:
    """The first true value of `condition()`; fails with `message` after `timeout` seconds.

    `message` says what was expected: "the event is stored"; a function can add what is there
    instead. An assertion that `condition` raises ends the wait at once, so it may check that a
    process is still alive. The limit only ends a test that has failed: it is long, for busy
    computers. `every`: seconds between two looks.
    """
    end = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() >= end:
            expected = message() if callable(message) else message
            raise AssertionError(f"not within {timeout:g} s: {expected or 'the condition'}")
        time.sleep(every)
    return value
