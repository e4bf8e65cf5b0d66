"""What must be true after a fault: the same files as without it, whole, and no others."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from faults.experiment import Outcome

_RANDOM = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}|[0-9a-f]{32}|[0-9a-f]{16}|[0-9]{8}-[0-9]{6}")
_UNCOUNTED = re.compile(
    r".*\.db-(wal|shm)"  # of a database that is open somewhere
    r"|.*/store-#/[0-9a-f]{2}|store-#/[0-9a-f]{2}"  # folders of files with random names
)


def names(folder: Path) -> Counter[str]:
    """Everything below a folder, hidden files too; `#` for ids and moments in names."""
    shown = (re.sub(_RANDOM, "#", str(path.relative_to(folder))) for path in folder.rglob("*"))
    return Counter(name for name in shown if not re.fullmatch(_UNCOUNTED, name))


def check_names(
    folder: Path, expected: Counter[str], outcome: Outcome, may_repeat: str = ""
) -> None:
    """The same files as without a fault: none left over, none missing.

    `may_repeat`: names, with `#`, of which there may be more.
    """
    found = names(folder)
    left = [name for name in found - expected if name not in expected or name != may_repeat]
    outcome.wrong += [f"left over: {name}" for name in left]
    outcome.wrong += [f"missing: {name}" for name in expected - found]


def content(folder: Path) -> dict[str, bytes]:
    """The files directly in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
