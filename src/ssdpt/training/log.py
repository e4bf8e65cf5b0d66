"""The JSON-lines log of a training: one line per epoch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ssdpt.common.files import write_text, writing

LOG_FILE = "training.jsonl"


class TrainingLog:
    """Appends one line per epoch; after a resume, no epoch appears twice."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG_FILE
        self._fresh = True

    def write(self, **fields: Any) -> None:
        """Append one line."""
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("w" if self._fresh else "a", encoding="utf-8") as file:
                file.write(json.dumps(fields) + "\n")
        self._fresh = False

    def keep_before(self, epoch: int) -> None:
        """Drop the lines of `epoch` and later, which a resumed run writes again."""
        lines = self.path.read_text("utf-8").splitlines() if self.path.is_file() else []
        kept = [line for line in lines if _epoch(line) < epoch]
        write_text(self.path, "".join(f"{line}\n" for line in kept))
        self._fresh = False


def _epoch(line: str) -> float:
    """The epoch of a line; a line cut off by a kill counts as later than any epoch."""
    try:
        return float(json.loads(line)["epoch"])
    except (ValueError, KeyError, TypeError):
        return float("inf")
