"""Normal clips of one machine ID in one view, and how far a clip lies from them.

Clips of the source and of the target domain are apart, each with the scale of its own distances:
of a hundred clips and of ten, the nearest ones lie at different distances. So are clips that came
after the fit. A clip belongs where it fits better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ssdpt.scoring.condition import Condition
from ssdpt.scoring.references import References
from ssdpt.types import Domain


@dataclass(frozen=True, slots=True)
class Bank:
    """The references of every domain there is; the first one is the largest."""

    domains: Mapping[Domain, References]
    neighbours: int  # that give the local density; 0: it is taken to be the same everywhere
    added: tuple[Condition, ...] = ()  # since the fit

    @classmethod
    def of(cls, groups: Mapping[Domain, np.ndarray], neighbours: int) -> Self:
        """From the clips (clips, d) of every domain."""
        ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
        domains: dict[Domain, References] = {}
        for domain, points in ordered:
            lender = next(iter(domains.values()), None)
            domains[domain] = References.of(points, neighbours, lender)
        return cls(domains, neighbours)

    def z(self, points: np.ndarray) -> np.ndarray:
        """How unusual points (m, d) are: 0 is usual for a normal clip, 1 is one deviation more.

        Of domains and conditions the one counts in which a point is least unusual.
        """
        scores = [references.z(points) for references in self.domains.values()]
        scores += [condition.z(points) for condition in self.added]
        least: np.ndarray = np.min(scores, axis=0)
        return least

    def with_more(self, points: np.ndarray, domain: Domain, reference_clips: float) -> Self:
        """A bank with further normal clips (m, d) as a condition of their own; the rest stays.

        What distances are measured with rests on the fit's clips and on `reference_clips` more.
        """
        condition = Condition.of(
            points,
            domain,
            next(iter(self.domains.values())),
            neighbours=self.neighbours,
            rests_on=reference_clips + sum(len(own.points) for own in self.domains.values()),
        )
        return replace(self, added=(*self.added, condition))
