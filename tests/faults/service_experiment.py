"""A fault strikes the running service, or what it depends on; then everything must be there."""

from __future__ import annotations

import itertools
import random
import threading
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from faults.experiment import Experiment, Outcome
from faults.people import Everyone
from faults.plant import MACHINE, Plant

_STEP = 1.5  # seconds at most from one reading to the next
_HEALTHY_SECONDS = 5.0  # in which healthz must answer


class ServiceExperiment(Experiment):
    """Trial: strike, wait until the service is ready by itself, compare with what is owed."""

    trials = 10
    may_restart = False  # whether the service may end, and a supervisor starts it again
    has_gaps = False  # whether the sound that arrives may have gaps
    one_clock = True  # whether the time of day only goes on
    refuses = False  # whether people see errors meanwhile; else the fault has not struck

    def prepare(self, folder: Path, stack: ExitStack) -> dict[str, Any]:
        """Start what the service needs; gives arguments of `Plant`."""
        del folder, stack
        return {}

    def everyone(self) -> Everyone:
        """The clients."""
        return Everyone(self.plant, self.name)

    def launch(self) -> None:
        """Start the service."""
        self.plant.launch()

    @abstractmethod
    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        """Begin and end the fault."""

    @contextmanager
    def setting(self, folder: Path) -> Iterator[None]:
        with ExitStack() as stack:
            self.plant = Plant(folder, **self.prepare(folder, stack))
            self.launch()
            stack.callback(self.plant.kill)
            self.plant.wait_until_listening()
            self._everyone = stack.enter_context(self.everyone())
            self.plant.wait_until_ready()
            yield

    def trial(self, number: int, random: random.Random) -> Outcome:
        outcome, before = Outcome(), self._everyone.refused
        self.strike(number, random, outcome)
        outcome.struck = not self.refuses or self._everyone.refused > before
        if not self.plant.alive():
            outcome.expect(self.may_restart, f"the service has ended: {self.plant.log[-2000:]}")
            self.launch()
        self.plant.wait_until_ready()
        self._everyone.ledger.check(self.plant, outcome, one_clock=self.one_clock)
        self.plant.check_stored_readings(outcome)
        self.plant.check_files(outcome)
        if not self.has_gaps:
            self._check_gaps(outcome)
        return outcome

    def hold(self, seconds: float, outcome: Outcome, *, healthy: bool = True) -> None:
        """Let the fault last; meanwhile the service must answer if `healthy`."""
        pause, end = threading.Event(), time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.plant.alive():
            if healthy:
                try:
                    reply = httpx.get(f"{self.plant.address}healthz", timeout=_HEALTHY_SECONDS)
                    outcome.expect(reply.status_code == 200, f"healthz says {reply.status_code}")
                except httpx.HTTPError as error:
                    if self.plant.alive():
                        outcome.wrong.append(f"healthz does not answer: {type(error).__name__}")
            pause.wait(min(1.0, max(0.0, left)))

    def _check_gaps(self, outcome: Outcome) -> None:
        """Every second of sound that was taken has its reading, also those of the outage."""
        newest = self.plant.newest_reading()
        first = self._everyone.sensor_began
        times = sorted(self.plant.readings(MACHINE, first, newest - 5.0))
        outcome.checked += len(times)
        for before, after in itertools.pairwise(times):
            if after - before > _STEP:
                outcome.lost.append(f"readings from {before:.1f} to {after:.1f}")
