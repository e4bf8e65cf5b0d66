"""A detector of one's own: how far the loudness of a clip lies from that of normal clips.

The smallest system that does something sensible; docs/how-to/own-detector.md explains every line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field

from ssdpt.common.arrays import Arrays
from ssdpt.config.registry import SystemEntry
from ssdpt.config.settings import SystemSettings
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.systems.base import FitContext, System
from ssdpt.types import Floats


class LoudnessConfig(SystemSettings):
    """What the detector can be set to: `--set loudness.frames=16`."""

    key: ClassVar[str] = "loudness"

    frames: int = Field(32, ge=1, description="frames over which the loudness is averaged")


class Loudness(System):
    """The mean level of normal clips in every mel bin, and how far a clip is from it."""

    name: ClassVar[str] = "loudness"
    origin: ClassVar[str] = "Distance from the mean level (an example)"
    requires_torch: ClassVar[bool] = False

    def __init__(self, config: Config, sections: tuple[str, ...], means: np.ndarray) -> None:
        super().__init__(config, sections)
        self.means = means  # (sections, bins) in dB

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        return sections * config.features.n_mels

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        levels: defaultdict[str, list[np.ndarray]] = defaultdict(list)
        for recording, frames in clips.clips():  # frames: (frames, bins) in dB
            levels[recording.section].append(frames.mean(0, dtype=np.float64))
        sections = tuple(sorted(levels))
        means = [np.mean(levels[section], axis=0) for section in sections]
        return cls(config, sections, np.array(means, np.float32))

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        mean = self.means[self.sections.index(section)]
        distance = np.concatenate([np.abs(block - mean).mean(1) for block in frames])  # (frames,)
        size = self.segment_frames
        distance = np.resize(distance, max(len(distance), size))  # a short clip is repeated
        segments = distance[: len(distance) // size * size].reshape(-1, size)  # whole ones
        return aggregate(
            {"loudness": segments.mean(1)},
            {"loudness": 1.0},
            hop_seconds=size * self.hop_seconds,
            segment_seconds=size * self.hop_seconds,
        )

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        return np.abs(frames - self.means[self.sections.index(section)])

    @property
    def segment_frames(self) -> int:
        return self.config.part(LoudnessConfig).frames

    def arrays(self) -> dict[str, np.ndarray]:
        return {"means": self.means}

    def description(self) -> dict[str, Any]:
        return {"parameters": self.means.size}

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        means = arrays["means"]
        if means.shape != (len(sections), config.features.n_mels):
            raise ValueError("the mean levels are of another front end")
        return cls(config, sections, means)


SYSTEM = SystemEntry("loudness", "ssdpt_loudness:Loudness", (LoudnessConfig,))
