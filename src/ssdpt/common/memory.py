"""Memory of a process that runs for months and in many threads."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from functools import cache


def settle() -> None:
    """Free garbage, and take all else that is there now as staying.

    Python looks through all objects for garbage again and again, and every thread stands still
    meanwhile: 0.1 to 0.3 s every ten seconds where 64 machines are monitored. Most of these objects
    stay as long as the process. After this it looks through those that are made from now on; what
    stayed and is garbage later is freed by the next call.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def release() -> None:
    """Give unused pages back to the system, where the C library can.

    Many threads with short-lived arrays leave holes everywhere, and the memory of a busy moment
    would be kept for ever.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """That of glibc; None on other systems."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim
