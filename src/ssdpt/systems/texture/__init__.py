"""Sound texture: the settings of the hand-made views."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.registry import SystemEntry
from ssdpt.config.settings import SystemSettings


class TextureConfig(SystemSettings):
    """Hand-made views of a clip, and the distance to the nearest normal clip in each of them."""

    key: ClassVar[str] = "texture"

    views: tuple[Literal["spectrum", "roughness", "modulation", "envelope", "rhythm"], ...] = Field(
        ("spectrum", "roughness", "modulation", "envelope", "rhythm"),
        description="which views; all count alike, the rhythm half as much. None: the networks of "
        "`multiview` alone",
    )
    seconds: float | None = Field(
        1.0,
        gt=0,
        description="length of the stretches in which a clip is described, in seconds; null: the "
        "whole clip at once",
    )
    neighbours: int = Field(
        16,
        ge=1,
        description="nearest seconds of other normal clips that give the local density around one",
    )
    reference_clips: float = Field(
        50.0,
        ge=0,
        description="how many of the machine's own clips the spread of the shared reference "
        "weighs as; 0 = the machine's own spread alone",
    )
    domains: Literal["apart", "together"] = Field(
        "together",
        description="normal clips of source and target domain as references: together, or apart "
        "with a scale of distances each",
    )
    density: bool = Field(
        True,
        description="divide a distance by the nearest normal second's own distance to its "
        "neighbours",
    )


SYSTEMS = (
    SystemEntry("texture", "ssdpt.systems.texture.system:Texture", (TextureConfig, EncoderConfig)),
)
