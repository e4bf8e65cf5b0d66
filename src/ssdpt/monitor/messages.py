"""What the rooms of monitoring hand each other.

Times are seconds since 1970, UTC. Scores: higher = more anomalous.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MachineState = Literal["starting", "learning", "off", "normal", "alert", "alarm", "lost"]
STATES: tuple[MachineState, ...] = (
    # From the least to the most that someone should look at.
    *("starting", "off", "learning", "normal", "lost", "alert", "alarm"),
)
EventLevel = Literal["alert", "alarm"]
EventKind = Literal["anomaly", "drift", "signal"]
EventState = Literal["active", "acknowledged", "cleared"]
EventLabel = Literal["", "normal", "fault"]


class UnknownMachine(KeyError):
    """There is no machine of this id, or no longer."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was heard of one machine up to some moment; one a second."""

    machine: str
    time: float  # the end of what was heard
    state: MachineState
    level_dbfs: float  # of the last second, against a full-scale sine
    score: float | None = None  # of the last clip's length; None where nothing is judged
    smoothed: float | None = None  # what the limits are compared with
    p_value: float | None = None  # share of normal clips that score at least so high
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comment:
    """What someone wrote to an event."""

    who: str
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a machine or its source did, from its beginning to its end.

    Active until someone acknowledges it; cleared when it is over and acknowledged.
    """

    id: str  # 32 hexadecimal digits
    machine: str
    kind: EventKind
    level: EventLevel  # the worst it has reached
    began: float
    words: str  # what happened, in a sentence
    ended: float | None = None
    peak: float | None = None  # the highest smoothed score
    threshold: float | None = None  # that it has passed
    label: EventLabel = ""  # what someone says it was
    acknowledged_by: str | None = None
    acknowledged_at: float | None = None
    comments: tuple[Comment, ...] = ()
    audio_begin: float | None = None  # of its recording, where there is one
    top_bands_hz: tuple[tuple[float, float], ...] = ()  # where it was oddest

    @property
    def state(self) -> EventState:
        """Where it is in its life."""
        if self.acknowledged_at is None:
            return "active"
        return "acknowledged" if self.ended is None else "cleared"
