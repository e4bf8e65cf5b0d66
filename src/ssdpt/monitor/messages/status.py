"""What is shown of machines and of the service, as they are now."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, computed_field

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.outlook import Outlook
from ssdpt.alarms.severity import Severity
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.monitor.language import LanguageCode
from ssdpt.monitor.messages.base import FloatOrNull, MachineState, Model, Seconds
from ssdpt.monitor.messages.events import Event, EventLevel
from ssdpt.sentences.coded_sentence import CodedSentence, Text, WithSentence, coded
from ssdpt.types import Unit

# Whether a machine can be listened to live, or why not.
Listening = Literal["possible", "snapshots", "at_intervals", "other_speed", "switched_off"]


class BaselineStatus(Model):
    """What the machine is compared with. It changes only when a person wants it to."""

    learned_at: Seconds
    recordings: int = Field(
        description="Independent recordings, made at different times, that it was learned from."
    )
    commissioned_at: Seconds | None = Field(
        None, description="When the thresholds were checked on sound of another time."
    )


class CommissioningQuestion(WithSentence, Model):
    """It sounds different from what was learned, steadily since the start: is it healthy?"""

    message: Text
    since: Seconds


class ChangePoint(Model):
    """When a lasting change began."""

    time: Seconds
    level: EventLevel
    findings: tuple[Finding, ...] = ()


class SensorStatus(Model):
    """What the machine is measured with."""

    unit: Unit = Field(description="Empty: not calibrated, like most microphones.")
    full_scale: float = Field(description="What a sample of 1 means, in the unit.")
    sample_rate: int = Field(description="Hz.")
    axes: tuple[str, ...] = Field(description="Empty: one axis without a name.")
    at_intervals: bool = Field(
        description="Whether recordings come now and then, so that trends are points."
    )


class BandStatus(Model):
    """The level of one frequency band against its baseline."""

    low_hz: float
    high_hz: float
    now_db: FloatOrNull
    usual_db: float
    alert_db: float
    alarm_db: float


class OperatingPointStatus(Model):
    """A normal way of running, such as a load or a speed, learned from normal clips."""

    number: int = Field(ge=1)
    name: str = Field(examples=["half load"])
    share: float = Field(description="Of the normal clips, 0 to 1.")
    level_dbfs: float
    usual_score: float
    speed_rpm: float | None = Field(
        None, description="Mean of its clips; null where the control system did not report it."
    )
    load_percent: float | None = None


class DriftStatus(WithSentence, Model):
    """The normal sound has changed slowly."""

    message: Text
    since: Seconds


class SourceState(WithSentence, Model):
    """Where the sound of a machine comes from, and whether it arrives."""

    kind: str = Field(examples=["microphone"])
    connected: bool
    message: Text
    drift_ppm: float = Field(description="Above 0: its clock is fast against this computer's.")
    gaps: int
    reconnects: int


class LearningProgress(Model):
    """A baseline that is being learned."""

    seconds: float = Field(description="Collected so far.")
    target_seconds: float


class OperatingData(Model):
    """How a machine runs, as its control system reports it; null where it says nothing."""

    at: Seconds = Field(description="When it was last reported.")
    running: bool | None = None
    speed_rpm: float | None = Field(None, description="Revolutions of the shaft per minute.")
    load_percent: float | None = Field(None, description="Of its rated load.")


class OperatingDataSourceState(WithSentence, Model):
    """Where the operating data of a machine comes from, and whether it arrives."""

    kind: str = Field(examples=["opcua"])
    connected: bool
    message: Text
    max_age: float | None = Field(
        description="Seconds after which a value is unknown; null: while connected, never."
    )


class MachineStatus(Model):
    """One machine as it is now."""

    id: str = Field(examples=["fan-1"])
    name: str
    site: str
    group: str = Field("", description="Who looks after it; empty: nobody in particular.")
    type: str = Field("", description="Machines of one type are compared with one another.")
    model: str = Field(description="Name of the detector; empty while there is none.")
    state: MachineState
    state_since: Seconds
    muted_until: Seconds | None
    smoothed: float | None = Field(description="Score that thresholds are compared with.")
    p_value: float | None
    level_dbfs: float | None
    last_sound: Seconds | None = Field(description="End of the last sound that arrived.")
    data_age: float | None = Field(
        None, description="Seconds since something last arrived, when this was sent; null: never."
    )
    stale_after: float | None = Field(
        None,
        description="Seconds without data after which what is shown is no longer current; null: "
        "nobody knows yet when the next is due.",
    )
    listening: Listening = Field(
        "switched_off", description="Whether it can be listened to live, or why not."
    )
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
    operating_data: OperatingData | None = Field(
        None, description="Null where no control system reports any."
    )
    operating_data_source: OperatingDataSourceState | None = Field(
        None, description="Null where no control system is connected."
    )
    sensor: SensorStatus | None = None
    bands: tuple[BandStatus, ...] = Field((), description="Empty until a baseline is learned.")
    change_points: tuple[ChangePoint, ...] = Field((), description="The last ones, oldest first.")
    recent_scores: tuple[tuple[Seconds, float], ...] = Field(
        description="Time and smoothed score of the last ten minutes."
    )


class SheddingStatus(Model):
    """What is left out because the computer cannot keep up with scoring.

    Machines in alert or alarm are spared while they are few.
    """

    degree: int = Field(ge=1, description="The higher, the more is left out.")
    score_every: int = Field(
        ge=1,
        description="One in so many new segments is scored; of models of whole clips, the clip of "
        "one second in so many.",
    )
    second_every: int = Field(
        ge=1, description="One second of a machine in so many is looked at; 1: each."
    )
    since: Seconds = Field(description="When it began.")


class ServiceStatus(Model):
    """The service itself."""

    now: Seconds  # by the machines' clock, which may run faster in simulations
    name: str = Field(description="Of the plant.")
    timezone: str = Field(examples=["Europe/Berlin"])
    language: LanguageCode = Field("en", description="Of mails, notifications and reports.")
    version: str
    demo: bool
    keeps_audio: bool
    recent_minutes: float = Field(0.0, description="Of sound that can be kept on demand.")
    drops_speech: bool = Field(
        False, description="Whether voices are cut out of stored and played sound."
    )
    speed: float = Field(description="Of the clock, for simulations.")
    notes: tuple[Text, ...] = Field(description="What has happened, newest last.")
    problems: tuple[Text, ...] = Field(description="What is wrong right now.")
    shedding: SheddingStatus | None = Field(
        None, description="What is left out for lack of computing time; null: nothing."
    )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def note_sentences(self) -> tuple[CodedSentence | None, ...]:
        """The notes for other languages, in the same order."""
        return tuple(map(coded, self.notes))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def problem_sentences(self) -> tuple[CodedSentence | None, ...]:
        """The problems for other languages, in the same order."""
        return tuple(map(coded, self.problems))


class OutputInfo(WithSentence, Model):
    """One output and how it is doing."""

    number: int = Field(ge=1, description="In the order of the configuration.")
    kind: str = Field(examples=["notify"])
    name: str = Field(description="Without passwords.")
    groups: tuple[str, ...] = Field(description="Of the machines it is about. Empty: of all.")
    message: Text = Field(description="How it is doing, without passwords.")
    healthy: bool = Field(description="Whether the last attempt succeeded.")
    last_success: Seconds | None = Field(description="Null: nothing sent since the start.")
    quiet_until: Seconds | None = Field(description="End of quiet hours. Null: there are none now.")
    queued: int = Field(description="Messages that wait or are being sent.")
    sent: int
    failed: int = Field(description="Messages given up.")
    dropped: int = Field(description="Readings and outdated states that did not fit.")


class OutputTest(WithSentence, Model):
    """What came of a test message."""

    ok: bool
    message: Text = Field(description="What the receiver answered, without passwords.")


class Spectrum(Model):
    """The sound now against the normal one, in dB by mel bin; lists are empty where unknown."""

    hz: tuple[float, ...]
    now: tuple[FloatOrNull, ...]
    low: tuple[FloatOrNull, ...]
    mean: tuple[FloatOrNull, ...]
    high: tuple[FloatOrNull, ...]


class Spectrogram(Model):
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


class ModelInfo(Model):
    """The model of one machine."""

    machine: str
    system: str = Field(examples=["texture"])
    card_markdown: str
    sections: tuple[str, ...]
    recordings: int = Field(description="Normal recordings it has learned from.")
    version: str = Field(description="Of ssdpt that fitted it.")
