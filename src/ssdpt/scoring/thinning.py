"""Which points of normal clips are references, where there are very many.

A machine of the challenge has a thousand clips of the source domain and ten of the target domain.
Thinned alike, ten clips would leave twenty points: too few to say how the target domain sounds.
So a small domain keeps all of its points, and the large one makes room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ssdpt.scoring.fusion import spread_evenly
from ssdpt.types import Domain

MOST_REFERENCES = 2000  # points that clips are compared with: memory and time grow with them


def thinned(clips: Sequence[np.ndarray], most: int = MOST_REFERENCES) -> list[np.ndarray]:
    """Clips, (points, d) each, with at most `most` points in all, spread evenly over them.

    Clips of which no point is kept are left out.
    """
    count = _points(clips)
    if count <= most:
        return list(clips)
    kept = np.zeros(count, bool)
    kept[spread_evenly(count, most)] = True
    parts = np.split(kept, np.cumsum([len(clip) for clip in clips])[:-1])
    left = [clip[part] for clip, part in zip(clips, parts, strict=True)]
    return [clip for clip in left if len(clip)]


def thinned_domains(
    clips: Mapping[Domain, Sequence[np.ndarray]], most: int = MOST_REFERENCES
) -> dict[Domain, list[np.ndarray]]:
    """At most `most` points of the clips of all domains, shared as equally as they allow."""
    kept: dict[Domain, list[np.ndarray]] = {}
    room = most
    for domain in sorted(clips, key=lambda name: _points(clips[name])):  # the smallest first
        kept[domain] = thinned(clips[domain], room // (len(clips) - len(kept)))
        room -= _points(kept[domain])
    return {domain: kept[domain] for domain in clips}


def _points(clips: Sequence[np.ndarray]) -> int:
    return sum(map(len, clips))
