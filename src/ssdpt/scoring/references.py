"""Normal clips of one condition in one view, and how far a clip lies from the nearest of them.

The distance to the nearest normal clip is divided by that clip's own distance to its neighbours:
where normal clips lie far apart, a new one may lie far from them too (local density).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ssdpt.scoring.distances import distances, distances_within, nearest_distances
from ssdpt.scoring.fusion import Scale

# Few clips borrow their scale from others, which weigh as so many clips.
_BORROWED_SPREAD, _BORROWED_MEAN = 30.0, 2.0
_ENOUGH = 20  # clips that show their scale by themselves; fewer lie almost equally far apart
_SMALLEST = 1e-9  # distance; of clips that are copies of each other
_USUAL = Scale(1.0, 0.25)  # of distances over density, where no clip has a second one beside it


@dataclass(frozen=True, slots=True)
class References:
    """Clips of one condition."""

    points: np.ndarray  # (clips, d), where distances count
    neighbour_distance: np.ndarray  # (clips,) mean distance to the nearest others
    scale: Scale  # of the distances of its own clips, each from all the others

    @classmethod
    def of(
        cls, points: np.ndarray, neighbours: int, lender: References | None = None, *, few: int = 1
    ) -> Self:
        """From clips (clips, d); `lender` are others, of which there are more.

        `neighbours` give the local density around a clip; 0: it is taken to be the same everywhere.
        Up to `few` clips do not show it: they borrow the scale, and two of them lie no closer than
        the lender's.
        """
        points = np.asarray(points, np.float32)
        spacing = _neighbour_distance(points, neighbours)
        if neighbours and len(points) <= few:
            usual = 1.0 if lender is None else lender.usual_distance()
            spacing = np.maximum(spacing, max(usual, _SMALLEST))
        borrowed = _USUAL if lender is None else lender.scale
        alone = cls(points, spacing.astype(np.float32), borrowed)
        own = alone.own_distances()
        if len(points) <= few or not len(own):
            return alone
        count, spread, mean = len(own), _BORROWED_SPREAD, _BORROWED_MEAN
        if lender is None and count >= _ENOUGH:
            spread = mean = 0.0
        variance = (count * own.var() + spread * borrowed.sd**2) / (count + spread)
        centre = (count * own.mean() + mean * borrowed.mean) / (count + mean)
        return replace(alone, scale=Scale(float(centre), max(float(np.sqrt(variance)), 1e-3)))

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Of every point (m, d) to its nearest reference, over its neighbour distance: (m,)."""
        nearest: np.ndarray = (distances(points, self.points) / self.neighbour_distance).min(1)
        return nearest

    def own_distances(self) -> np.ndarray:
        """Of every reference to its nearest other one, (clips,); of a single clip, nothing."""
        if len(self.points) < 2:
            return np.zeros(0)
        nearest: np.ndarray = (distances_within(self.points) / self.neighbour_distance).min(1)
        return nearest

    def usual_distance(self) -> float:
        """The median distance between two of them; of a single clip, its neighbour distance."""
        if len(self.points) < 2:
            return float(self.neighbour_distance[0])
        apart = distances(self.points, self.points)
        return float(np.median(apart[np.triu_indices(len(apart), 1)]))

    def z(self, points: np.ndarray) -> np.ndarray:
        """How unusual points (m, d) are: 0 is usual for one of these, 1 is one deviation more."""
        return self.scale.z(self.distances(points))


def _neighbour_distance(points: np.ndarray, neighbours: int) -> np.ndarray:
    """Mean distance of every clip to its nearest others, (clips,)."""
    if neighbours == 0:
        return np.ones(len(points))
    if len(points) < 2:
        return np.zeros(len(points))
    near = nearest_distances(distances_within(points), min(neighbours, len(points) - 1))
    mean: np.ndarray = np.maximum(near.mean(1), _SMALLEST)
    return mean
