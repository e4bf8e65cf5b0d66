"""Normal clips that came after the fit: of a new operating condition, or false alarms.

The fit does not know how clips of the new condition differ from each other, and by its measure
they lie far apart: whatever falls between them, faults as well, would pass as one of them. So they
are measured by a spread of their own: that of the fit, widened along the directions in which these
clips differ, as far as so few clips can be believed beside those that the fit's spread rests on.
What the fit has learned stays as it is, and with it the thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ssdpt.scoring.fusion import Scale
from ssdpt.scoring.references import References
from ssdpt.types import Domain

# A clip of the fit says less of a new condition than one of the condition itself. With all of its
# weight, more faults of the source pass as the new condition; with less, more of its normal clips
# alarm.
_OLD_WEIGHT = 0.75
_FEW = 4  # clips that do not show their local density: they borrow it


@dataclass(frozen=True, slots=True)
class Condition:
    """Clips taken as normal together."""

    references: References  # where its own distances count
    directions: np.ndarray  # (r, d), orthonormal: in these its clips differ more than the fit's
    factors: np.ndarray  # (r,), below 1: how much differences count along them
    domain: Domain

    @classmethod
    def of(
        cls,
        points: np.ndarray,
        domain: Domain,
        lender: References,
        *,
        neighbours: int,
        rests_on: float,
    ) -> Self:
        """From clips (clips, d) where the fit's distances count.

        `lender` are the fit's own clips, `rests_on` how many clips the fit's spread rests on.
        """
        directions, factors = _widened(np.asarray(points, np.float64), _OLD_WEIGHT * rests_on)
        measured = _measured(points, directions, factors)
        references = References.of(measured, neighbours, lender, few=_FEW)
        return cls(references, directions, factors, domain)

    def z(self, points: np.ndarray) -> np.ndarray:
        """How unusual points (m, d) of the fit's space are in this condition, (m,)."""
        return self.references.z(_measured(points, self.directions, self.factors))

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
        """What `restore` needs beside the arrays."""
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


def _widened(points: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Directions (r, d) in which clips differ by more than 1, and how much they count, (r,).

    A spread of 1 in all directions weighs as much as `weight` clips.
    """
    clips, size = points.shape
    if clips < 2:
        return np.zeros((0, size), np.float32), np.zeros(0, np.float32)
    # A mean of few clips follows them: their distances from it are too short.
    deviations = (points - points.mean(0)) * np.sqrt(clips / (clips - 1))
    _, singular, directions = np.linalg.svd(deviations, full_matrices=False)
    variance = (weight + singular**2) / (weight + clips)
    wider = variance > 1
    factors = 1 / np.sqrt(variance[wider])
    return directions[wider].astype(np.float32), factors.astype(np.float32)


def _measured(points: np.ndarray, directions: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Points (m, d) with differences along the directions made smaller, (m, d)."""
    points = np.asarray(points, np.float64)
    along = points @ directions.T  # (m, r)
    moved: np.ndarray = points + (along * (factors - 1.0)) @ directions
    return moved
