"""Normal clips of one condition in one view, and how far a clip lies from them.

A clip is a few points, one for every second or a single one. The distance of a point to the nearest
point of a normal clip is divided by the distance of that one to its neighbours: where normal clips
lie far apart, a new one may lie far from them too (local density). The distance of a clip is the
mean over its points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ssdpt.scoring.distances import distances, nearest_distances
from ssdpt.scoring.fusion import Scale

Clips = Sequence[np.ndarray]  # clips, (points, d) each

# The scale of few clips is averaged with a prior scale, which counts as this many clips.
_PRIOR_SPREAD_CLIPS, _PRIOR_MEAN_CLIPS = 30.0, 2.0
_ENOUGH = 20  # clips whose scale needs no prior; fewer lie almost equally far apart
_SMALLEST = 1e-9  # distance; of clips that are copies of each other
_PRIOR = Scale(1.0, 0.25)  # of distance / neighbour distance, where no larger group is given


@dataclass(frozen=True, slots=True)
class References:
    """Points of the normal clips of one condition."""

    points: np.ndarray  # (n, d), whitened
    neighbour_distance: np.ndarray  # (n,) mean distance to the nearest of other clips
    scale: Scale  # of the distances of these clips, each to the others

    @classmethod
    def of(
        cls,
        clips: Clips,
        neighbours: int,
        larger: References | None = None,
        *,
        few: int = 1,
    ) -> Self:
        """From clips (points, d); `larger` is a larger group, whose scale is used as a prior.

        `neighbours` points give the local density around a point; 0: the density is the same
        everywhere. Up to `few` clips are too few to estimate it: they get the scale of `larger`,
        and neighbour distances no smaller than the usual one there.
        """
        points = np.concatenate(clips).astype(np.float32)
        clip_of = np.repeat(np.arange(len(clips)), [len(clip) for clip in clips])  # (n,)
        between = distances(points, points)
        between[clip_of[:, None] == clip_of] = np.inf
        spacing = _neighbour_distance(between, neighbours)
        if neighbours and len(clips) <= few:
            usual = 1.0 if larger is None else larger.usual_distance()
            spacing = np.maximum(spacing, max(usual, _SMALLEST))
        prior = _PRIOR if larger is None else larger.scale
        references = cls(points, spacing.astype(np.float32), prior)
        if len(clips) <= few or len(clips) < 2:
            return references
        nearest = _clip_means((between / references.neighbour_distance).min(1), clip_of)
        count, spread, mean = len(nearest), _PRIOR_SPREAD_CLIPS, _PRIOR_MEAN_CLIPS
        if larger is None and count >= _ENOUGH:
            spread = mean = 0.0
        variance = (count * nearest.var() + spread * prior.sd**2) / (count + spread)
        centre = (count * nearest.mean() + mean * prior.mean) / (count + mean)
        return replace(references, scale=Scale(float(centre), max(float(np.sqrt(variance)), 1e-3)))

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Of every point (m, d) to its nearest reference, over its neighbour distance: (m,)."""
        nearest: np.ndarray = (distances(points, self.points) / self.neighbour_distance).min(1)
        return nearest

    def usual_distance(self) -> float:
        """The median distance between two of them; of a single one, its neighbour distance."""
        if len(self.points) < 2:
            return float(self.neighbour_distance[0])
        pairs = distances(self.points, self.points)[np.triu_indices(len(self.points), 1)]
        return float(np.median(pairs))

    def z_scores(self, clips: Clips) -> np.ndarray:
        """How unusual clips are, (clips,): 0 is the mean of normal ones, 1 a deviation more."""
        clip_of = np.repeat(np.arange(len(clips)), [len(clip) for clip in clips])
        return self.scale.z_scores(_clip_means(self.distances(np.concatenate(clips)), clip_of))

    def z_over_time(self, points: np.ndarray, averaged: bool) -> np.ndarray:
        """What each point (m, d) of a clip adds to its score: (m,), with the score as their mean.

        With `averaged` the mean of the points is compared. Its distance is then the mean over the
        points of how far they lie from the nearest reference in the direction of their mean.
        """
        if not averaged:
            return self.scale.z_scores(self.distances(points))
        relative = distances(points.mean(0, keepdims=True), self.points)[0]
        at = int((relative / self.neighbour_distance).argmin())
        offsets = np.asarray(points, np.float64) - self.points[at]  # (m, d)
        direction = offsets.mean(0) / max(float(np.linalg.norm(offsets.mean(0))), _SMALLEST)
        return self.scale.z_scores(offsets @ direction / self.neighbour_distance[at])


def _neighbour_distance(between: np.ndarray, neighbours: int) -> np.ndarray:
    """Mean of the smallest finite distances of each row of (n, n), (n,); 0 where there are none."""
    if neighbours == 0:
        return np.ones(len(between))
    near = nearest_distances(between, min(neighbours, len(between)))
    finite = np.isfinite(near)
    count = finite.sum(1)
    mean = np.where(finite, near, 0.0).sum(1) / np.maximum(count, 1)
    return np.where(count > 0, np.maximum(mean, _SMALLEST), 0.0)


def _clip_means(values: np.ndarray, clip_of: np.ndarray) -> np.ndarray:
    """Values (n,) averaged over those of each clip; `clip_of` (n,) rises."""
    counts = np.bincount(clip_of)
    sums = np.bincount(clip_of, values)
    means: np.ndarray = sums[counts > 0] / counts[counts > 0]
    return means
