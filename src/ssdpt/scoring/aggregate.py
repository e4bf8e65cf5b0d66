"""Segment scores to a clip score, with the parts kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from ssdpt.types import Floats, Timeline


class ClipScore:
    """The score of one clip, before any threshold. Higher = more anomalous.

    A timeline that costs something is given as a function, and computed when it is asked for.
    """

    def __init__(
        self, value: float, parts: Mapping[str, float], timeline: Timeline | Callable[[], Timeline]
    ) -> None:
        self.value = value
        self.parts = parts
        self._timeline = timeline

    @cached_property
    def timeline(self) -> Timeline:
        """The score along the clip."""
        return self._timeline if isinstance(self._timeline, Timeline) else self._timeline()


def aggregate(
    parts: Mapping[str, Floats],
    weights: Mapping[str, float],
    *,
    hop_seconds: float,
    segment_seconds: float,
) -> ClipScore:
    """A = Σ weight × part: at every segment for the timeline, and of the means for the clip.

    `parts`: (segments,) each. The mean over the B segments of a clip is the paper's 1/B Σ_b; it
    is taken in float64, so that a clip of hours is summed as exactly as one of seconds.
    """
    means = {name: float(np.mean(part, dtype=np.float64)) for name, part in parts.items()}
    count = len(next(iter(parts.values())))
    value = sum((weights[name] * part for name, part in parts.items()), np.zeros(count))
    return ClipScore(
        value=sum(weights[name] * mean for name, mean in means.items()),
        parts=means,
        timeline=Timeline(
            start=(np.arange(count) * hop_seconds).astype(np.float32),
            duration=segment_seconds,
            value=value.astype(np.float32),
            parts={name: np.asarray(part, np.float32) for name, part in parts.items()},
        ),
    )
