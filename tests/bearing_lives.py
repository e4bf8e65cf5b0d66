"""Simulated bearings that are recorded until they fail: snapshots as arrays and as files."""

from __future__ import annotations

import numpy as np
import soundfile

RATE, SAMPLES = 8000, 800  # a tenth of a second


def life(snapshots=400, damage=0.7, seed=0, growth=12.0, knocking=True, drift_db=1.0):
    """(snapshots, samples): noise that drifts a little, then knocks that grow until the end.

    `damage`: from which share of the life on; `growth`: how many times the noise the last knocks
    are; 0: nothing ever happens.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(snapshots):
        share = number / (snapshots - 1)
        noise = 0.01 * 10 ** (drift_db * np.sin(3 * share) / 20) * rng.standard_normal(SAMPLES)
        strength = max(0.0, (share - damage) / (1 - damage)) * growth * 0.01
        if knocking:
            burst = np.exp(-np.arange(40) / 8) * np.sin(2 * np.pi * 2500 * np.arange(40) / RATE)
            for first in rng.integers(0, 90) + np.arange(0, SAMPLES - 140, 100):
                noise[first : first + 40] += 3 * strength * burst
        else:
            noise += strength * rng.standard_normal(SAMPLES)
        rows.append(noise)
    return np.array(rows, np.float32)


def write_life(path, rows):
    """One file that holds all snapshots end to end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, rows.reshape(-1), RATE, subtype="PCM_16")
    return path
