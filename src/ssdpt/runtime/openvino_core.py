"""OpenVINO's `Core`, one for the process."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import openvino

_lock = threading.Lock()
_made: list[openvino.Core] = []


def openvino_core() -> openvino.Core:
    """The process's `Core`, kept to its end; ModuleNotFoundError without OpenVINO.

    Its CPU plugin gives the thread that loads it a stack for signals. Freed in another thread, it
    unmaps this stack while the first still uses it, and the next signal that Python handles there
    (the end of a child, SIGTERM) ends the process with a segmentation fault: seen with 2026.4.1.
    """
    import openvino

    with _lock:
        if not _made:
            _made.append(openvino.Core())
        return _made[0]
