"""The frames of clips scored by an exported graph: numpy and a runtime, no torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ssdpt.detection.frame_scorer import FrameScorer
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.views import clips_of
from ssdpt.runtime.manifest import Manifest, Segment
from ssdpt.runtime.segment_outputs import SegmentOutputs
from ssdpt.runtime.session import Session
from ssdpt.runtime.whole_clips import WholeClipOutputs
from ssdpt.scoring.gaussian import Gaussians
from ssdpt.scoring.section_score import SectionScore
from ssdpt.types import Floats


class ExportedFrameScorer(FrameScorer):
    """Runs the graph that follows the front end."""

    def __init__(
        self,
        manifest: Manifest,
        front_end: FrontEnd,
        session: Session,
        gaussians: Gaussians | None,
    ) -> None:
        super().__init__(
            front_end,
            manifest.sections,
            clip_seconds=manifest.audio.clip_seconds,
            segment_frames=manifest.segment.frames,
            segment_hop=manifest.segment.hop,
            averages_segments=manifest.averages_segments,
        )
        self._manifest = manifest
        self._session = session
        self._gaussians = gaussians

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def explains(self) -> bool:
        return False  # the graph has no gradients

    def score_frames(self, clips: Sequence[Floats]) -> list[SectionScore]:
        return [self._score(frames) for frames in clips]

    def score_clips(self, blocks: Iterable[Floats]) -> SectionScore:
        """How a recording, given as blocks of frames, scores by a model of whole clips."""
        assert self._manifest.clip_frames is not None
        outputs = WholeClipOutputs(self._manifest)
        for clip in clips_of(blocks, self._manifest.clip_frames):
            outputs.add(self._session.run(clip, outputs.names), len(clip))
        return outputs.score_as

    def _score(self, frames: Floats) -> SectionScore:
        if self._manifest.clip_frames is not None:
            return self.score_clips([frames])
        outputs = SegmentOutputs(self._manifest, self._gaussians)
        for piece in _pieces(frames, self._manifest.segment):
            outputs.add(self._session.run(piece, outputs.names))
        return outputs.score_as


def _pieces(frames: Floats, segment: Segment) -> Iterator[Floats]:
    """A clip (frames, bins) in pieces of whole segments, as many as the graph takes at once."""
    count = max(len(frames) - segment.frames, 0) // segment.hop + 1  # segments
    for first in range(0, count, segment.at_once):
        last = min(first + segment.at_once, count) - 1
        yield frames[first * segment.hop : last * segment.hop + segment.frames]
