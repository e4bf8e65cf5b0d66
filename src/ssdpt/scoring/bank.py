"""Normal clips of one machine ID in one view, and how far a clip lies from them.

They are one group, or one for each domain (`texture.domains: apart`), with a scale of distances
each, because the nearest of a hundred clips is closer than the nearest of ten. Clips added after
the fit are separate groups too. A clip is scored by the group that it fits best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ssdpt.scoring.condition import Condition
from ssdpt.scoring.references import Clips, References
from ssdpt.scoring.thinning import thinned
from ssdpt.types import Domain


@dataclass(frozen=True, slots=True)
class Bank:
    """The references of every group there is; the first one is the largest."""

    domains: Mapping[Domain, References]  # of all domains together: under the name of the first
    neighbours: int  # that give the local density; 0: it is the same everywhere
    added: tuple[Condition, ...] = ()  # since the fit

    @classmethod
    def of(cls, groups: Mapping[Domain, Clips], neighbours: int) -> Self:
        """From the clips, (points, d) each, of every group."""
        ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
        domains: dict[Domain, References] = {}
        for domain, clips in ordered:
            largest = next(iter(domains.values()), None)
            domains[domain] = References.of(thinned(clips), neighbours, largest)
        return cls(domains, neighbours)

    def z_scores(self, clips: Clips) -> np.ndarray:
        """How unusual clips are: 0 is the mean of normal clips, 1 is one deviation more.

        The lowest value over all domains and conditions counts.
        """
        scores = [group.z_scores(clips) for group in self._groups]
        least: np.ndarray = np.min(scores, axis=0)
        return least

    def z_over_time(self, points: np.ndarray, averaged: bool) -> np.ndarray:
        """What each point (m, d) of a clip adds to its score, (m,); their mean is the score.

        With `averaged` the mean of the points is compared.
        """
        over_time = [group.z_over_time(points, averaged) for group in self._groups]
        return min(over_time, key=lambda values: float(values.mean()))

    def with_more(self, clips: Clips, domain: Domain, reference_clips: float) -> Self:
        """A bank with further normal clips as a separate condition; the rest stays.

        The spread of the fit was estimated from `reference_clips` clips in all.
        """
        condition = Condition.of(
            clips,
            domain,
            next(iter(self.domains.values())),
            neighbours=self.neighbours,
            spread_clips=reference_clips,
        )
        return replace(self, added=(*self.added, condition))

    @property
    def _groups(self) -> tuple[References | Condition, ...]:
        return (*self.domains.values(), *self.added)
