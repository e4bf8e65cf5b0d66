"""A simulated bearing measured at intervals: noise of the shaft, and bursts that grow."""

from __future__ import annotations

import numpy as np

from ssdpt.monitor.sources.snapshot import Snapshot

RATE = 12_800  # Hz
SAMPLES = 1280  # a tenth of a second
EVERY = 10.0  # seconds from one snapshot to the next
BEGAN = 1_700_000_000.0


def bearing(seed=0, burst=0.0, level=0.02):
    """(samples,): noise and, every 20 ms, a burst of a resonance at 3 kHz."""
    rng = np.random.default_rng(seed)
    noise = level * rng.standard_normal(SAMPLES)
    since = np.arange(SAMPLES) % (RATE // 50)
    ringing = np.exp(-since / 30) * np.sin(2 * np.pi * 3000 / RATE * since)
    return (noise + burst * ringing).astype(np.float32)


def snapshot(number, *axes, **more):
    """The snapshot of this number; without axes, that of one healthy axis."""
    rows = axes or (bearing(abs(hash(number))),)
    return Snapshot(np.stack(rows), more.pop("rate", RATE), BEGAN + number * EVERY, **more)
