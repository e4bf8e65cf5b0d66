"""The clock of the computer is set forward or back while the service runs."""

from __future__ import annotations

import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from faults.experiment import Outcome
from faults.people import Everyone, LiveSensor
from faults.service_experiment import ServiceExperiment

_LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
_HOUR, _DAY = 3600, 86400
_OFFSETS = (_HOUR, -_HOUR, _DAY, -_DAY)  # seconds
_HOUSEKEEPING = 65.0  # seconds in which the roll-up of every minute runs as well


def offset(number: int) -> int:
    """Seconds by which the clock is set in a trial."""
    return _OFFSETS[(number - 1) % len(_OFFSETS)]


def is_long(number: int) -> bool:
    """Whether a trial lasts until the readings are rolled up: of twelve, one with each offset."""
    return number % 3 == 0


class ClockJump(ServiceExperiment):
    """libfaketime gives the service another time of day; its steady clock is not touched."""

    name = "clock-jump"
    trials = 12
    has_gaps = True  # in the time of day
    one_clock = False

    def prepare(self, folder: Path, stack: ExitStack) -> dict[str, Any]:
        assert _LIBRARIES, "there is no libfaketime; install it (Debian: apt install libfaketime)"
        self._file = folder / "offset"
        self._set(0)
        return {}

    def everyone(self) -> Everyone:
        return Everyone(self.plant, self.name, LiveSensor)

    def launch(self) -> None:
        self.plant.launch(
            LD_PRELOAD=str(_LIBRARIES[0]),
            FAKETIME_TIMESTAMP_FILE=str(self._file),
            FAKETIME_NO_CACHE="1",
            FAKETIME_DONT_FAKE_MONOTONIC="1",
        )

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        self._set(offset(number))
        self.hold(_HOUSEKEEPING if is_long(number) else random.uniform(2, 6), outcome)
        self.plant.wait_until_ready()
        self._set(0)

    def _set(self, offset: int) -> None:
        fresh = self._file.with_suffix(".fresh")
        fresh.write_text(f"{offset:+d}\n")
        fresh.replace(self._file)
