"""The scoring of a system as a module that can be exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import Tensor, nn

from ssdpt.scoring.gaussian import Gaussians


class GraphOutput(NamedTuple):
    """What a system's graph says of a clip."""

    parts: tuple[Tensor, ...]  # (segments, sections) each, in the order of `SystemGraph.weights`
    embedding: Tensor  # (segments, E)
    clip: Tensor | None = None  # (sections,) where it is not the weighted sum of the parts' means


class SystemGraph(nn.Module):
    """The scoring of a system as one module, for export: (frames, bins) in dB to a `GraphOutput`.

    It scores the clip as all sections at once, and takes any number of frames from 1 on.
    """

    def __init__(
        self, weights: Mapping[str, float | Sequence[float]], segment_hop: int, at_once: int
    ) -> None:
        super().__init__()
        # Of the parts in the score: one number, or one for each section.
        self.weights = dict(weights)
        self.segment_hop = segment_hop  # frames from one segment to the next
        self.at_once = at_once  # segments that a device takes together without running short
        self.references: Gaussians | None = None  # what the clip's score needs besides the graph
        self.clip_frames: int | None = None  # of a clip, if longer recordings are cut into clips

    def forward(self, frames: Tensor) -> GraphOutput:
        raise NotImplementedError
