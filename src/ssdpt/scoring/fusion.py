"""Scores of several detectors to one: each on the scale of normal clips, then their mean.

The rule: a member's score becomes z = (score − mean) / sd, with the mean and the standard deviation
of the member's scores of normal training clips of the same section: at most 100 of them,
spread evenly over the clips. The ensemble's score is the mean of z over the members. All members
count alike, and no label of a test clip has a part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssdpt.types import Floats, Timeline

MOST_CLIPS = 100  # normal clips of a section that set a scale
_SMALLEST_SD = 1e-3  # of a section whose clips all score alike, or that has one clip only

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scale:
    """How one member scores normal clips of one section."""

    mean: float
    sd: float

    @classmethod
    def of(cls, normal: NDArray[np.floating[Any]]) -> Scale:
        """From the scores of normal clips, (clips,)."""
        scores = np.asarray(normal, np.float64)
        return cls(float(scores.mean()), max(float(scores.std()), _SMALLEST_SD))

    def z_scores(self, scores: NDArray[np.floating[Any]]) -> Doubles:
        """(score − mean) / sd, same shape."""
        return (np.asarray(scores, np.float64) - self.mean) / self.sd


def spread_evenly(count: int, most: int = MOST_CLIPS) -> list[int]:
    """Which of `count` clips set a scale: all of them, or `most` at even distances."""
    return np.linspace(0, count - 1, min(count, most)).round().astype(int).tolist()


def fuse(values: NDArray[np.floating[Any]], scales: Sequence[Scale]) -> Doubles:
    """Scores (members, clips) of one section to the ensemble's, (clips,)."""
    return np.mean([scale.z_scores(row) for scale, row in zip(scales, values, strict=True)], axis=0)


def onto_timeline(values: NDArray[np.floating[Any]], line: Timeline, other: Timeline) -> Floats:
    """Values (segments,) along `line`, interpolated at the segments of `other`.

    A value stands at the middle of its segment: between two middles it is interpolated, before the
    first and after the last it stays.
    """
    return np.interp(_middles(other), _middles(line), values).astype(np.float32)


def _middles(line: Timeline) -> Doubles:
    """Seconds from the beginning of the clip, (segments,)."""
    return line.start.astype(np.float64) + line.duration / 2
