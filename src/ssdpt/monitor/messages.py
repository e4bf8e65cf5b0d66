"""What is said about machines: every type that leaves the process, defined once.

The HTTP API, the live stream of the page, MQTT, webhooks, mails and exports send these models. The
TypeScript types of the page are generated from them, and test fakes are built with them.
Times are seconds since 1970, UTC. Scores: higher = more anomalous.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, computed_field

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.outlook import Outlook
from ssdpt.alarms.severity import Severity
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.types import Unit

MachineState = Literal["starting", "learning", "off", "normal", "alert", "alarm", "lost"]
STATES: tuple[MachineState, ...] = (
    # From the least to the most urgent.
    *("starting", "off", "learning", "normal", "lost", "alert", "alarm"),
)
EventLevel = Literal["alert", "alarm"]
EventKind = Literal["anomaly", "drift", "signal"]
EventState = Literal["active", "acknowledged", "cleared"]
EventLabel = Literal["", "normal", "fault"]

Seconds = Annotated[float, Field(description="Seconds since 1970, UTC.", examples=[1.79e9])]
# A number that need not be finite (silence is −∞ dB), which JSON sends as null.
FloatOrNull = Annotated[
    float, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]}, mode="serialization")
]


class UnknownMachine(KeyError):
    """There is no machine with this id, or no longer."""


class _Model(BaseModel):
    """A value that is never changed. Numbers that are not finite become null in JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


# --- What is stored -------------------------------------------------------------------------------


class Reading(_Model):
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


class Acknowledgement(_Model):
    """Someone has seen an event."""

    who: str
    at: Seconds


class Comment(_Model):
    """What someone wrote about an event."""

    who: str
    at: Seconds
    text: str


class Episode(_Model):
    """One stretch of an event whose cause comes and goes."""

    began: Seconds
    ended: Seconds | None = None
    level: EventLevel = Field(description="The highest it has reached.")
    peak: float | None = Field(None, description="The highest smoothed score.")


class Event(_Model):
    """Something that happened to a machine or its source, from its beginning to its end.

    Active until someone acknowledges it; cleared when it is both over and acknowledged.
    """

    id: str = Field(examples=["0123456789abcdef0123456789abcdef"])  # 32 hexadecimal digits
    machine: str = Field(examples=["fan-1"])
    kind: EventKind
    level: EventLevel = Field(description="The highest it has reached.")
    began: Seconds
    ended: Seconds | None = None
    message: str = Field(examples=["Unusual sound, 6 dB louder than usual"])
    peak: float | None = Field(None, description="The highest smoothed score.")
    threshold: float | None = Field(None, description="The threshold it passed.")
    label: EventLabel = Field("", description="What a person says it was.")
    acknowledged: Acknowledgement | None = None
    comments: tuple[Comment, ...] = ()
    audio_begin: Seconds | None = Field(None, description="Of its recording, if there is one.")
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

    @computed_field  # type: ignore[prop-decorator]
    @property
    def state(self) -> EventState:
        """Where it is in its life cycle."""
        if self.acknowledged is None:
            return "active"
        return "acknowledged" if self.ended is None else "cleared"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def has_audio(self) -> bool:
        """Whether there is a recording."""
        return self.audio_begin is not None


# --- What is shown --------------------------------------------------------------------------------


class BaselineStatus(_Model):
    """What the machine is compared with. It changes only when a person wants it to."""

    learned_at: Seconds
    recordings: int = Field(
        description="Independent recordings, made at different times, that it was learned from."
    )
    commissioned_at: Seconds | None = Field(
        None, description="When the thresholds were checked on sound of another time."
    )


class CommissioningQuestion(_Model):
    """It sounds different from what was learned, steadily since the start: is it healthy?"""

    message: str
    since: Seconds


class ChangePoint(_Model):
    """When a lasting change began."""

    time: Seconds
    level: EventLevel
    findings: tuple[Finding, ...] = ()


class SensorStatus(_Model):
    """What the machine is measured with."""

    unit: Unit = Field(description="Empty: not calibrated, like most microphones.")
    full_scale: float = Field(description="What a sample of 1 means, in the unit.")
    sample_rate: int = Field(description="Hz.")
    axes: tuple[str, ...] = Field(description="Empty: one axis without a name.")
    at_intervals: bool = Field(
        description="Whether recordings come now and then, so that trends are points."
    )


class BandStatus(_Model):
    """The level of one frequency band against its baseline."""

    low_hz: float
    high_hz: float
    now_db: FloatOrNull
    usual_db: float
    alert_db: float
    alarm_db: float


class OperatingPointStatus(_Model):
    """A normal way of running, such as a load or a speed, learned from normal clips."""

    number: int = Field(ge=1)
    name: str = Field(examples=["half load"])
    share: float = Field(description="Of the normal clips, 0 to 1.")
    level_dbfs: float
    usual_score: float


class DriftStatus(_Model):
    """The normal sound has changed slowly."""

    message: str
    since: Seconds


class SourceState(_Model):
    """Where the sound of a machine comes from, and whether it arrives."""

    kind: str = Field(examples=["microphone"])
    connected: bool
    message: str
    drift_ppm: float = Field(description="Above 0: its clock is fast against this computer's.")
    gaps: int
    reconnects: int


class LearningProgress(_Model):
    """A baseline that is being learned."""

    seconds: float = Field(description="Collected so far.")
    target_seconds: float


class MachineStatus(_Model):
    """One machine as it is now."""

    id: str = Field(examples=["fan-1"])
    name: str
    site: str
    model: str = Field(description="Name of the detector; empty while there is none.")
    state: MachineState
    state_since: Seconds
    muted_until: Seconds | None
    smoothed: float | None = Field(description="Score that thresholds are compared with.")
    p_value: float | None
    level_dbfs: float | None
    last_sound: Seconds | None = Field(description="End of the last sound that arrived.")
    thresholds: Thresholds | None = Field(description="Null while there is no model.")
    operating_point: int | None = Field(
        description="Number of the current one; 0: unknown operating point; null: not determined."
    )
    operating_points: tuple[OperatingPointStatus, ...]
    added_on_page: bool = Field(description="Whether it can be removed on the page.")
    drift: DriftStatus | None
    source: SourceState
    learning: LearningProgress | None
    ongoing_events: int = Field(description="Events that are not over.")
    last_event: Event | None
    baseline: BaselineStatus | None = None
    question: CommissioningQuestion | None = Field(
        None, description="What a person is asked while thresholds are provisional."
    )
    severity: Severity | None = None
    outlook: Outlook | None = Field(
        None, description="When it will reach alarm, where its trend can tell."
    )
    sensor: SensorStatus | None = None
    bands: tuple[BandStatus, ...] = Field((), description="Empty until a baseline is learned.")
    change_points: tuple[ChangePoint, ...] = Field((), description="The last ones, oldest first.")
    recent_scores: tuple[tuple[Seconds, float], ...] = Field(
        description="Time and smoothed score of the last ten minutes."
    )


class ServiceStatus(_Model):
    """The service itself."""

    now: Seconds  # by the machines' clock, which may run faster in simulations
    name: str = Field(description="Of the plant.")
    timezone: str = Field(examples=["Europe/Berlin"])
    version: str
    demo: bool
    keeps_audio: bool
    speed: float = Field(description="Of the clock, for simulations.")
    notes: tuple[str, ...] = Field(description="What has happened, newest last.")
    problems: tuple[str, ...] = Field(description="What is wrong right now.")


class Spectrum(_Model):
    """The sound now against the normal one, in dB by mel bin; lists are empty where unknown."""

    hz: tuple[float, ...]
    now: tuple[FloatOrNull, ...]
    low: tuple[FloatOrNull, ...]
    mean: tuple[FloatOrNull, ...]
    high: tuple[FloatOrNull, ...]


class Spectrogram(_Model):
    """Columns of bytes by mel bin, the lowest frequency first."""

    hz: tuple[float, ...]
    begin: Seconds
    seconds_per_column: float
    columns: tuple[tuple[int, ...], ...] = Field(description="0 to 255 for low_db to high_db.")
    low_db: float
    high_db: float


class EventSpectrogram(Spectrogram):
    """With the anomaly map of the detector."""

    anomaly_map: tuple[tuple[int, ...], ...] = Field(
        description="How anomalous each place is, 0 to 255; empty where the detector has no map."
    )


class ModelInfo(_Model):
    """The model of one machine."""

    machine: str
    system: str = Field(examples=["texture"])
    card_markdown: str
    sections: tuple[str, ...]
    recordings: int = Field(description="Normal recordings it has learned from.")
    version: str = Field(description="Of ssdpt that fitted it.")


# --- What has just happened -----------------------------------------------------------------------


class _Changes:
    """Numbers that rise with every change, across restarts too: at least milliseconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1_000_000)
            return self._last


_CHANGES = _Changes()


class StateChanged(_Model):
    """A machine has changed its state."""

    machine: str
    state: MachineState
    at: Seconds
    smoothed: float | None = None


class EventChanged(_Model):
    """An event as it is now: it began, got worse, ended, or a person did something to it.

    `change` rises with every change. A repeated delivery of one change has the same number.
    """

    event: Event
    change: int = Field(default_factory=_CHANGES.next)

    @property
    def delivery(self) -> str:
        """The same for every attempt to deliver this change."""
        return f"{self.event.id}-{self.change}"


class EventDelivery(Event):
    """A change of an event as webhooks and MQTT send it."""

    delivery: str = Field(description="The same for every attempt to deliver this change.")
    change: int = Field(description="Rises with every change.")

    @classmethod
    def of(cls, message: EventChanged) -> EventDelivery:
        """The event with what tells this change from every other one."""
        fields = {name: getattr(message.event, name) for name in Event.model_fields}
        return cls(**fields, delivery=message.delivery, change=message.change)


class ReadingTaken(_Model):
    """One more second of a machine."""

    reading: Reading


class MachineChanged(_Model):
    """A machine as it is now, after something other than a reading has changed."""

    status: MachineStatus


class MachineRemoved(_Model):
    """A machine is no longer monitored."""

    machine: str


class ServiceChanged(_Model):
    """Notes or problems of the service have changed."""

    status: ServiceStatus


Message = StateChanged | EventChanged | ReadingTaken | MachineRemoved
