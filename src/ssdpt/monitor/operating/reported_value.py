"""What a control system sends, read as run state or number."""

from __future__ import annotations

import math
from typing import Any

from pydantic import Field

from ssdpt.config.settings import Settings
from ssdpt.errors import visible
from ssdpt.sentences import Sentence

_ON = frozenset({"true", "1", "on", "run", "running", "yes"})
_OFF = frozenset({"false", "0", "off", "stop", "stopped", "no"})
_LONGEST_SHOWN = 40  # characters of a value in a message
_MOST_READ = 1000  # characters of a value that are looked at for it
_LARGEST_SHOWN = 1e12  # no digit of a larger number tells anybody more


class ImplausibleValue(ValueError):
    """A value that cannot be used; the text says why."""


class NoValue(ImplausibleValue):
    """A message that does not hold the value: it says nothing about it."""


class ReportedNumber(Settings):
    """A number as it is sent, and what it means: value × scale + offset."""

    scale: float = Field(
        1.0, allow_inf_nan=False, description="what is sent is multiplied by this; Hz to rpm: 60"
    )
    offset: float = Field(0.0, allow_inf_nan=False, description="then this is added")

    def read(self, sent: Any) -> float:
        """The value in the unit of the setting; ImplausibleValue where it is no number."""
        if isinstance(sent, str):
            sent = sent.strip()
        try:
            if isinstance(sent, bool):
                raise ValueError
            number = float(sent)
        except (TypeError, ValueError, OverflowError):
            raise ImplausibleValue(Sentence("operating.notANumber", sent=shown(sent))) from None
        if not math.isfinite(number):
            raise ImplausibleValue(Sentence("operating.notFinite", sent=shown(sent)))
        return number * self.scale + self.offset


class ReportedRunState(Settings):
    """Whether a machine runs, as it is sent."""

    values: tuple[bool | int | float | str, ...] = Field(
        (),
        description="what means running, such as [RUN, 2]; empty = true, on, run or any number "
        "other than 0",
    )

    def read(self, sent: Any) -> bool:
        """Whether the machine runs; ImplausibleValue where that cannot be told."""
        if self.values:
            return _comparable(sent) in {_comparable(value) for value in self.values}
        if isinstance(sent, int | float):
            if math.isnan(sent):
                raise ImplausibleValue(Sentence("operating.neitherOnNorOff", sent=shown(sent)))
            return bool(sent)
        text = sent.strip().casefold() if isinstance(sent, str) else None
        if text in _ON:
            return True
        if text in _OFF:
            return False
        raise ImplausibleValue(Sentence("operating.unknownRunState", sent=shown(sent)))


def is_plausible(value: float, highest: float) -> bool:
    """Whether it lies between 0 and `highest`."""
    return math.isfinite(value) and 0 <= value <= highest


def bounded(value: float) -> float | str:
    """A number for a message: one of three hundred digits is only said to be large."""
    if math.isnan(value):
        raise ImplausibleValue(Sentence("operating.notFinite", sent=shown(value)))
    if value > _LARGEST_SHOWN:
        return Sentence("operating.moreThan", number=_LARGEST_SHOWN)
    if value < -_LARGEST_SHOWN:
        return Sentence("operating.lessThan", number=-_LARGEST_SHOWN)
    return value


def shown(sent: Any) -> str:
    """A value for a message: one short line."""
    text = visible(" ".join(str(sent)[:_MOST_READ].split()))
    return f"{text[:_LONGEST_SHOWN]}{'…' if len(text) > _LONGEST_SHOWN else ''}"


def _comparable(value: Any) -> str:
    """The same for RUN and run, and for 1, 1.0 and "1"; true and 1 differ."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip().casefold()
