"""What all messages share: times, numbers, states, and the form of a model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

MachineState = Literal["starting", "learning", "off", "normal", "alert", "alarm", "lost"]
STATES: tuple[MachineState, ...] = (
    # From the least to the most urgent.
    *("starting", "off", "learning", "normal", "lost", "alert", "alarm"),
)

Seconds = Annotated[float, Field(description="Seconds since 1970, UTC.", examples=[1.79e9])]
# A number that need not be finite (silence is −∞ dB), which JSON sends as null.
FloatOrNull = Annotated[
    float, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]}, mode="serialization")
]


class UnknownMachine(KeyError):
    """There is no machine with this id, or no longer."""


class Model(BaseModel):
    """A value that is never changed. Numbers that are not finite become null in JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )
