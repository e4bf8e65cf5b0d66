"""The contract for scoring frames: fitted and exported models meet it, live scoring needs no more.

    scorer = detector.frame_scorer
    frames = scorer.front_end(samples)                 # (frames, bins)
    (score_as,) = scorer.score_frames([frames])        # several clips at once
    score_as("00").value                               # higher = more anomalous

Needs no torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdpt.config.tree import hop_of
from ssdpt.errors import SsdptError
from ssdpt.features.front_end import FrontEnd
from ssdpt.scoring.section_score import SectionScore
from ssdpt.types import Floats

if TYPE_CHECKING:
    from ssdpt.systems.base import System


class FrameScorer(ABC):
    """Scores clips that are given as the frames of `front_end`, as any of `sections`.

    `clip_frames` is the length of the clips that thresholds were set on. A clip shorter than
    `segment_frames` is repeated. Where `hop` is a number, a clip's score is the mean over its
    segments, one every `hop` frames: a stream needs only its new segments scored. Where it is
    None, a stream must be scored by whole clips.
    """

    def __init__(
        self,
        front_end: FrontEnd,
        sections: tuple[str, ...],
        *,
        clip_seconds: float,
        segment_frames: int,
        segment_hop: int | None,
        averages_segments: bool,
    ) -> None:
        self.front_end = front_end
        self.sections = sections
        self.clip_frames = round(clip_seconds / front_end.frame_seconds)
        self.segment_frames = segment_frames
        by_segments = averages_segments and segment_frames < self.clip_frames
        self.hop = segment_hop if by_segments else None

    @property
    @abstractmethod
    def device(self) -> str:
        """Where it computes: `cpu` or `cuda`."""

    @property
    @abstractmethod
    def explains(self) -> bool:
        """Whether `anomaly_map` is there."""

    @abstractmethod
    def score_frames(self, clips: Sequence[Floats]) -> list[SectionScore]:
        """How each clip (frames, bins) scores as any section; a device takes them as one batch."""

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Where in time and frequency a clip (frames, bins) is unusual, ≥ 0.

        Same frames; a column for each of the front end's `frequencies`, where it names any. A clip
        of an unknown section is compared with the section that suits it best.
        """
        if section not in self.sections:
            (score_as,) = self.score_frames([frames])
            section = min(self.sections, key=lambda name: score_as(name).value)
        return self._anomaly_map(frames, section)

    def _anomaly_map(self, frames: Floats, section: str) -> Floats:
        raise SsdptError(
            "this model cannot show where in time and frequency a clip is unusual; use one that "
            "was fitted, not exported"
        )


class SystemFrameScorer(FrameScorer):
    """The frames scored by a fitted system."""

    def __init__(self, system: System) -> None:
        super().__init__(
            system.front_end,
            system.sections,
            clip_seconds=system.config.audio.clip_seconds,
            segment_frames=system.segment_frames,
            segment_hop=hop_of(system.config),
            averages_segments=system.averages_segments,
        )
        self._system = system

    @property
    def device(self) -> str:
        return "cuda" if self._system.on_gpu else "cpu"

    @property
    def explains(self) -> bool:
        return self._system.explains

    def score_frames(self, clips: Sequence[Floats]) -> list[SectionScore]:
        return self._system.score_many(clips)

    def _anomaly_map(self, frames: Floats, section: str) -> Floats:
        return self._system.anomaly_map(frames, section)
