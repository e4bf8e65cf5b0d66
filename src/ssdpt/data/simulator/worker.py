"""A child process of the simulation: one line in with its share of clips, one line out for each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TextIO

from ssdpt.data.simulator.clip import ClipName
from ssdpt.data.simulator.preset import preset_named
from ssdpt.data.simulator.simulation import Order, make
from ssdpt.errors import SsdptError


def work(questions: TextIO, answers: TextIO) -> None:
    """Make every clip asked for; an error is the last answer."""
    job = json.loads(questions.readline())
    order = Order(
        Path(job["out"]), preset_named(job["preset"]), job["seed"], tuple(job["machines"])
    )
    for fields in job["names"]:
        name = ClipName(**fields)
        try:
            answer = {"machine": name.machine, "rows": make(order, name)}
        except SsdptError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), file=answers, flush=True)
        if "error" in answer:
            return


if __name__ == "__main__":
    work(sys.stdin, sys.stdout)
