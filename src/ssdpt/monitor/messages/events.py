"""What is stored: readings, events with what people say about them, notes and recordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, computed_field

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.severity import Severity
from ssdpt.monitor.messages.base import FloatOrNull, MachineState, Model, Seconds
from ssdpt.sentences.coded_sentence import CodedSentence, Text, WithSentence, coded

EventLevel = Literal["alert", "alarm"]
EventKind = Literal["anomaly", "drift", "signal"]
EventState = Literal["active", "acknowledged", "cleared"]
EventLabel = Literal["", "normal", "fault"]
NoteKind = Literal["repair", "inspection", "other"]


class Reading(Model):
    """One second of one machine."""

    machine: str = Field(examples=["fan-1"])
    time: Seconds  # of its end
    state: MachineState
    level_dbfs: FloatOrNull = Field(
        description="Of the last second, against a full-scale sine; null for digital silence."
    )
    score: float | None = Field(None, description="Of the last clip; null while not judged.")
    smoothed: float | None = Field(None, description="Score that thresholds are compared with.")
    p_value: float | None = Field(
        None, description="Share of normal clips that score at least so high."
    )
    parts: Mapping[str, float] = Field({}, description="The score by its parts.")
    bands_db: tuple[float, ...] = Field((), description="Level of each band of the machine.")


class Acknowledgement(Model):
    """Someone has seen an event."""

    who: str
    at: Seconds


class Comment(Model):
    """What someone wrote about an event."""

    who: str
    at: Seconds
    text: str

    @computed_field  # type: ignore[prop-decorator]
    @property
    def sentence(self) -> CodedSentence | None:
        """For other languages, where the service wrote it; null where a person did."""
        return coded(self.text)


class Note(Model):
    """What someone noted on the trend of a machine, such as a repair."""

    id: int
    machine: str = Field(examples=["fan-1"])
    at: Seconds = Field(description="When it happened: its place on the trend.")
    kind: NoteKind
    text: str = Field(examples=["bearing changed"])
    who: str
    written_at: Seconds


class LooksLike(Model):
    """A fault that a person has named before, and that an event resembles."""

    fault: str = Field(examples=["loose belt"])
    earlier_events: int = Field(description="Named so before it, that it resembles.")
    similarity: float = Field(description="To the most similar of them; 1: the same.")


class Episode(Model):
    """One stretch of an event whose cause comes and goes."""

    began: Seconds
    ended: Seconds | None = None
    level: EventLevel = Field(description="The highest it has reached.")
    peak: float | None = Field(None, description="The highest smoothed score.")


class Event(WithSentence, Model):
    """Something that happened to a machine or its source, from its beginning to its end.

    Active until someone acknowledges it; cleared when it is both over and acknowledged.
    """

    id: str = Field(examples=["0123456789abcdef0123456789abcdef"])  # 32 hexadecimal digits
    machine: str = Field(examples=["fan-1"])
    kind: EventKind
    level: EventLevel = Field(description="The highest it has reached.")
    began: Seconds
    ended: Seconds | None = None
    message: Text = Field(examples=["Unusual sound, 6 dB louder than usual"])
    peak: float | None = Field(None, description="The highest smoothed score.")
    threshold: float | None = Field(None, description="The threshold it passed.")
    label: EventLabel = Field("", description="What a person says it was.")
    acknowledged: Acknowledgement | None = None
    comments: tuple[Comment, ...] = ()
    audio_begin: Seconds | None = Field(None, description="Of its recording, if there is one.")
    voice_seconds: float = Field(
        0.0, description="Seconds with voices that were cut out of its recording."
    )
    top_bands_hz: tuple[tuple[float, float], ...] = Field(
        (), description="The most unusual frequency bands."
    )
    findings: tuple[Finding, ...] = Field(
        (), description="What has changed against the baseline, the most important first."
    )
    episodes: tuple[Episode, ...] = Field(
        (), description="The stretches of an event that came and went, in order of time."
    )
    may_continue: bool = Field(
        False, description="Whether it has only just ended: if it comes back, it is this event."
    )
    baseline_learned_at: Seconds | None = Field(
        None, description="When the baseline was learned that it is compared with."
    )
    severity: Severity | None = None
    cause: str = Field("", description="Why it happened, by a person.", examples=["dry bearing"])
    work_order: str = Field("", description="Number of the work order.", examples=["WO-4711"])
    fault: str = Field("", description="Name of the fault, by a person.", examples=["loose belt"])
    looks_like: LooksLike | None = Field(
        None, description="Recognised from earlier events; null once a person has rejected it."
    )
    speed_rpm: float | None = Field(
        None,
        description="Of its shaft during its sound; null where it was not known, or changed.",
    )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def state(self) -> EventState:
        """Where it is in its life cycle."""
        if self.acknowledged is None:
            return "active"
        return "acknowledged" if self.ended is None else "cleared"

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good."""
        return self.ended is not None and not self.may_continue

    @computed_field  # type: ignore[prop-decorator]
    @property
    def has_audio(self) -> bool:
        """Whether there is a recording."""
        return self.audio_begin is not None


class EventGroup(Model):
    """Events of one machine that are the same fault, or of the same kind where it has no name."""

    machine: str = Field(examples=["fan-1"])
    kind: EventKind
    fault: str = Field(description="Empty: neither named nor recognised.")
    events: int
    confirmed: int = Field(description="How many of them a person has given this name.")
    first_began: Seconds
    last_began: Seconds
    level: EventLevel = Field(description="The highest of them.")
    unacknowledged: int


class KeptRecording(Model):
    """Sound of a machine that someone has kept."""

    id: str = Field(examples=["0123456789abcdef0123456789abcdef"])  # 32 hexadecimal digits
    machine: str = Field(examples=["fan-1"])
    begin: Seconds
    end: Seconds
    who: str
    at: Seconds = Field(description="When it was kept.")
    note: str = Field("", examples=["knocks when the valve closes"])
    bytes: int
    sample_rate: int = Field(description="Hz.")
    voice_seconds: float = Field(0.0, description="Seconds with voices that were cut out.")
