"""Normal clips that were added after the fit: a new operating condition, or false alarms.

The fit estimated how normal clips differ from each other (their spread) and scales distances by it.
Clips of a new condition may differ in other directions. With the spread of the fit they would lie
far apart, and a fault that lies between them would score as normal.

A condition therefore has a spread of its own: a weighted mean of the spread of the fit
and the spread of the added clips, which changes only directions in which the added clips vary more.
The weights are the numbers of clips behind each. The fit itself and its thresholds do not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ssdpt.scoring.fusion import Scale
from ssdpt.scoring.references import Clips, References
from ssdpt.types import Domain

# Weight of a clip of the fit against an added clip. A higher weight gives more false alarms on the
# new condition; a lower one lets more faults score as normal.
_FIT_CLIP_WEIGHT = 0.75
_FEW = 4  # up to this many clips are too few to estimate local density: that of the fit is used


@dataclass(frozen=True, slots=True)
class Condition:
    """Normal clips that were added together, and the spread by which distances are scaled."""

    references: References  # of the added clips, rescaled by `directions` and `factors`
    directions: np.ndarray  # (r, d), orthonormal: along these the added clips vary more than 1
    factors: np.ndarray  # (r,), below 1: differences along a direction are multiplied by this
    domain: Domain

    @classmethod
    def of(
        cls,
        clips: Clips,
        domain: Domain,
        fitted: References,
        *,
        neighbours: int,
        spread_clips: float,
    ) -> Self:
        """From added clips, (points, d) each, whitened by the spread of the fit.

        `fitted` are the clips of the fit; `spread_clips` is how many clips its spread was estimated
        from.
        """
        points = np.concatenate(clips).astype(np.float64)
        weight = _FIT_CLIP_WEIGHT * spread_clips * len(points) / len(clips)  # in points
        directions, factors = _wider_directions(points, weight)
        rescaled = [_rescaled(clip, directions, factors) for clip in clips]
        references = References.of(rescaled, neighbours, fitted, few=_FEW)
        return cls(references, directions, factors, domain)

    def rescaled(self, points: np.ndarray) -> np.ndarray:
        """Points (m, d), whitened by the spread of the fit, scaled by the spread here: (m, d)."""
        return _rescaled(points, self.directions, self.factors)

    def z_scores(self, clips: Clips) -> np.ndarray:
        """How unusual clips, whitened by the spread of the fit, are here: (clips,)."""
        return self.references.z_scores([self.rescaled(clip) for clip in clips])

    def z_over_time(self, points: np.ndarray, averaged: bool) -> np.ndarray:
        """What each point (m, d) of a clip adds to its score here: (m,)."""
        return self.references.z_over_time(self.rescaled(points), averaged)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learned."""
        arrays = {
            "points": self.references.points,
            "neighbour_distance": self.references.neighbour_distance,
            "directions": self.directions,
            "factors": self.factors,
        }
        return {name: np.asarray(value, np.float32) for name, value in arrays.items()}

    def description(self) -> dict[str, Any]:
        """What `restore` needs besides the arrays."""
        scale = self.references.scale
        return {"domain": self.domain, "scale": [scale.mean, scale.sd]}

    @classmethod
    def restore(cls, arrays: Mapping[str, np.ndarray], description: dict[str, Any]) -> Self:
        """The reverse of `arrays` and `description`; KeyError or ValueError if they do not fit."""
        mean, sd = description["scale"]
        points, directions = arrays["points"], arrays["directions"]
        spacing = arrays["neighbour_distance"]
        shapes = spacing.shape, arrays["factors"].shape, directions.shape[1:]
        if not len(points) or shapes != (points.shape[:1], directions.shape[:1], points.shape[1:]):
            raise ValueError("the arrays of a condition do not belong together")
        references = References(points, spacing, Scale(float(mean), float(sd)))
        return cls(references, directions, arrays["factors"], description["domain"])


def _wider_directions(points: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Directions (r, d) along which clips vary by more than 1, and the factor for each, (r,).

    The variance along a direction is a weighted mean: that of the fit, which is 1, counts as
    `weight` points; that of `points` (n, d) counts as their number. The factor is
    1 / sqrt(variance).
    """
    count, size = points.shape
    if count < 2:
        return np.zeros((0, size), np.float32), np.zeros(0, np.float32)
    # Bessel's correction: points lie too close to a mean that was computed from them.
    deviations = (points - points.mean(0)) * np.sqrt(count / (count - 1))
    _, singular, directions = np.linalg.svd(deviations, full_matrices=False)
    variance = (weight + singular**2) / (weight + count)
    wider = variance > 1
    factors = 1 / np.sqrt(variance[wider])
    return directions[wider].astype(np.float32), factors.astype(np.float32)


def _rescaled(points: np.ndarray, directions: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Points (m, d) multiplied by the factor of each direction along it, (m, d)."""
    points = np.asarray(points, np.float64)
    along = points @ directions.T  # (m, r)
    rescaled: np.ndarray = points + (along * (factors - 1.0)) @ directions
    return rescaled
