"""The disk of the data folder is full for a while."""

from __future__ import annotations

import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from faults.experiment import Outcome
from faults.service_experiment import ServiceExperiment
from faults.small_disk import SmallDisk


class FullDisk(ServiceExperiment):
    """Readings wait until there is space; what cannot be written is not acknowledged."""

    name = "full-disk"
    refuses = True

    def prepare(self, folder: Path, stack: ExitStack) -> dict[str, Any]:
        self._disk = stack.enter_context(SmallDisk(folder / "disk"))
        return {"data": folder / "disk" / "data"}

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        self._disk.fill()
        try:
            self.hold(random.uniform(1, 8), outcome)
        finally:
            self._disk.free()
