"""kill -9 of a command at random moments of its work; it is given again until it ends by itself.

The work lasts from the first change of a file to the end. A kill before it would test Python's
start, which takes most of the time of a short command.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from faults.commands import Command
from faults.experiment import Experiment, Outcome

_LONGER = 1.1  # kills come until this many times the length of undisturbed work
_LIMIT = 600.0  # seconds for a command that nobody disturbs


class KillCommand(Experiment):
    """Trial: one kill. A round ends when the command has ended by itself; then a new one begins."""

    trials = 30
    codes = (0,)  # with which it ends by itself

    @abstractmethod
    def arguments(self, place: Path) -> list[str]:
        """The command, the same after every kill."""

    def prepare(self, place: Path, number: int) -> None:
        """What there is before round `number`."""

    @abstractmethod
    def check(self, place: Path, outcome: Outcome) -> None:
        """What must hold after each kill."""

    @abstractmethod
    def check_done(self, place: Path, outcome: Outcome) -> None:
        """What must hold when it has ended by itself: the same as without kills."""

    @contextmanager
    def setting(self, folder: Path) -> Iterator[None]:
        self._folder, self._rounds = folder, 0
        self.undisturbed = self._new_round()
        command = Command(self.arguments(self.undisturbed), self.undisturbed)
        assert command.wait_for_work(), command.said.read_text()
        began = time.monotonic()
        code = command.wait(_LIMIT)
        self.seconds = time.monotonic() - began
        assert code in self.codes, command.said.read_text()
        self._place = self._new_round()
        yield

    def trial(self, number: int, random: random.Random) -> Outcome:
        outcome = Outcome()
        while not self._killed(random.uniform(0, _LONGER * self.seconds), outcome):
            self.check_done(self._place, outcome)
            shutil.rmtree(self._place)
            self._place = self._new_round()
            if not outcome.survived:
                return outcome
        self.check(self._place, outcome)
        return outcome

    def _new_round(self) -> Path:
        place = self._folder / f"round-{self._rounds}"
        place.mkdir()
        self.prepare(place, self._rounds)
        self._rounds += 1
        return place

    def _killed(self, seconds: float, outcome: Outcome) -> bool:
        """Whether the command was killed in its work; False if it has ended by itself before."""
        command = Command(self.arguments(self._place), self._place)
        if command.wait_for_work():
            with suppress(subprocess.TimeoutExpired):
                command.wait(seconds)
            if command.poll() is None:
                command.kill()
        code = command.wait(_LIMIT)
        if code == -signal.SIGKILL:
            return True
        said = command.said.read_text()
        outcome.expect(code in self.codes, f"it ended with code {code}: {said[-500:]}")
        return False
