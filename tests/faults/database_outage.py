"""The database is stopped, killed or frozen for a while."""

from __future__ import annotations

import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from faults.experiment import Outcome
from faults.postgres import PostgresCluster
from faults.service_experiment import ServiceExperiment
from waiting import wait_until

_NOTICED = 30.0  # seconds until readyz must say that the store is unavailable


class DatabaseOutage(ServiceExperiment):
    """Readings and events wait; readyz is 503 meanwhile, and 200 again by itself."""

    name = "database-outage"
    refuses = True
    trials = 12

    def prepare(self, folder: Path, stack: ExitStack) -> dict[str, Any]:
        self._cluster = stack.enter_context(PostgresCluster(folder / "postgres"))
        return {"store": self._cluster.url}

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        kind = ("stop", "kill", "freeze")[number % 3]
        {"stop": self._cluster.stop, "kill": self._cluster.kill, "freeze": self._cluster.freeze}[
            kind
        ]()
        try:
            wait_until(lambda: self._ready() == 503, "readyz says 503", timeout=_NOTICED)
            self.hold(random.uniform(0, 10), outcome)
        finally:
            self._cluster.thaw() if kind == "freeze" else self._cluster.start()

    def _ready(self) -> int:
        return httpx.get(f"{self.plant.address}readyz", timeout=10.0).status_code
