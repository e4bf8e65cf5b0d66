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

    views: tuple[Literal["spectrum", "roughness", "modulation", "envelope"], ...] = Field(
        ("spectrum", "roughness", "modulation", "envelope"),
        description="which views; all count alike unless other machine IDs weigh them. None: the "
        "networks of `multiview` alone",
    )
    neighbours: int = Field(
        16,
        ge=1,
        description="nearest normal clips that give the local density around another",
    )
    reference_clips: float = Field(
        50.0,
        ge=0,
        description="how many of the machine's own clips the spread of the shared reference "
        "weighs as; 0 = the machine's own spread alone",
    )
    emphasis: bool = Field(
        True, description="stretch each view where machine IDs of the same type differ"
    )
    weights: Literal["siblings", "equal"] = Field(
        "siblings",
        description="siblings: a view counts by how far the other IDs of the machine lie in it",
    )
    domains: Literal["apart", "together"] = Field(
        "apart", description="normal clips of source and target domain as references"
    )
    density: bool = Field(
        True,
        description="divide a distance by the nearest normal clip's own distance to its neighbours",
    )


SYSTEMS = (
    SystemEntry("texture", "ssdpt.systems.texture.system:Texture", (TextureConfig, EncoderConfig)),
)
