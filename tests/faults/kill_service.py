"""kill -9 of the service at random moments, while people and a sensor use it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from faults.experiment import Experiment, Outcome
from faults.people import Everyone
from faults.plant import Plant
from faults.postgres import PostgresCluster

_BUSY = 4.0  # seconds at most from ready to the kill
_IN_START = 0.25  # share of trials in which the start after the kill is killed as well


class KillService(Experiment):
    """Trial: kill, start again (perhaps killed in that, too), then compare with what is owed."""

    trials = 40

    def __init__(self, database: str) -> None:
        """`database`: sqlite or postgres."""
        self.name = f"kill-service-{database}"
        self._database = database

    @contextmanager
    def setting(self, folder: Path) -> Iterator[None]:
        with ExitStack() as stack:
            settings = {}
            if self._database == "postgres":
                cluster = stack.enter_context(PostgresCluster(folder / "postgres"))
                settings["store"] = cluster.url
            self._plant = Plant(folder, **settings)
            stack.callback(self._plant.kill)
            self._plant.launch()
            began = time.monotonic()
            self._plant.wait_until_listening()
            self._start_seconds = time.monotonic() - began
            self._everyone = stack.enter_context(Everyone(self._plant, self.name))
            self._plant.wait_until_ready()
            # The sensor is an hour behind: what it sends changes minutes that are rolled up.
            self._plant.roll_up()
            yield

    def trial(self, number: int, random: random.Random) -> Outcome:
        pause = threading.Event()
        pause.wait(random.uniform(0, _BUSY))
        self._plant.kill()
        if random.random() < _IN_START:
            self._plant.launch()
            pause.wait(random.uniform(0, self._start_seconds))
            self._plant.kill()
        self._plant.launch()
        self._plant.wait_until_ready()
        outcome = Outcome()
        self._everyone.ledger.check(self._plant, outcome)
        self._plant.check_stored_readings(outcome)
        self._plant.check_files(outcome)
        return outcome
