"""Runs `ssdpt`, and says when its work begins: at the first change below a folder.

As a program, `python -m faults.marked_command HANDLE FOLDER ARGUMENTS…` writes a byte to the open
file HANDLE at that moment. Before it, Python loads packages for seconds, and a kill leaves
everything as it was.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "sqlite3.connect")


def _mark(handle: int, folder: str) -> None:
    """Write the byte at the first call below `folder` that changes something."""
    is_marked = False

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal is_marked
        if is_marked or not (event in _CHANGES or event == "open"):
            return
        if event == "open" and not arguments[2] & _WRITES:
            return
        if str(arguments[0]).startswith(folder):
            is_marked = True
            os.write(handle, b"b")
            os.close(handle)

    sys.addaudithook(look)


if __name__ == "__main__":
    _, handle, folder, *arguments = sys.argv
    _mark(int(handle), folder)
    sys.argv = ["ssdpt", *arguments]
    from ssdpt.cli import main

    sys.exit(main())
