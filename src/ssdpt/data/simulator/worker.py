"""A child process of the simulation: reads its clips from one line, replies a line per clip."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TextIO

from ssdpt.data.simulator.clip import ClipName
from ssdpt.data.simulator.preset import preset_named
from ssdpt.data.simulator.simulation import SimulationJob, write_clip
from ssdpt.errors import SsdptError


def work(requests: TextIO, replies: TextIO) -> None:
    """Write every requested clip; an error is the last reply."""
    message = json.loads(requests.readline())
    job = SimulationJob(
        Path(message["out"]),
        preset_named(message["preset"]),
        message["seed"],
        tuple(message["machines"]),
    )
    for fields in message["names"]:
        name = ClipName(**fields)
        try:
            reply = {"machine": name.machine, "rows": write_clip(job, name)}
        except SsdptError as error:
            reply = {"error": str(error)}
        print(json.dumps(reply), file=replies, flush=True)
        if "error" in reply:
            return


if __name__ == "__main__":
    work(sys.stdin, sys.stdout)
