"""How an event differs from the normal sound, as a short row of numbers that can be compared.

Two halves: where in the spectrum sound has grown or gone (third octaves, each in
standard deviations of normal clips), and how often it now knocks or swells. The first tells a fault
from others at another place, the second from others at the same place. Both keep their shape while
a fault grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.features.condition_spectrum import SpectrumMeter
from ssdpt.monitor.capture.gaps import without_gaps
from ssdpt.monitor.messages import LooksLike
from ssdpt.types import Floats

# Chosen on simulated faults: `ssdpt bench recognise` prints what it does on others.
LIMIT = 0.8
_CLEAR_RHYTHM_DB = 15.0  # from which on both halves weigh the same; a steady tone has no rhythm
_NEIGHBOURS = np.array([0.5, 1.0, 0.5])  # rates next to each other: speed is never quite the same

Signature = tuple[float, ...]


def signature(reference: SoundReference | None, samples: Floats, rate: int) -> Signature:
    """Of a sound (samples,) at `rate` Hz; () where the normal sound is not known."""
    pieces = without_gaps(samples, rate)
    if reference is None or reference.sample_rate != rate or not pieces:
        return ()
    spectrum = SpectrumMeter(rate).of(pieces)
    levels = np.array([spectrum.bands_db, spectrum.peaks_db]) - reference.usual_db  # (2, bands)
    bands = np.nan_to_num(reference.surprise(levels - reference.gain(spectrum))).ravel()
    excess = np.nan_to_num(np.maximum(spectrum.rhythm_db - reference.rhythm_highest_db, 0.0))
    strongest = excess.max(axis=0)  # (rates,), dB beyond what normal clips do
    rates = np.convolve(strongest**2, _NEIGHBOURS, mode="same")
    weight = min(float(strongest.max()) / _CLEAR_RHYTHM_DB, 1.0)
    values = np.concatenate([_unit(bands), weight * _unit(rates - rates.mean())])
    return tuple(float(value) for value in values.round(4))


def similarity(one: Signature, other: Signature) -> float:
    """The cosine between two signatures, from -1 to 1; 0 where they cannot be compared."""
    if len(one) != len(other) or not any(one) or not any(other):
        return 0.0
    first, second = np.array(one), np.array(other)
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def recognise(
    new: Signature, named: Sequence[tuple[str, Signature]], limit: float = LIMIT
) -> LooksLike | None:
    """The fault of the most similar event, out of names and signatures; None where none is."""
    alike = sorted(
        (fault, value) for fault, known in named if (value := similarity(new, known)) >= limit
    )
    if not alike:
        return None
    by_fault = [
        (fault, [value for _, value in group])
        for fault, group in groupby(alike, key=lambda each: each[0])
    ]
    fault, values = max(by_fault, key=lambda each: max(each[1]))
    return LooksLike(
        fault=fault, earlier_events=len(values), similarity=round(min(max(values), 1.0), 3)
    )


def _unit(values: np.ndarray) -> np.ndarray:
    norm = float(np.linalg.norm(values))
    return values / norm if norm > 0 else values
