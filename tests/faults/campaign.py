"""Runs experiments one after the other, and prints what they showed."""

from __future__ import annotations

import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from faults.experiment import Experiment, Outcome
from ssdpt.errors import SsdptError

_SHOWN = 20  # broken promises printed per trial
_ATTEMPTS = 3  # to strike; a moment can come too late, and what a process does varies a little


@dataclass
class Tally:
    """The trials of one experiment so far."""

    name: str
    outcomes: list[Outcome] = field(default_factory=list)  # those that the fault struck
    missed: list[str] = field(default_factory=list)  # what no attempt struck
    excused: Mapping[str, str] = field(default_factory=dict)  # what need not be struck: the reason
    seconds: float = 0.0

    def row(self) -> tuple[str, ...]:
        return (
            self.name,
            str(len(self.outcomes)),
            str(sum(one.survived for one in self.outcomes)),
            *(str(number) for number in self.counts),
            f"{self.seconds:.0f}",
        )

    @property
    def is_good(self) -> bool:
        """Nothing is broken, and whatever should be struck was."""
        return not self._unexcused and all(one.survived for one in self.outcomes)

    @property
    def _unexcused(self) -> list[str]:
        return [point for point in self.missed if point not in self.excused]

    def struck(self) -> Iterator[str]:
        """How many of the points were struck, and the others by name."""
        whole = len(self.outcomes) + len(self.missed)
        yield f"{self.name}: {len(self.outcomes)} of {whole} points struck"
        for point in self.missed:
            yield f"  not struck: {point}: {self.excused.get(point, 'no reason is known')}"

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Acknowledged things that were looked for; lost, doubled, otherwise wrong."""
        return (
            sum(one.checked for one in self.outcomes),
            sum(len(one.lost) for one in self.outcomes),
            sum(len(one.doubled) for one in self.outcomes),
            sum(len(one.wrong) for one in self.outcomes),
        )


HEADINGS = ("experiment", "trials", "survived", "checked", "lost", "doubled", "wrong", "seconds")


class Campaign:
    """Some experiments with one seed, from which each trial has a generator of its own."""

    def __init__(self, seed: int, *, trials: int | None = None, stream: TextIO = sys.stdout):
        """`trials` of each experiment instead of its own number."""
        self.seed, self._trials, self._stream = seed, trials, stream
        self.tallies: list[Tally] = []

    def run(self, experiments: Iterable[Experiment], only: int | None = None) -> bool:
        """Whether every point was struck and survived; `only` this trial of each experiment."""
        self._say(f"seed {self.seed}")
        try:
            for experiment in experiments:
                self._run(experiment, only)
        except KeyboardInterrupt:
            self._say("interrupted; what was done so far:")
        self._say("")
        for line in self.table():
            self._say(line)
        for tally in self.tallies:
            for line in tally.struck() if tally.missed else ():
                self._say(line)
        return all(tally.is_good for tally in self.tallies)

    def table(self) -> Iterator[str]:
        """The report: a line per experiment, and their sum."""
        whole = Tally("all", [one for tally in self.tallies for one in tally.outcomes])
        whole.seconds = sum(tally.seconds for tally in self.tallies)
        rows = [HEADINGS, *(tally.row() for tally in self.tallies), whole.row()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
        for row in rows:
            name, *numbers = row
            cells = [name.ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)]
            yield "  ".join(cells)

    def _run(self, experiment: Experiment, only: int | None) -> None:
        tally = Tally(experiment.name, excused=experiment.unstruck)
        self.tallies.append(tally)
        began = time.monotonic()
        try:
            with (
                tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder,
                experiment.setting(Path(folder)),
            ):
                for number in self._numbers(experiment, only):
                    outcome = self._trial(experiment, number)
                    if outcome.struck or not outcome.survived:
                        tally.outcomes.append(outcome)
                    else:
                        tally.missed.append(outcome.point or f"trial {number}")
        except Exception as error:
            traceback.print_exc(file=self._stream)
            tally.outcomes.append(Outcome(wrong=[f"the experiment cannot go on: {error}"]))
        finally:
            tally.seconds = time.monotonic() - began
        for line in tally.struck():
            self._say(line)
        self._say(f"  {' '.join(self._summary(tally))}")

    def _numbers(self, experiment: Experiment, only: int | None) -> Sequence[int]:
        if only is not None:
            return [only]
        count = experiment.trials if self._trials is None else self._trials
        return range(1, min(count, experiment.most or count) + 1)

    def _trial(self, experiment: Experiment, number: int) -> Outcome:
        """The trial of a number; again, with other random moments, until the fault strikes."""
        for attempt in range(_ATTEMPTS):
            seed = f"{self.seed}/{experiment.name}/{number}" + f"/{attempt}" * (attempt > 0)
            outcome = self._attempt(experiment, number, random.Random(seed))
            if outcome.struck or not outcome.survived:
                break
        return outcome

    def _attempt(self, experiment: Experiment, number: int, source: random.Random) -> Outcome:
        try:
            outcome = experiment.trial(number, source)
        except Exception as error:  # a trial that cannot go on is a broken promise as well
            if not isinstance(error, AssertionError | SsdptError):
                traceback.print_exc(file=self._stream)
            outcome = Outcome(wrong=[f"the trial ended with {type(error).__name__}: {error}"])
        if not outcome.survived:
            self._say(f"{experiment.name}, trial {number}: broken promises")
            for sentence in outcome.sentences[:_SHOWN]:
                self._say(f"  {sentence}")
            self._say(
                f"  again: python -m faults {experiment.name} --seed {self.seed} --only {number}"
            )
        return outcome

    def _summary(self, tally: Tally) -> Iterator[str]:
        _, _, survived, checked, lost, doubled, wrong, seconds = tally.row()
        yield f"{survived} survived,"
        yield f"{checked} acknowledged things checked, {lost} lost, {doubled} doubled,"
        yield f"{wrong} otherwise wrong; {seconds} s"

    def _say(self, line: str) -> None:
        print(line, file=self._stream, flush=True)
