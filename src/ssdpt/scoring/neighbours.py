"""Local outlier factors: how much lonelier a point is than the references nearest to it.

M. M. Breunig, H.-P. Kriegel, R. T. Ng, J. Sander: "LOF: Identifying Density-Based Local Outliers".
About 1 = as crowded as its neighbours; higher = lonelier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ssdpt.types import Floats

_CLOSEST = 1e-6  # distance under which embeddings are copies of each other


@dataclass(frozen=True, slots=True)
class LocalOutliers:
    """References, and how crowded it is around each of them."""

    references: Floats  # (references, E)
    reach: np.ndarray  # (references,) distance to the k-th nearest other reference
    density: np.ndarray  # (references,) local reachability density
    neighbours: int  # k; there may be fewer other references

    @classmethod
    def of(cls, references: Floats, neighbours: int, spread: float = _CLOSEST) -> Self:
        """Among `references` (n, E); a lone one is as far from others as `spread` says."""
        if len(references) == 1:
            lone = np.array([max(spread, _CLOSEST)])
            return cls(references, lone, 1 / lone, neighbours)
        distance = _distances(references, references)
        np.fill_diagonal(distance, np.inf)  # nobody is a neighbour of itself
        nearest, distance = _nearest(distance, min(neighbours, len(references) - 1))
        reach = distance.max(1)
        density = _density(distance, reach[nearest])
        return cls(references, reach, density, neighbours)

    def factors(self, points: np.ndarray) -> np.ndarray:
        """The local outlier factor of (points, E), which are no references: (points,)."""
        distance = _distances(points, self.references)
        most = max(1, len(self.references) - 1)
        nearest, distance = _nearest(distance, min(self.neighbours, most))
        own = _density(distance, self.reach[nearest])
        return self.density[nearest].mean(1) / own


def spread_of(groups: list[LocalOutliers]) -> float:
    """How far apart neighbours usually are, where a group of a single reference cannot tell."""
    known = [1 / group.density for group in groups]
    return float(np.median(np.concatenate(known))) if known else _CLOSEST


def covering(points: Floats, most: int) -> list[int]:
    """Which of (points, E) to keep so that no other is far from all of them: at most `most`.

    Farthest-point sampling from the point nearest to the mean on; copies are left out.
    """
    centred = points - points.mean(0, dtype=np.float64)
    chosen = [int(np.square(centred).sum(1).argmin())]
    gap = _distances(points, points[chosen])[:, 0]  # from every point to the nearest chosen one
    while len(chosen) < most and gap.max() > _CLOSEST:
        chosen.append(int(gap.argmax()))
        gap = np.minimum(gap, _distances(points, points[chosen[-1:]])[:, 0])
    return sorted(chosen)


def _distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Euclidean, (points, others), in float64."""
    a, b = points.astype(np.float64), others.astype(np.float64)
    squares = np.square(a).sum(1)[:, None] + np.square(b).sum(1) - 2 * (a @ b.T)
    return np.sqrt(np.maximum(squares, 0))


def _nearest(distance: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Which others are nearest, and how far they are: (points, count) each."""
    nearest = np.argpartition(distance, count - 1, axis=1)[:, :count]
    return nearest, np.take_along_axis(distance, nearest, 1)


def _density(distance: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """One over the mean reachability distance to the nearest, (points,); finite among copies."""
    return 1 / np.maximum(np.maximum(distance, reach).mean(1), _CLOSEST)
