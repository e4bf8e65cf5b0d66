"""Some of the snapshots that a baseline is learned from, kept to compare an event with."""

from __future__ import annotations

import numpy as np

from ssdpt.alarms.running import OFF_BELOW_DB
from ssdpt.alarms.snapshot_judge import SnapshotForm
from ssdpt.types import Floats

_SECONDS = 10.0  # of all of them together, about
_MOST_SNAPSHOTS = 60


class SnapshotSample:
    """Snapshots of one form, spread over all the time that is learned."""

    def __init__(self, form: SnapshotForm) -> None:
        fit = int(_SECONDS * form.sample_rate / form.samples)
        self._most = min(max(fit, 1), _MOST_SNAPSHOTS)
        self._kept: list[Floats] = []  # (axes, samples) each
        self._every, self._seen = 1, 0  # one of so many is kept

    def add(self, samples: Floats) -> None:
        """One more snapshot (axes, samples)."""
        if self._seen % self._every == 0:
            self._kept.append(samples)
            if len(self._kept) == 2 * self._most:
                del self._kept[1::2]
                self._every *= 2
        self._seen += 1

    def sound(self) -> Floats:
        """Snapshots end to end, (axes, samples), without those of a machine that was off."""
        rms = np.array([np.sqrt(np.mean(np.square(one), axis=1)).max() for one in self._kept])
        running = np.flatnonzero(rms >= np.median(rms) * 10 ** (-OFF_BELOW_DB / 20))
        places = np.linspace(0, len(running) - 1, min(self._most, len(running)))
        chosen = running[places.round().astype(int)]
        return np.concatenate([self._kept[place] for place in chosen], axis=1)
