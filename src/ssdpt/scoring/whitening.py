"""How differences between clips of one machine are made to count alike in all directions.

Some directions of a view vary from clip to clip whatever the machine's state: the microphone's
place, the noise of the hall, the load. A machine's own few clips show these badly; clips of other
machines show them too. So the covariance within machines is the machine's own, mixed with that of
a shared reference, which counts as a given number of clips.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_FLOOR = 1e-4  # of the largest eigenvalue: directions that hardly vary are not blown up without end


def covariance(groups: Sequence[np.ndarray]) -> np.ndarray:
    """Ledoit-Wolf covariance within groups of rows, (rows, d) each: (d, d)."""
    return shrunk_covariance(groups)[0]


def shrunk_covariance(groups: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    """The same, and the share of it that is the mean variance in all directions."""
    from sklearn.covariance import ledoit_wolf

    rows = [deviations(group) for group in groups if len(group) > 1]
    if not rows:
        return np.eye(groups[0].shape[1]), 0.0
    spread, shrinkage = ledoit_wolf(np.concatenate(rows), assume_centered=True)
    return np.asarray(spread), float(shrinkage)


def deviations(group: np.ndarray) -> np.ndarray:
    """Of at least two rows (rows, d) from their mean, (rows, d).

    A mean of few rows follows them: their distances from it are too short, and are lengthened.
    """
    lengthened: np.ndarray = (group - group.mean(0)) * np.sqrt(len(group) / (len(group) - 1))
    return lengthened


def mixed(machine: np.ndarray, shared: np.ndarray | None, share: float) -> np.ndarray:
    """Covariance (d, d) of a machine mixed with `share` of the shared one, of the same trace."""
    size = np.trace(machine)
    if shared is None or size <= 0:
        return machine
    return (1 - share) * machine + share * size / np.trace(shared) * shared


def whitening(spread: np.ndarray) -> np.ndarray:
    """The matrix (d, d) that vectors are multiplied by to have the covariance of unity."""
    values, vectors = np.linalg.eigh(spread)
    floor = max(_FLOOR * values[-1], np.finfo(np.float64).tiny)
    whitened: np.ndarray = vectors / np.sqrt(np.maximum(values, floor))
    return whitened
