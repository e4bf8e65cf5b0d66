"""Request bodies, and answers that only the server gives; all others are in monitor.messages."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from ssdpt.alarms.settings import FEWEST_FALSE_ALERTS, MOST_FALSE_ALERTS
from ssdpt.monitor import store
from ssdpt.monitor.messages import (
    EventLabel,
    FloatOrNull,
    MachineState,
    MachineStatus,
    Seconds,
    ServiceStatus,
    Spectrogram,
    Spectrum,
)

# --- Request bodies -------------------------------------------------------------------------------


class _Body(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class SignInRequest(_Body):
    name: str = Field(max_length=64, examples=["ann"])
    password: str = Field(max_length=1024, examples=["correct horse battery"])


class UserRequest(SignInRequest):
    role: store.Role


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


class AcknowledgeRequest(_Body):
    comment: str = Field("", max_length=4000, examples=["on my way"])


class CommentRequest(_Body):
    text: str = Field(min_length=1, max_length=4000, examples=["bearing greased"])


class LabelRequest(_Body):
    label: EventLabel = Field(
        description="What a person says the event was; an empty text removes the label."
    )


# --- Answers --------------------------------------------------------------------------------------


class Answer(BaseModel):
    """An answer of the server. Numbers that are not finite become null in JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


class ErrorReply(Answer):
    error: str = Field(examples=["there is no such machine"])


class UserInfo(Answer):
    name: str = Field(examples=["ann"])
    role: store.Role


class SessionInfo(UserInfo):
    csrf: str = Field(
        description="The value of the header X-CSRF-Token; empty where the header is not needed."
    )


class Health(Answer):
    status: Literal["ok", "starting"]


class ReceivedAudio(Answer):
    seconds: float = Field(description="The length of the sound that was received.")


class ActionRecord(Answer):
    """An action of a user: who did what, and when."""

    id: int
    who: str
    at: Seconds
    what: str
    about: str = Field(description="The machine, event or user that the action was about.")


class StatusReply(ServiceStatus):
    """The state of the service, its machines, and the user who is signed in."""

    machines: tuple[MachineStatus, ...]
    user: UserInfo


class MachineSound(Answer):
    """The sound of a machine, which its page draws every second, in one answer."""

    spectrum: Spectrum
    spectrogram: Spectrogram


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
    """Levels of the frequency bands of a machine over time."""

    seconds_per_point: float
    edges_hz: tuple[float, ...] = Field(
        description="Of the bands, one more than there are bands; empty before a baseline."
    )
    time: tuple[Seconds, ...] = Field(description="The beginning of each point.")
    levels: tuple[tuple[FloatOrNull, ...], ...] = Field(
        description="In dB, by point and band; null where there is none."
    )
