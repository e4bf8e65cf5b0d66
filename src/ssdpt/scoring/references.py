"""Normal clips of one condition in one view, and how far a clip lies from the nearest of them.

The distance to the nearest normal clip is divided by the distance of that clip to its neighbours:
where normal clips lie far apart, a new one may lie far from them too (local density).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ssdpt.scoring.distances import distances, distances_within, nearest_distances
from ssdpt.scoring.fusion import Scale

# The scale of few clips is averaged with a prior scale, which counts as this many clips.
_PRIOR_SPREAD_CLIPS, _PRIOR_MEAN_CLIPS = 30.0, 2.0
_ENOUGH = 20  # clips whose scale needs no prior; fewer lie almost equally far apart
_SAME_CLIP = 0.01  # of the neighbour distance: nearer is the clip itself
_SMALLEST = 1e-9  # distance; of clips that are copies of each other
_PRIOR = Scale(1.0, 0.25)  # of distance / neighbour distance, where no larger group is given


@dataclass(frozen=True, slots=True)
class References:
    """Clips of one condition."""

    points: np.ndarray  # (clips, d), whitened
    neighbour_distance: np.ndarray  # (clips,) mean distance to the nearest others
    scale: Scale  # of the distances of these clips, each to its nearest other one

    @classmethod
    def of(
        cls, points: np.ndarray, neighbours: int, larger: References | None = None, *, few: int = 1
    ) -> Self:
        """From clips (clips, d); `larger` is a larger group, whose scale is used as a prior.

        `neighbours` clips give the local density around a clip; 0: the density is the same
        everywhere. Up to `few` clips are too few to estimate it: they get the scale of `larger`,
        and neighbour distances no smaller than the usual one there.
        """
        points = np.asarray(points, np.float32)
        spacing = _neighbour_distance(points, neighbours)
        if neighbours and len(points) <= few:
            usual = 1.0 if larger is None else larger.usual_distance()
            spacing = np.maximum(spacing, max(usual, _SMALLEST))
        prior = _PRIOR if larger is None else larger.scale
        references = cls(points, spacing.astype(np.float32), prior)
        nearest = references.distances_to_others()
        if len(points) <= few or not len(nearest):
            return references
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

    def without(self, point: np.ndarray) -> Self | None:
        """These clips without the one at `point` (d,) and its copies; None if none is left."""
        # A stored point is rounded; other clips lie far outside a hundredth of the usual distance.
        away = distances(point[None], self.points)[0]
        others = away > _SAME_CLIP * self.neighbour_distance
        if not others.any():
            return None
        return replace(
            self, points=self.points[others], neighbour_distance=self.neighbour_distance[others]
        )

    def distances_to_others(self) -> np.ndarray:
        """Of every reference to its nearest other one, (clips,); of a single clip, nothing."""
        if len(self.points) < 2:
            return np.zeros(0)
        nearest: np.ndarray = (distances_within(self.points) / self.neighbour_distance).min(1)
        return nearest

    def usual_distance(self) -> float:
        """The median distance between two of them; of a single clip, its neighbour distance."""
        if len(self.points) < 2:
            return float(self.neighbour_distance[0])
        pairs = distances(self.points, self.points)[np.triu_indices(len(self.points), 1)]
        return float(np.median(pairs))

    def z_scores(self, points: np.ndarray) -> np.ndarray:
        """How unusual points (m, d) are, (m,): 0 is the mean of these clips, 1 a deviation more."""
        return self.scale.z_scores(self.distances(points))


def _neighbour_distance(points: np.ndarray, neighbours: int) -> np.ndarray:
    """Mean distance of every clip to its nearest others, (clips,)."""
    if neighbours == 0:
        return np.ones(len(points))
    if len(points) < 2:
        return np.zeros(len(points))
    near = nearest_distances(distances_within(points), min(neighbours, len(points) - 1))
    mean: np.ndarray = np.maximum(near.mean(1), _SMALLEST)
    return mean
