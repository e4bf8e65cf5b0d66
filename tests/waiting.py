"""Waiting in tests: for a condition, never for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(condition: Callable[[], T], timeout: float = 60.0, every: float = 0.02) -> T:
    """The first true value of `condition`, asked for at most `timeout` seconds.

    The time limit only ends a test that has failed: it is long, for busy machines.
    """
    end = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < end, f"the condition was not met within {timeout:g} s"
        time.sleep(every)
    return value
