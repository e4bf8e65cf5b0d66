"""Normal clips of one machine ID in one view, and how far a clip lies from them.

Clips of the source and of the target domain are kept in separate groups, each with its own scale
of distances, because the nearest of a hundred clips is closer than the nearest of ten. Clips added
after the fit are separate groups too. A clip is scored by the group that it fits best.
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
    neighbours: int  # that give the local density; 0: it is the same everywhere
    added: tuple[Condition, ...] = ()  # since the fit

    @classmethod
    def of(cls, groups: Mapping[Domain, np.ndarray], neighbours: int) -> Self:
        """From the clips (clips, d) of every domain."""
        ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
        domains: dict[Domain, References] = {}
        for domain, points in ordered:
            largest = next(iter(domains.values()), None)
            domains[domain] = References.of(points, neighbours, largest)
        return cls(domains, neighbours)

    def z_scores(self, points: np.ndarray) -> np.ndarray:
        """How unusual points (m, d) are: 0 is the mean of normal clips, 1 is one deviation more.

        The lowest value over all domains and conditions counts.
        """
        scores = [references.z_scores(points) for references in self.domains.values()]
        scores += [condition.z_scores(points) for condition in self.added]
        least: np.ndarray = np.min(scores, axis=0)
        return least

    def without(self, point: np.ndarray) -> Self:
        """The bank without the normal clip at `point` (d,) and its copies; one clip stays."""
        domains = {
            domain: others
            for domain, references in self.domains.items()
            if (others := references.without(point)) is not None
        }
        return replace(self, domains=domains) if domains else self

    def with_more(self, points: np.ndarray, domain: Domain, reference_clips: float) -> Self:
        """A bank with further normal clips (m, d) as a separate condition; the rest stays.

        The spread of the fit was estimated from its clips and from `reference_clips` more.
        """
        condition = Condition.of(
            points,
            domain,
            next(iter(self.domains.values())),
            neighbours=self.neighbours,
            spread_clips=reference_clips
            + sum(len(group.points) for group in self.domains.values()),
        )
        return replace(self, added=(*self.added, condition))
