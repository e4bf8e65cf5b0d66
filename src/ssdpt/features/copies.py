"""Clips that are nearly the same recording: copied, made louder, written in another format."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssdpt.features.cache import FeatureView
from ssdpt.types import Floats

_ALIKE = 0.9  # correlation of what changes; two takes of one steady machine stay far below


def near_copies(clips: FeatureView, others: Sequence[FeatureView], mels: int) -> list[int]:
    """Positions of `clips` that are nearly the same as one clip of `others`, frame by frame.

    `mels` values at the beginning of every frame are compared.
    """
    other_changes = [_changes(frames, mels) for part in others for _, frames in part.clips()]
    copies = []
    for position, (_, frames) in enumerate(clips.clips()):
        changes = _changes(frames, mels)
        if any(_correlation(changes, other) > _ALIKE for other in other_changes):
            copies.append(position)
    return copies


def _changes(frames: Floats, mels: int) -> Floats:
    """What changes in a clip: (frames, mels) less the mean over time, as float16."""
    levels = frames[:, :mels]
    return (levels - levels.mean(0)).astype(np.float16)


def _correlation(one: Floats, other: Floats) -> float:
    """Over the frames that both have; 0 where one of them does not change."""
    count = min(len(one), len(other))
    a, b = (part[:count:4, ::4].astype(np.float32).ravel() for part in (one, other))
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0 else 0.0
