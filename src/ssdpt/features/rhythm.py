"""How often knocks come or a sound swells, from the spectrum of an envelope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

PERIODS = 3  # of the slowest rhythm that a length of sound resolves
_GROWN_DB = 3.0  # above the strongest rhythm of normal clips
_WEAKEST_DB = -26.0  # a swing by a twentieth of the mean power
_STANDS_OUT_DB = 9.0  # above the median of the lines around
_AROUND = 40  # lines on each side
_DIVISORS = (2, 3, 4, 5, 6)  # by which a strongest line may be a harmonic
_OF_HARMONIC_DB = 12.0  # that a fundamental may be weaker than its strongest harmonic
_SHARP_DB = 9.0  # that a harmonic of knocks is weaker than the strongest line, at most


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Something that repeats itself."""

    per_second: float
    sharp: bool  # knocks, which have harmonics; a sound that swells has none


def find_rhythm(
    rates: Values, strength_db: Values, highest: tuple[Values, Values]
) -> Rhythm | None:
    """The fundamental of a rhythm that normal clips do not have, or None.

    `rates`, `strength_db`: (lines,), the spectrum of an envelope. `highest`: edges of the cells of
    rates (cells + 1,) and the strongest rhythm of normal clips in each, (cells,) dB or NaN.
    """
    edges, limits = highest
    beyond = _beyond(rates, strength_db, edges, limits)
    grown = np.flatnonzero((beyond >= _GROWN_DB) & (strength_db >= _WEAKEST_DB))
    candidates = [line for line in grown.tolist() if _stands_out(strength_db, line)]
    if not candidates:
        return None
    strongest = max(candidates, key=lambda line: float(strength_db[line]))
    # A sound that begins or ends has a slow trend, of which all lines are a part.
    slowest = max(float(edges[0]), PERIODS * float(rates[1]))
    slower = strength_db[1 : int(np.searchsorted(rates, slowest))]
    if slower.max(initial=-np.inf) > strength_db[strongest]:
        return None
    divisor = _divisor(rates, strength_db, strongest, slowest)
    second = _strength(strength_db, 2 * strongest / divisor)
    return Rhythm(
        per_second=float(f"{rates[strongest] / divisor:.3g}"),
        sharp=divisor > 1 or second >= strength_db[strongest] - _SHARP_DB,
    )


def _beyond(rates: Values, strength_db: Values, edges: Values, limits: Values) -> Values:
    """(lines,): dB above the strongest normal rhythm in the same cell or beside it."""
    padded = np.concatenate([limits[:1], limits, limits[-1:]])
    beside = np.fmax(np.fmax(padded[:-2], padded[2:]), limits)  # (cells,)
    cell = np.searchsorted(edges, rates, side="right") - 1
    inside = (cell >= 0) & (cell < len(limits))
    limit = np.where(inside, beside[np.clip(cell, 0, len(limits) - 1)], np.nan)
    return np.nan_to_num(strength_db - limit, nan=-np.inf)


def _stands_out(strength_db: Values, line: int) -> bool:
    around = strength_db[max(line - _AROUND, 1) : line + _AROUND + 1]
    return bool(strength_db[line] - np.median(around) >= _STANDS_OUT_DB)


def _divisor(rates: Values, strength_db: Values, line: int, slowest: float) -> int:
    """The largest number for which the line is that harmonic of another line; 1: of none."""
    for divisor in sorted(_DIVISORS, reverse=True):
        place = line / divisor
        near = slice(max(int(place), 1), int(place) + 2)
        fundamental = near.start + int(strength_db[near].argmax())
        if (
            rates[line] / divisor >= slowest
            and strength_db[line] - strength_db[fundamental] <= _OF_HARMONIC_DB
            and _stands_out(strength_db, fundamental)
        ):
            return divisor
    return 1


def _strength(strength_db: Values, place: float) -> float:
    """The strongest line within a per cent of a place; −∞ beyond the spectrum."""
    reach = max(1, round(0.01 * place))
    near = strength_db[max(round(place) - reach, 0) : round(place) + reach + 1]
    return float(near.max(initial=-np.inf))
