"""Speed and load of a machine as its control system reports them, to compare ways of running."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.alarms.findings import ENGLISH, Words
from ssdpt.types import Floats

_ENGLISH_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_SPEED = re.compile(rf"(?P<number>{_ENGLISH_NUMBER}) rpm")
_LOAD = re.compile(rf"(?P<number>-?{_ENGLISH_NUMBER}) % load")
_SLOWEST = 1.0  # rpm; ratios of lower speeds mean nothing


@dataclass(frozen=True, slots=True)
class SpeedAndLoad:
    """None where the control system reports nothing, or nothing of late."""

    speed_rpm: float | None = None
    load_percent: float | None = None

    @classmethod
    def over(cls, seconds: Sequence[SpeedAndLoad]) -> SpeedAndLoad:
        """Of a clip: the median of its seconds, so that a change is never half-way; None where a
        second has none."""
        speeds = [one.speed_rpm for one in seconds if one.speed_rpm is not None]
        loads = [one.load_percent for one in seconds if one.load_percent is not None]
        whole = len(seconds)
        return cls(
            float(np.median(speeds)) if speeds and len(speeds) == whole else None,
            float(np.median(loads)) if loads and len(loads) == whole else None,
        )

    def worded(self, words: Words = ENGLISH) -> str:
        """For people, such as `1480 rpm, 60 % load`; empty where nothing is known."""
        parts, numbers = [], words.numbers
        if self.speed_rpm is not None:
            parts.append(words.text("{number} rpm", number=numbers.figures(self.speed_rpm)))
        if self.load_percent is not None:
            parts.append(words.text("{number} % load", number=numbers.fixed(self.load_percent)))
        return ", ".join(parts)

    @classmethod
    def read(cls, text: str) -> SpeedAndLoad | None:
        """The reverse of `worded` in English, to its digits; None for any other text."""
        values: list[float | None] = []
        parts = text.split(", ")
        for pattern in (_SPEED, _LOAD):
            found = pattern.fullmatch(parts[0]) if parts else None
            values.append(float(found["number"].replace(",", "")) if found else None)
            parts = parts[1:] if found else parts
        return None if parts else cls(*values)

    def distance(self, other: SpeedAndLoad) -> float | None:
        """In percent of speed and of rated load, whichever differs more; None where no value is
        known of both."""
        differences = []
        if self.speed_rpm is not None and other.speed_rpm is not None:
            differences.append(abs(_percent(self.speed_rpm) - _percent(other.speed_rpm)))
        if self.load_percent is not None and other.load_percent is not None:
            differences.append(abs(self.load_percent - other.load_percent))
        return max(differences) if differences else None


def mean_of(clips: Sequence[SpeedAndLoad]) -> SpeedAndLoad:
    """The mean of what is known of every clip."""
    speeds = [clip.speed_rpm for clip in clips if clip.speed_rpm is not None]
    loads = [clip.load_percent for clip in clips if clip.load_percent is not None]
    whole = len(clips)
    return SpeedAndLoad(
        sum(speeds) / whole if speeds and len(speeds) == whole else None,
        sum(loads) / whole if loads and len(loads) == whole else None,
    )


def percent_table(clips: Sequence[SpeedAndLoad]) -> Floats | None:
    """What is known of every clip, (clips, 1 or 2): differences are percent; None: nothing is."""
    columns = []
    known = mean_of(clips)
    if known.speed_rpm is not None:
        columns.append([_percent(clip.speed_rpm or 0.0) for clip in clips])
    if known.load_percent is not None:
        columns.append([clip.load_percent or 0.0 for clip in clips])
    return np.array(columns).T if columns else None


def _percent(speed_rpm: float) -> float:
    """A difference of 1 is one percent of the speed, at any speed."""
    return 100 * float(np.log(max(speed_rpm, _SLOWEST)))
