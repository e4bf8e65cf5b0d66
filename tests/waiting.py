"""Wait in a test until something has happened, without a fixed sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

_PAUSE = 0.01  # seconds between two checks


def wait_until(condition: Callable[[], Result], message: str, *, timeout: float = 60.0) -> Result:
    """Return the first true result of `condition`; fail with `message` after `timeout` seconds.

    `message` says what was expected: "the event is stored". An assertion that `condition` raises
    ends the wait at once, so it may check that a process is still alive.
    """
    end = time.monotonic() + timeout
    while not (result := condition()):
        assert time.monotonic() < end, f"not within {timeout:g} s: {message}"
        time.sleep(_PAUSE)
    return result
