"""Request bodies, and answers that only the server gives; all others are in monitor.messages."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, computed_field

from ssdpt.alarms.settings import FEWEST_FALSE_ALERTS, MOST_FALSE_ALERTS
from ssdpt.diagnosis.catalogue import CatalogueEntry
from ssdpt.monitor import store
from ssdpt.monitor.messages import (
    EventLabel,
    FloatOrNull,
    MachineState,
    MachineStatus,
    NoteKind,
    Seconds,
    ServiceStatus,
    Spectrogram,
    Spectrum,
)
from ssdpt.sentences.coded_sentence import CodedSentence, Text, coded

MAX_NAME = 200  # characters of a fault or a work order

# --- Request bodies -------------------------------------------------------------------------------


class _Body(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class SignInRequest(_Body):
    name: str = Field(max_length=64, examples=["ann"])
    password: str = Field(max_length=1024, examples=["correct horse battery"])


class UserRequest(SignInRequest):
    role: store.Role


class RoleRequest(_Body):
    role: store.Role


class PasswordRequest(_Body):
    password: str = Field(
        max_length=1024,
        description="At least 8 characters; what they are is up to the user.",
        examples=["correct horse battery"],
    )


class OwnPasswordRequest(PasswordRequest):
    old_password: str = Field(max_length=1024, examples=["correct horse staple"])


class MuteRequest(_Body):
    minutes: float = Field(gt=0, le=30 * 24 * 60, examples=[60])


class LearningRequest(_Body):
    minutes: float = Field(gt=0, le=7 * 24 * 60, examples=[30])


class CommissioningRequest(_Body):
    healthy: bool = Field(
        description="Whether a machine that sounds different since the start is healthy."
    )


class FalseAlertsRequest(_Body):
    false_alerts_per_week: float = Field(
        ge=FEWEST_FALSE_ALERTS,
        le=MOST_FALSE_ALERTS,
        description="The number of false alerts per week that is acceptable.",
        examples=[1],
    )


class OperatingPointRequest(_Body):
    name: str = Field(
        max_length=40,
        description="The new name; an empty text removes the name.",
        examples=["half load"],
    )


class OperatingDataRequest(_Body):
    """What is left out or null is not reported: the value before stays until it is too old."""

    running: bool | None = None
    speed_rpm: float | None = Field(None, examples=[1480])
    load_percent: float | None = Field(None, examples=[60])


class KeepRequest(_Body):
    minutes: float = Field(gt=0, le=60, description="Of sound up to now.", examples=[10])
    note: str = Field("", max_length=400, examples=["knocks when the valve closes"])


class AcknowledgeRequest(_Body):
    comment: str = Field("", max_length=4000, examples=["on my way"])


class CommentRequest(_Body):
    text: str = Field(min_length=1, max_length=4000, examples=["bearing greased"])


class LabelRequest(_Body):
    label: EventLabel = Field(
        description="What a person says the event was; an empty text removes the label."
    )


class EventDetailsRequest(_Body):
    """What is left out stays as it is; an empty text removes it."""

    cause: str | None = Field(None, max_length=1000, examples=["dry bearing"])
    work_order: str | None = Field(None, max_length=MAX_NAME, examples=["WO-4711"])
    fault: str | None = Field(None, max_length=MAX_NAME, examples=["loose belt"])


class RecognitionRequest(_Body):
    right: bool = Field(description="Whether the event is the fault that it looks like.")


class NoteRequest(_Body):
    at: float = Field(
        ge=0,
        lt=1e11,
        description="When it happened, in seconds since 1970, UTC.",
        examples=[1.79e9],
    )
    kind: NoteKind = "other"
    text: str = Field(min_length=1, max_length=4000, examples=["bearing changed"])


# --- Answers --------------------------------------------------------------------------------------


class Answer(BaseModel):
    """An answer of the server. Numbers that are not finite become null in JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


class ErrorReply(Answer):
    error: Text = Field(examples=["there is no such machine"])

    @computed_field  # type: ignore[prop-decorator]
    @property
    def sentence(self) -> CodedSentence | None:
        """The error for other languages; null where there is only its text."""
        return coded(self.error)


class UserInfo(Answer):
    name: str = Field(examples=["ann"])
    role: store.Role


class SessionInfo(UserInfo):
    csrf: str = Field(
        description="The value of the header X-CSRF-Token; empty where the header is not needed."
    )


class BackupSize(Answer):
    bytes: int = Field(description="About how large a backup would be now.")


class Health(Answer):
    status: Literal["ok", "starting"]


class ReceivedAudio(Answer):
    seconds: float = Field(
        description="Of the sound that was taken; what overlaps with earlier sound is left out."
    )


class ActionRecord(Answer):
    """An action of a user: who did what, and when."""

    id: int
    who: str
    at: Seconds
    what: str
    about: str = Field(description="The machine, event or user that the action was about.")


class UpgradeNotice(Answer):
    """What changed when a newer release of ssdpt first opened the store."""

    at: Seconds
    from_version: str = Field(description="Of ssdpt; empty: not known.")
    to_version: str
    from_tables: str = Field(description="Revision of the tables of the store before.")
    to_tables: str = Field(description="The same as before where they did not change.")
    backup: str = Field(
        description="Of the store as it was, in the data folder; empty: its tables did not change.",
        examples=["backups/before-tables-0004-20261118-120000.db"],
    )
    config_changes: tuple[Text, ...] = Field(
        description="Old settings of the configuration file, and what they are read as."
    )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def config_change_sentences(self) -> tuple[CodedSentence | None, ...]:
        """The same for other languages, in the same order."""
        return tuple(map(coded, self.config_changes))


class StatusReply(ServiceStatus):
    """The state of the service, its machines, and the user who is signed in."""

    machines: tuple[MachineStatus, ...]
    user: UserInfo
    upgrade: UpgradeNotice | None = Field(
        None, description="The last upgrade, until this user dismisses the notice."
    )


class MachineSound(Answer):
    """The sound of a machine, which its page draws every second, in one answer."""

    spectrum: Spectrum
    spectrogram: Spectrogram


class EventSuggestions(Answer):
    """What people have written about earlier events, the newest first."""

    causes: tuple[str, ...]
    faults: tuple[str, ...]


class TrendReply(Answer):
    """Smoothed scores of a machine over time; null where the sound was not scored."""

    seconds_per_point: float
    time: tuple[Seconds, ...] = Field(description="The beginning of each point.")
    low: tuple[FloatOrNull, ...]
    mean: tuple[FloatOrNull, ...]
    high: tuple[FloatOrNull, ...]
    state: tuple[MachineState, ...] = Field(description="The most urgent state within each point.")
    alert_seconds: tuple[float, ...] = Field(description="How long it was in the state alert.")
    alarm_seconds: tuple[float, ...] = Field(description="How long it was in the state alarm.")

    @classmethod
    def of(cls, trend: store.Trend) -> Self:
        """The answer for a trend of the store, whose values are arrays."""
        return cls(
            seconds_per_point=trend.seconds_per_point,
            time=trend.time.tolist(),
            low=trend.low.tolist(),
            mean=trend.mean.tolist(),
            high=trend.high.tolist(),
            state=trend.state,
            alert_seconds=trend.alert_seconds.tolist(),
            alarm_seconds=trend.alarm_seconds.tolist(),
        )


class BandTrendReply(Answer):
    """Levels of a machine over time: of its whole sound and of its frequency bands."""

    seconds_per_point: float
    edges_hz: tuple[float, ...] = Field(
        description="Of the bands, one more than there are bands; empty before a baseline."
    )
    time: tuple[Seconds, ...] = Field(description="The beginning of each point.")
    level_dbfs: tuple[FloatOrNull, ...] = Field(description="Of the whole sound, by point.")
    levels: tuple[tuple[FloatOrNull, ...], ...] = Field(
        description="In dB, by point and band; null where there is none."
    )


class Bearing(Answer):
    """A bearing of the catalogue; frequencies per turn of its shaft."""

    name: str = Field(examples=["6205-2RS JEM"])
    elements: int
    element_mm: float
    pitch_mm: float
    contact_degrees: float
    source: str = Field(description="Where the dimensions come from.")
    bpfo: float = Field(description="Ball pass frequency, outer race.")
    bpfi: float = Field(description="Ball pass frequency, inner race.")
    bsf: float = Field(description="Ball spin frequency; damage of a ball is heard twice per spin.")
    ftf: float = Field(description="Fundamental train frequency: that of the cage.")

    @classmethod
    def of(cls, name: str, entry: CatalogueEntry) -> Self:
        """An entry with its frequencies."""
        frequencies = {
            kind: round(getattr(entry, kind), 5) for kind in ("bpfo", "bpfi", "bsf", "ftf")
        }
        return cls(name=name, **entry.model_dump(), **frequencies)
