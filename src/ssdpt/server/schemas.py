"""The JSON of the API: what may be sent, and, for its documentation, what comes back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ssdpt.monitor.messages import EventKind, EventLabel, EventLevel, EventState, MachineState
from ssdpt.monitor.store import Role

Seconds = Annotated[float, Field(description="Seconds since 1970, UTC.", examples=[1.79e9])]


class Asked(BaseModel):
    """A body that someone sends; what it does not know it refuses."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Login(Asked):
    name: str = Field(max_length=64, examples=["ann"])
    password: str = Field(max_length=1024, examples=["correct horse battery"])


class NewUser(Asked):
    name: str = Field(max_length=64, examples=["ann"])
    role: Role
    password: str = Field(max_length=1024, examples=["correct horse battery"])


class Muting(Asked):
    minutes: float = Field(gt=0, le=30 * 24 * 60, examples=[60])


class LearningTime(Asked):
    minutes: float = Field(gt=0, le=7 * 24 * 60, examples=[30])


class FalseAlarms(Asked):
    per_week: float = Field(ge=0.1, le=10080, description="That are put up with.", examples=[1])


class PointName(Asked):
    name: str = Field(max_length=40, description="Empty takes it back.", examples=["half load"])


class Acknowledging(Asked):
    comment: str = Field("", max_length=4000, examples=["on my way"])


class Commenting(Asked):
    text: str = Field(min_length=1, max_length=4000, examples=["bearing greased"])


class Labelling(Asked):
    label: EventLabel = Field(description="What it was; empty takes a label back.")


class ErrorWords(BaseModel):
    error: str = Field(examples=["there is no such machine"])


class UserWords(BaseModel):
    name: str = Field(examples=["ann"])
    role: Role


class SessionWords(UserWords):
    csrf: str = Field(description="For the header X-CSRF-Token; empty where none is needed.")


class DoneBy(BaseModel):
    who: str
    at: Seconds


class CommentWords(DoneBy):
    text: str


class EventWords(BaseModel):
    id: str = Field(examples=["0123456789abcdef0123456789abcdef"])
    machine: str = Field(examples=["fan-1"])
    kind: EventKind
    level: EventLevel
    state: EventState
    began: Seconds
    ended: Seconds | None
    peak: float | None
    threshold: float | None
    words: str = Field(examples=["fan 1 sounds unlike its normal self"])
    label: EventLabel
    acknowledged: DoneBy | None
    comments: list[CommentWords]
    has_audio: bool
    audio_begin: Seconds | None
    top_bands_hz: list[tuple[float, float]]


class LimitWords(BaseModel):
    alert: float
    alarm: float
    extrapolated: bool
    words: str


class ThresholdWords(LimitWords):
    alert_exit: float
    alarm_exit: float
    per_week: float


class SourceWords(BaseModel):
    connected: bool
    words: str
    drift_ppm: float
    gaps: int
    reconnects: int


class DriftWords(BaseModel):
    words: str
    since: Seconds


class LearningWords(BaseModel):
    seconds: float
    wanted: float


class PointWords(BaseModel):
    number: int = Field(ge=1)
    name: str = Field(examples=["half load"])
    share: float = Field(description="Of the normal time.")
    level_dbfs: float
    usual: float = Field(description="Score that is usual there.")


class MachineWords(BaseModel):
    id: str = Field(examples=["fan-1"])
    name: str
    site: str
    kind: str
    model: str
    state: MachineState
    state_since: Seconds
    muted_until: Seconds | None
    score: float | None
    p_value: float | None
    level_dbfs: float | None
    last_sound: Seconds | None = Field(description="The end of what was last heard.")
    thresholds: ThresholdWords | None
    operating_point: int | None = Field(
        description="That it runs at now; 0 is like none that was learnt, null is not known."
    )
    operating_points: list[PointWords]
    added: bool = Field(description="Whether it was added on the page, and can be removed there.")
    drift: DriftWords | None
    source: SourceWords
    learning: LearningWords | None
    open_events: int
    last_event: EventWords | None
    spark: list[tuple[Seconds, float]] = Field(description="Scores of the last ten minutes.")


class PlantWords(BaseModel):
    now: Seconds  # by the machines' clock, which may be sped up
    name: str
    zone: str = Field(examples=["Europe/Berlin"])
    version: str
    demo: bool
    keeps_audio: bool
    speed: float
    notes: list[str] = Field(description="What has happened, newest last.")
    troubles: list[str] = Field(description="What is wrong right now.")
    machines: list[MachineWords]
    you: UserWords


class TrendWords(BaseModel):
    seconds_per_point: float
    time: list[Seconds]
    low: list[float | None]
    mean: list[float | None]
    high: list[float | None]
    state: list[MachineState]


class SpectrumWords(BaseModel):
    hz: list[float]
    now: list[float | None]
    low: list[float | None]
    mean: list[float | None]
    high: list[float | None]


class WaterfallWords(BaseModel):
    hz: list[float]
    begin: Seconds
    seconds_per_column: float
    columns: list[list[int]]
    low_db: float
    high_db: float


class SpectrogramWords(WaterfallWords):
    map: list[list[int]] = Field(description="How odd each place is, 0 to 255.")


class ModelWords(BaseModel):
    id: str
    machine: str
    system: str
    card_markdown: str
    sections: list[str]
    clips: Any
    made: Any


class TakenWords(BaseModel):
    seconds: float = Field(description="Of sound that was taken.")


class ActionWords(BaseModel):
    id: int
    who: str
    at: Seconds
    what: str
    about: str


class HealthWords(BaseModel):
    status: Literal["ok", "starting"]
