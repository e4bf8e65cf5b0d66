"""How differences between clips of one machine are made to count alike in all directions.

Some directions of a view vary from clip to clip whatever the machine's state: the microphone's
place, the noise of the hall, the load. A machine's own few clips tell these badly; clips of other
machines tell them too. So the covariance within machines is the machine's own, mixed with one of
a background, and the background weighs as much as so many clips.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_FLOOR = 1e-4  # of the largest eigenvalue: directions that hardly vary are not blown up without end


def covariance(groups: Sequence[np.ndarray]) -> np.ndarray:
    """Ledoit-Wolf covariance within groups of clips, (clips, d) each: (d, d)."""
    from sklearn.covariance import ledoit_wolf

    deviations = [
        # A mean of few clips follows them: their distances from it are too short.
        (group - group.mean(0)) * np.sqrt(len(group) / (len(group) - 1))
        for group in groups
        if len(group) > 1
    ]
    if not deviations:
        size = groups[0].shape[1]
        return np.eye(size)
    found, _ = ledoit_wolf(np.concatenate(deviations), assume_centered=True)
    return np.asarray(found)


def mixed(own: np.ndarray, background: np.ndarray | None, share: float) -> np.ndarray:
    """`share` of the background's shape, the rest its own; the size stays its own: (d, d)."""
    size = np.trace(own)
    if background is None or size <= 0:
        return own
    return (1 - share) * own + share * size / np.trace(background) * background


def whitening(spread: np.ndarray) -> np.ndarray:
    """The matrix (d, d) that vectors are multiplied by to have the covariance of unity."""
    values, vectors = np.linalg.eigh(spread)
    floor = max(_FLOOR * values[-1], np.finfo(np.float64).tiny)
    whitened: np.ndarray = vectors / np.sqrt(np.maximum(values, floor))
    return whitened


def emphasis(centres: np.ndarray) -> np.ndarray:
    """A matrix (d, d) that stretches whitened space where sibling machines differ.

    `centres` (siblings, d) are whitened. Where the siblings' centres spread with variance v beside
    a spread of 1 within each of them, distances count √(1 + v) times: what tells one specimen of
    a machine from another is made by the machine, not by its surroundings.
    """
    size = centres.shape[1]
    if len(centres) < 2:
        return np.eye(size)
    deviations = centres - centres.mean(0)
    _, singular, directions = np.linalg.svd(deviations, full_matrices=False)
    variance = singular**2 / (len(centres) - 1)
    stretch = np.sqrt(1 + variance) - 1
    stretched: np.ndarray = np.eye(size) + (directions.T * stretch) @ directions
    return stretched
