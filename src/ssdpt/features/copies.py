"""Clips that are nearly the same recording: copied, made louder, written in another format."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssdpt.features.cache import FeatureView
from ssdpt.types import Floats

_ALIKE = 0.9  # correlation of what comes and goes; two takes of one steady machine stay far below


def near_copies(clips: FeatureView, own: Sequence[FeatureView], mels: int) -> list[int]:
    """Positions of `clips` that nearly sound like one clip of `own`, moment for moment.

    `mels` values at the beginning of every frame are compared.
    """
    known = [_moments(frames, mels) for part in own for _, frames in part.clips()]
    found = []
    for place, (_, frames) in enumerate(clips.clips()):
        moments = _moments(frames, mels)
        if any(_correlation(moments, other) > _ALIKE for other in known):
            found.append(place)
    return found


def _moments(frames: Floats, mels: int) -> Floats:
    """What comes and goes in a clip: (frames, mels) less the mean over time, as float16."""
    levels = frames[:, :mels]
    return (levels - levels.mean(0)).astype(np.float16)


def _correlation(one: Floats, other: Floats) -> float:
    """Over the frames that both have; 0 where one of them stands still."""
    count = min(len(one), len(other))
    a, b = (part[:count:4, ::4].astype(np.float32).ravel() for part in (one, other))
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0 else 0.0
