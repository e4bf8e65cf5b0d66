"""When the service last ran, so that the next start can say how long nothing was monitored."""

from __future__ import annotations

import json
import math
from pathlib import Path

from ssdpt.common.files import write_json
from ssdpt.detection.storage import DAMAGE
from ssdpt.monitor.messages import ServiceStarted

LAST_RUN = "last_run.json"  # in the data folder


class LastRun:
    """A file that says when the service was last alive, and whether it was stopped in order."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def before(self, now: float) -> ServiceStarted | None:
        """What to tell at the start; None where nothing ran before, or that is not known."""
        try:
            content = json.loads(self._path.read_text("utf-8"))
            last_alive, orderly = float(content["last_alive"]), bool(content["stopped"])
        except (OSError, *DAMAGE):
            return None
        if not math.isfinite(last_alive):
            return None
        # The clock may have been set back since.
        return ServiceStarted(at=now, last_alive=min(last_alive, now), orderly=orderly)

    def alive(self, now: float) -> None:
        """Machines are monitored now."""
        self._write(now, stopped=False)

    def stopped(self, now: float) -> None:
        """The service was stopped in order."""
        self._write(now, stopped=True)

    def _write(self, now: float, *, stopped: bool) -> None:
        write_json(self._path, {"last_alive": now, "stopped": stopped})
