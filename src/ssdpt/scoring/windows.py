"""The score along a recording whose clips are scored as a whole: that of short windows.

A window is described by the same views as a clip and compared with the same normal clips. It is
shorter, so it lies further from them: its scores are put on the scale of clips by what the fit has
measured on normal windows. As many of these as of normal clips lie above the threshold of a clip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.types import Floats, Timeline

Parts = Mapping[str, Floats]  # by view


@dataclass(frozen=True, slots=True)
class WindowGrid:
    """How a clip is cut into windows."""

    frames: int  # of one window
    hop: int  # frames from one window to the next

    def starts(self, frames: int) -> range:
        """The first frame of every whole window of a clip; none if the clip is shorter."""
        return range(0, frames - self.frames + 1, self.hop)


@dataclass(frozen=True, slots=True)
class ScoredClip:
    """One clip of a recording, scored as one section."""

    frames: int
    parts: Mapping[str, float]  # by view
    windows: Callable[[], Parts]  # (windows,) by view, computed when it is asked for

    def computed(self) -> Self:
        """The same without what its windows would be computed from."""
        windows = self.windows()
        return replace(self, windows=lambda: windows)


def clip_by_clip(
    clips: Sequence[ScoredClip],
    weights: Mapping[str, float],
    grid: WindowGrid | None,
    frame_seconds: float,
) -> ClipScore:
    """The score of a recording: the mean over its clips; along it, its windows.

    Without windows, or if clips are shorter than these, there is one value for every clip.
    """
    seconds = clips[0].frames * frame_seconds
    score = aggregate(
        {name: np.array([clip.parts[name] for clip in clips], np.float32) for name in weights},
        weights,
        hop_seconds=seconds,
        segment_seconds=seconds,
    )
    if grid is None or not all(grid.starts(clip.frames) for clip in clips):
        return score
    timeline = partial(_timeline, clips, weights, grid, frame_seconds)
    return ClipScore(score.value, score.parts, timeline)


def _timeline(
    clips: Sequence[ScoredClip],
    weights: Mapping[str, float],
    grid: WindowGrid,
    frame_seconds: float,
) -> Timeline:
    begins = np.cumsum([0, *(clip.frames for clip in clips[:-1])])
    starts = [
        begin + np.array(grid.starts(clip.frames))
        for begin, clip in zip(begins, clips, strict=True)
    ]
    windows = [clip.windows() for clip in clips]
    parts = {
        name: np.concatenate([of_clip[name] for of_clip in windows]).astype(np.float32)
        for name in weights
    }
    value = sum(weights[name] * part.astype(np.float64) for name, part in parts.items())
    return Timeline(
        start=(np.concatenate(starts) * frame_seconds).astype(np.float32),
        duration=grid.frames * frame_seconds,
        value=np.asarray(value, np.float32),
        parts=parts,
    )
