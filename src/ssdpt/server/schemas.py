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
    """What a client sends; unknown fields are refused."""

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


class FalseAlertsRequest(_Body):
    false_alerts_per_week: float = Field(
        ge=FEWEST_FALSE_ALERTS,
        le=MOST_FALSE_ALERTS,
        description="That are acceptable.",
        examples=[1],
    )


class OperatingPointRequest(_Body):
    name: str = Field(max_length=40, description="Empty: no name.", examples=["half load"])


class AcknowledgeRequest(_Body):
    comment: str = Field("", max_length=4000, examples=["on my way"])


class CommentRequest(_Body):
    text: str = Field(min_length=1, max_length=4000, examples=["bearing greased"])


class LabelRequest(_Body):
    label: EventLabel = Field(description="What it was; empty removes the label.")


# --- Answers --------------------------------------------------------------------------------------


class Answer(BaseModel):
    """What the server sends. Numbers that are not finite become null in JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


class ErrorReply(Answer):
    error: str = Field(examples=["there is no such machine"])


class UserInfo(Answer):
    name: str = Field(examples=["ann"])
    role: store.Role


class SessionInfo(UserInfo):
    csrf: str = Field(description="For the header X-CSRF-Token; empty where none is needed.")


class Health(Answer):
    status: Literal["ok", "starting"]


class ReceivedAudio(Answer):
    seconds: float = Field(description="Length of the sound that was received.")


class ActionRecord(Answer):
    """Who did what."""

    id: int
    who: str
    at: Seconds
    what: str
    about: str = Field(description="A machine, an event or a user.")


class StatusReply(ServiceStatus):
    """The service, its machines, and who is signed in."""

    machines: tuple[MachineStatus, ...]
    user: UserInfo


class MachineSound(Answer):
    """What the page of a machine draws every second, in one answer."""

    spectrum: Spectrum
    spectrogram: Spectrogram


class Trend(Answer):
    """Smoothed scores of a machine over time; null where nothing was judged."""

    seconds_per_point: float
    time: tuple[Seconds, ...] = Field(description="Beginning of each point.")
    low: tuple[FloatOrNull, ...]
    mean: tuple[FloatOrNull, ...]
    high: tuple[FloatOrNull, ...]
    state: tuple[MachineState, ...] = Field(description="The most urgent of each point.")

    @classmethod
    def of(cls, trend: store.Trend) -> Self:
        """A trend of the store, which holds arrays."""
        return cls(
            seconds_per_point=trend.seconds_per_point,
            time=trend.time.tolist(),
            low=trend.low.tolist(),
            mean=trend.mean.tolist(),
            high=trend.high.tolist(),
            state=trend.state,
        )
