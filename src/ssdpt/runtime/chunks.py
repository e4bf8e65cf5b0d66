"""A stream of samples to pieces for the graph, so that hours pass in constant memory.

The graph pads every piece with zeros at both ends, as if it were a whole clip. Pieces therefore
overlap, and what the zeros of an inner border have touched is left out: the segments that remain
are exactly those of the whole clip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ssdpt.config.settings import FeatureConfig
from ssdpt.runtime.manifest import Segment
from ssdpt.types import Floats


@dataclass(frozen=True, slots=True)
class GraphChunk:
    """A piece of a clip; which of the graph's segments count, each once in the whole."""

    samples: Floats
    segments: slice


def chunks(
    blocks: Iterable[Floats], features: FeatureConfig, segment: Segment
) -> Iterator[GraphChunk]:
    """Cut consecutive blocks of samples, whatever their lengths, into pieces for the graph."""
    hop, margin = features.hop_length, features.n_fft // 2
    touched = -(-margin // hop)  # frames that reach beyond the beginning of a piece
    lead = -(-touched // segment.hop)  # segments before the first that counts
    pending: Floats = np.zeros(0, np.float32)
    first = 0  # segment of the whole clip that counts next
    start = 0  # frame of the whole clip at which `pending` begins
    for block in blocks:
        pending = np.concatenate([pending, block])
        while True:
            skip = first - start // segment.hop
            last = first + segment.at_once - 1
            # Up to the end of the last segment, and to the next one where segments lie apart.
            end = max(last * segment.hop + segment.frames, (last + 1) * segment.hop)
            samples = (end - 1 - start) * hop + margin
            # More than that must be there: only the last piece may end where the clip ends.
            if len(pending) <= samples:
                break
            yield GraphChunk(pending[:samples], slice(skip, skip + segment.at_once))
            first = last + 1
            following = max(first - lead, 0) * segment.hop
            pending = pending[(following - start) * hop :]
            start = following
    frames = start + len(pending) // hop + 1  # of the whole clip
    count = max(frames - segment.frames, 0) // segment.hop + 1  # segments of the whole clip
    if len(pending) and count > first:
        skip = first - start // segment.hop
        yield GraphChunk(pending, slice(skip, skip + count - first))
