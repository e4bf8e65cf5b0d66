"""Gaussian mixtures on time-weighted log-mels: their settings."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from ssdpt.config.registry import SystemEntry
from ssdpt.config.settings import SegmentSettings


class GaussianConfig(SegmentSettings):
    """A Gaussian mixture on time-weighted log-mels, one for each section."""

    key: ClassVar[str] = "gmm"

    frames: int = Field(64, ge=1, description="frames per segment, over which a bin is pooled")
    hop: int = Field(8, ge=1, description="frames from one segment to the next")
    time_weight: float = Field(
        0.6,
        gt=0,
        le=1,
        description="weight of a bin's next quieter frame in a segment against the louder one: "
        "1 = their mean, towards 0 = their maximum",
    )
    components: int = Field(2, ge=1, description="Gaussians a section; 1 = Ledoit-Wolf shrinkage")
    oversample: bool = Field(
        True, description="as many target clips as source clips, made up between real ones"
    )


SYSTEMS = (
    SystemEntry(
        "gmm",
        "ssdpt.systems.gmm.system:GaussianMixture",
        (GaussianConfig,),
        oldest_format=2,  # models of format 1 weighed all frames of a segment alike
    ),
)
