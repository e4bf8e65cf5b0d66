"""Kills an operation before every system call that can change a file: enumerated, not sampled."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.experiment import Experiment, Outcome
from faults.fork_server import ForkServer
from faults.operations import OPERATIONS
from faults.oracle import check_names, names


class KillPoints(Experiment):
    """Trial N kills before call number N of as many as there are."""

    def __init__(self, operation: str) -> None:
        self.name = f"points-{operation}"
        self._server = ForkServer(operation)
        self._operation = OPERATIONS[operation]

    @contextmanager
    def setting(self, folder: Path) -> Iterator[None]:
        self._folder = folder
        self._before, undisturbed = folder / "before", folder / "undisturbed"
        self._before.mkdir()
        self._operation.prepare(self._before)
        shutil.copytree(self._before, undisturbed)
        with self._server:
            self._points = self._server.points(undisturbed, *self._operation.faults)
            self.trials = self.most = len(self._points)
            self._operation.check_done(undisturbed, Outcome())
            self._expected = names(undisturbed)
            yield

    def trial(self, number: int, random: random.Random) -> Outcome:
        place = self._folder / f"trial-{number}"
        shutil.copytree(self._before, place)
        point = self._points[number - 1]
        # The point comes last: of two orders for one call, strace follows the last.
        end = self._server.run(place, *self._operation.faults, point)
        outcome = Outcome(struck=end == "killed", point=point.replace(":signal=KILL:when=", " "))
        outcome.expect(end != "failed", "it ended with an error")
        if outcome.struck:
            self._operation.check(place, outcome)
            self._operation.again(place)
        self._operation.check_done(place, outcome)
        check_names(place, self._expected, outcome, self._operation.may_repeat)
        shutil.rmtree(place)
        return outcome
