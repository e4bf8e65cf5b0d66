"""Two processes that write the same: services on one data folder, fits and scorers into one."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.commands import Command
from faults.experiment import Experiment, Outcome
from faults.kill_command import KillCommand
from faults.kill_fit import KillFit
from faults.kill_score import KillScore
from faults.service_experiment import ServiceExperiment

_PROGRAM = str(Path(sys.executable).with_name("ssdpt"))
_LIMIT = 600.0  # seconds


class TwoServices(ServiceExperiment):
    """The second ends with a sentence; the first does not notice."""

    name = "two-services"
    trials = 5

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        config = str(self.plant.folder / "monitor.yaml")
        second = subprocess.run(
            [_PROGRAM, "serve", "--config", config, "--data", str(self.plant.data), "--port", "0"],
            capture_output=True,
            text=True,
            timeout=_LIMIT,
        )
        outcome.expect(second.returncode == 2, f"the second ended with {second.returncode}")
        said = second.stderr.strip().splitlines()
        one_sentence = len(said) == 1 and "already used by a service" in said[0]
        outcome.expect(one_sentence, f"the second said {second.stderr[-500:]}")


class TwoCommands(Experiment):
    """The second begins at a random moment of the first's work; both end, the result is right."""

    trials = 6

    def __init__(self, command: KillCommand, name: str) -> None:
        self.name, self._command = name, command

    @contextmanager
    def setting(self, folder: Path) -> Iterator[None]:
        self._folder = folder
        with self._command.setting(folder):
            yield

    def trial(self, number: int, random: random.Random) -> Outcome:
        place = self._folder / f"two-{number}"
        place.mkdir()
        self._command.prepare(place, number)
        arguments, outcome = self._command.arguments(place), Outcome()
        # Both take as long to start, so the second begins its work in that of the first.
        first = Command(arguments, place)
        threading.Event().wait(random.uniform(0, self._command.seconds))
        second = Command(arguments, place, place / "said-2")
        both_work = second.wait_for_work() and first.poll() is None
        codes = [command.wait(_LIMIT) for command in (first, second)]
        outcome.expect(codes[0] in self._command.codes, f"the first: {_end(first.said)}")
        refused = codes[1] == 2 and _end(second.said).startswith("error: ")
        allowed = codes[1] in self._command.codes or refused
        outcome.expect(allowed, f"the second: {_end(second.said)}")
        outcome.struck = both_work or refused
        self._command.check_done(place, outcome)
        shutil.rmtree(place)
        return outcome


def _end(said: Path) -> str:
    """The last line but the one that names a help topic."""
    lines = said.read_text().strip().splitlines()
    return next((x for x in reversed(lines) if not x.startswith("more: ")), "")


TWO_FITS = TwoCommands(KillFit(), "two-fits")
TWO_SCORERS = TwoCommands(KillScore(), "two-scorers")
