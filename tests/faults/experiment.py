"""An experiment: one kind of fault, tried many times, and what each trial showed."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Outcome:
    """What one trial showed."""

    struck: bool = True  # False: the work was over before the fault came
    point: str = ""  # what it was to strike, where that has a name
    checked: int = 0  # acknowledged things that were looked for afterwards
    lost: list[str] = field(default_factory=list)  # of these, what was not there any more
    doubled: list[str] = field(default_factory=list)  # what was there twice
    wrong: list[str] = field(default_factory=list)  # every other broken promise, in sentences

    @property
    def survived(self) -> bool:
        return not (self.lost or self.doubled or self.wrong)

    def expect(self, condition: object, sentence: str) -> None:
        """Note a broken promise unless `condition` holds."""
        if not condition:
            self.wrong.append(sentence)

    @property
    def sentences(self) -> list[str]:
        return [
            *(f"lost: {what}" for what in self.lost),
            *(f"doubled: {what}" for what in self.doubled),
            *self.wrong,
        ]


class Experiment(ABC):
    """Trials are numbered from 1. What is random in one comes from its own generator."""

    name: str  # as the command line has it
    trials: int  # in the whole campaign; known within the setting
    most: int | None = None  # there are no more different ones; None: any number
    unstruck: Mapping[str, str] = {}  # points that need not be struck, with the reason

    @contextmanager
    def setting(self, folder: Path) -> Iterator[None]:
        """Prepare what all trials share; ends what it has started."""
        del folder
        yield

    @abstractmethod
    def trial(self, number: int, random: random.Random) -> Outcome:
        """Strike once, and look at what is left."""
