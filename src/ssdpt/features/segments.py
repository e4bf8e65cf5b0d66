"""Frames to overlapping segments: positions into one long array, never copies of the data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssdpt.types import Floats


def segment_starts(frames: int, length: int, hop: int) -> NDArray[np.int64]:
    """First frame of every whole segment of a clip with `frames` frames.

    A clip shorter than one segment gives one segment, filled by repeating the clip.
    """
    return np.arange(0, max(frames - length, 0) + 1, hop, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Segments:
    """Where every segment of a set of clips lies in the long array of all their frames."""

    offset: Tensor  # (segments,) first frame of the segment's clip in the long array
    start: Tensor  # (segments,) first frame of the segment within its clip
    frames: Tensor  # (segments,) frames of the segment's clip
    clip: Tensor  # (segments,) index of the segment's clip
    length: int  # frames per segment (P)

    @classmethod
    def of_clips(
        cls, first: NDArray[np.int64], frames: NDArray[np.int64], length: int, hop: int
    ) -> Segments:
        """Clip c occupies `frames[c]` frames of the long array from `first[c]` on."""
        starts = [segment_starts(int(count), length, hop) for count in frames]
        clip = np.repeat(np.arange(len(frames)), [len(start) for start in starts])
        return cls(
            offset=torch.from_numpy(first[clip]),
            start=torch.from_numpy(np.concatenate(starts)),
            frames=torch.from_numpy(frames[clip]),
            clip=torch.from_numpy(clip),
            length=length,
        )

    def __len__(self) -> int:
        return len(self.start)

    def gather(self, features: Tensor, index: Tensor) -> Tensor:
        """The segments `index` (batch,) of `features` (all frames, bins): (batch, P, bins)."""
        within = self.start[index, None] + torch.arange(self.length, device=index.device)
        # A clip shorter than a segment is repeated; for every other clip this changes nothing.
        within = within % self.frames[index, None]
        return features[self.offset[index, None] + within]

    def to(self, device: torch.device) -> Segments:
        """The same positions on another device."""
        return Segments(
            offset=self.offset.to(device),
            start=self.start.to(device),
            frames=self.frames.to(device),
            clip=self.clip.to(device),
            length=self.length,
        )


def segments_of_clip(features: Tensor, length: int, hop: int) -> Tensor:
    """All segments of one clip (frames, bins) as a view: (segments, P, bins).

    Only a clip shorter than one segment is copied, since it is repeated to fill it.
    """
    if len(features) < length:
        repeats = -(-length // len(features))
        features = features.repeat(repeats, 1)[:length]
    return features.unfold(0, length, hop).transpose(1, 2)


def gathered_segments(features: Tensor, length: int, hop: int) -> Tensor:
    """The same segments by their positions: for a graph that does not know how many frames come."""
    frames = features.shape[0]
    count = torch.sym_max(frames - length, 0) // hop + 1  # type: ignore[no-untyped-call]
    position = torch.arange(count)[:, None] * hop + torch.arange(length)  # (segments, P)
    # A tensor, since the exporter has no remainder by a number that is not known beforehand.
    return features[position % torch.scalar_tensor(frames, dtype=torch.int64)]


def whole_segments(blocks: Iterable[Floats], length: int, hop: int, most: int) -> Iterator[Tensor]:
    """Consecutive blocks of frames to batches of at most `most` segments, (segments, P, bins).

    However the frames are cut into blocks, the segments are those of the whole clip.
    """
    for run in segment_runs(blocks, length, hop, most):
        yield segments_of_clip(run, length, hop)


def segment_runs(blocks: Iterable[Floats], length: int, hop: int, most: int) -> Iterator[Tensor]:
    """The frames (frames, bins) of each batch of `whole_segments`, every frame once."""
    pending: Tensor | None = None
    given = False
    skipped = 0  # frames between segments that lie further apart than they are long
    for block in blocks:
        fresh = torch.from_numpy(np.ascontiguousarray(block))[skipped:]
        skipped -= len(block) - len(fresh)
        pending = fresh if pending is None else torch.cat([pending, fresh])
        while len(pending) >= length + (most - 1) * hop:
            yield pending[: length + (most - 1) * hop]
            given = True
            skipped = max(most * hop - len(pending), 0)
            pending = pending[most * hop :]
    if pending is not None and (len(pending) >= length or (not given and len(pending))):
        yield pending
