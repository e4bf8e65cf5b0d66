"""Local outlier factors: how much sparser it is around a point than around its nearest references.

M. M. Breunig, H.-P. Kriegel, R. T. Ng, J. Sander: "LOF: Identifying Density-Based Local Outliers".
About 1 = as dense as around its neighbours; higher = sparser. The factors are scikit-learn's; what
is added is a rule for a single reference, which has no neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ssdpt.scoring.distances import distances
from ssdpt.types import Floats

if TYPE_CHECKING:
    from sklearn.neighbors import LocalOutlierFactor

_CLOSEST = 1e-6  # distance under which embeddings are copies of each other


class LocalOutliers:
    """Reference points (n, E) of one section, with which other points are compared."""

    def __init__(self, references: Floats, neighbours: int, spread: float = _CLOSEST) -> None:
        """`neighbours` is k; a single reference is as far from others as `spread` says."""
        self.references = references
        self.neighbours = min(neighbours, max(len(references) - 1, 1))
        self.spread = max(spread, _CLOSEST)

    def factors(self, points: np.ndarray) -> np.ndarray:
        """The local outlier factor of (points, E), which are no references: (points,)."""
        if len(self.references) == 1:
            distance = distances(points, self.references)[:, 0]
            return np.maximum(distance, self.spread) / self.spread
        return -self._model.score_samples(np.asarray(points, np.float64))

    def reachability(self) -> np.ndarray:
        """Mean reachability distance of every reference to its neighbours, (n,); n is above 1."""
        near, which = self._model.kneighbors()  # (n, k) each
        return np.maximum(near, near[which, -1]).mean(1)

    @cached_property
    def _model(self) -> LocalOutlierFactor:
        from sklearn.neighbors import LocalOutlierFactor

        model = LocalOutlierFactor(n_neighbors=self.neighbours, novelty=True)
        return model.fit(np.asarray(self.references, np.float64))


def outliers_of(groups: Sequence[Floats], neighbours: int) -> list[LocalOutliers]:
    """One for each section, from its references (n, E).

    Where a section has a single reference, the other sections say how far apart neighbours are.
    """
    models = [LocalOutliers(group, neighbours) for group in groups]
    reach = [model.reachability() for model in models if len(model.references) > 1]
    spread = float(np.median(np.concatenate(reach))) if reach else _CLOSEST
    return [LocalOutliers(group, neighbours, spread) for group in groups]


def covering(points: Floats, most: int) -> list[int]:
    """Which of (points, E) to keep so that no other is far from all of them: at most `most`.

    Farthest-point sampling from the point nearest to the mean on; copies are left out.
    """
    centred = points - points.mean(0, dtype=np.float64)
    chosen = [int(np.square(centred).sum(1).argmin())]
    gap = distances(points, points[chosen])[:, 0]  # from every point to the nearest chosen one
    while len(chosen) < most and gap.max() > _CLOSEST:
        chosen.append(int(gap.argmax()))
        gap = np.minimum(gap, distances(points, points[chosen[-1:]])[:, 0])
    return sorted(chosen)
