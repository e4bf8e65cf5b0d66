"""What networks themselves can be set to; light, so that settings are read without torch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ssdpt.config.settings import Settings


class MaskConfig(Settings):
    """Which areas of a segment are hidden in training (never in testing)."""

    kind: Literal["none", "time", "frequency", "specaugment", "patch"] = Field(
        "patch", description="NM, TM, FM, SpecAugment (TM and FM) or PM of the paper"
    )
    patches: int = Field(3, ge=0, description="k: square masks a segment (PM)")
    patch_size: int = Field(5, ge=1, description="r: frames and bins of one square (PM)")
    stripes: int = Field(2, ge=0, description="masks a segment along each axis (TM, FM)")
    stripe_width: int = Field(4, ge=1, description="consecutive frames or bins of one mask")


class WaveNetMember(Settings):
    """One network of the ensemble; its layers are the table in `ssdpt.nn.wavenet`."""

    preprocessing: Literal["raw", "pre-emphasis", "levelled"] = Field(
        "raw",
        description="of the samples; pre-emphasis lifts high frequencies, levelled divides a "
        "segment by its own level",
    )
    channels: int = Field(32, ge=1, description="of the residual layers")
    stacks: int = Field(2, ge=1, description="repetitions of the row of dilations 1, 2, 4, …")
    layers: int = Field(8, ge=1, le=16, description="dilated convolutions a stack")
