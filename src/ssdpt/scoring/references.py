"""Normal clips of one condition in one view, and how far a clip lies from the nearest of them.

The distance to the nearest normal clip is divided by how lonely that clip lies among its own kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ssdpt.scoring.fusion import Scale

# Few clips borrow their scale from others, which weigh as so many clips.
_BORROWED_SPREAD, _BORROWED_MEAN = 30.0, 2.0
_ENOUGH = 20  # clips that tell their scale by themselves; fewer lie almost equally far apart
_SMALLEST = 1e-9  # distance; of clips that are copies of each other
_USUAL = Scale(1.0, 0.25)  # of distances over density, where no clip has a second one beside it


@dataclass(frozen=True, slots=True)
class References:
    """Clips of one condition."""

    points: np.ndarray  # (clips, d), where distances count
    loneliness: np.ndarray  # (clips,) mean distance to the nearest others
    scale: Scale  # of the distances of its own clips, each from all the others

    @classmethod
    def of(
        cls, points: np.ndarray, neighbours: int, lender: References | None = None, *, few: int = 1
    ) -> Self:
        """From clips (clips, d); `lender` are others, of which there are more.

        `neighbours` tell how lonely a clip lies; 0: all count as equally lonely. Up to `few` clips
        do not tell that: they borrow the scale, and two of them lie no closer than the lender's.
        """
        points = np.asarray(points, np.float32)
        loneliness = _neighbour_distance(points, neighbours)
        if neighbours and len(points) <= few:
            usual = 1.0 if lender is None else lender.usual_distance()
            loneliness = np.maximum(loneliness, max(usual, _SMALLEST))
        borrowed = _USUAL if lender is None else lender.scale
        alone = cls(points, loneliness.astype(np.float32), borrowed)
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
        """Of every point (m, d) to its nearest reference, in units of that one's loneliness."""
        nearest: np.ndarray = (_distances(points, self.points) / self.loneliness).min(1)
        return nearest

    def own_distances(self) -> np.ndarray:
        """Of every reference to its nearest other one, (clips,); of a single clip, nothing."""
        if len(self.points) < 2:
            return np.zeros(0)
        apart = _distances(self.points, self.points) / self.loneliness
        np.fill_diagonal(apart, np.inf)
        nearest: np.ndarray = apart.min(1)
        return nearest

    def usual_distance(self) -> float:
        """The median distance between two of them; of a single clip, its loneliness."""
        if len(self.points) < 2:
            return float(self.loneliness[0])
        apart = _distances(self.points, self.points)
        return float(np.median(apart[np.triu_indices(len(apart), 1)]))

    def z(self, points: np.ndarray) -> np.ndarray:
        """How odd points (m, d) are, (m,): 0 is usual for one of these, 1 is one deviation more."""
        return self.scale.z(self.distances(points))


def _neighbour_distance(points: np.ndarray, neighbours: int) -> np.ndarray:
    """Mean distance of every clip to its nearest others, (clips,)."""
    if neighbours == 0 or len(points) < 2:
        return np.ones(len(points)) if neighbours == 0 else np.zeros(len(points))
    apart = _distances(points, points)
    np.fill_diagonal(apart, np.inf)
    near = np.sort(apart, axis=1)[:, : min(neighbours, len(points) - 1)]
    lonely: np.ndarray = np.maximum(near.mean(1), _SMALLEST)
    return lonely


def _distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(m, d) and (n, d) to (m, n)."""
    points, others = np.asarray(points, np.float64), np.asarray(others, np.float64)
    squares = (points**2).sum(1)[:, None] + (others**2).sum(1) - 2 * points @ others.T
    apart: np.ndarray = np.sqrt(np.maximum(squares, 0.0))
    return apart
