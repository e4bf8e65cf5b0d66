"""How often knocks come or a sound swells, from the spectrum of an envelope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

PERIODS = 3  # of the slowest rhythm that a length of sound resolves
GROWN_DB = 3.0  # above the strongest rhythm of normal clips
WEAKEST_DB = -26.0  # a swing by a twentieth of the mean power
STANDS_OUT_DB = 9.0  # above the median of the lines around
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
    beyond = beyond_normal(rates, strength_db, edges, limits)
    grown = np.flatnonzero((beyond >= GROWN_DB) & (strength_db >= WEAKEST_DB))
    candidates = [line for line in grown.tolist() if prominence(strength_db, line) >= STANDS_OUT_DB]
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
        per_second=float(f"{between(strength_db, strongest) * rates[1] / divisor:.4g}"),
        sharp=divisor > 1 or second >= strength_db[strongest] - _SHARP_DB,
    )


def between(levels_db: Values, line: int) -> float:
    """The place of a peak between the lines, by a parabola through three of them."""
    if not 0 < line < len(levels_db) - 1:
        return float(line)
    before, here, after = levels_db[line - 1 : line + 2]
    bend = before - 2 * here + after
    return float(line + (0.5 * (before - after) / bend if bend < 0 else 0.0))


def beyond_normal(rates: Values, strength_db: Values, edges: Values, limits: Values) -> Values:
    """(lines,): dB above the strongest normal rhythm in the same cell or beside it."""
    padded = np.concatenate([limits[:1], limits, limits[-1:]])
    beside = np.fmax(np.fmax(padded[:-2], padded[2:]), limits)  # (cells,)
    cell = np.searchsorted(edges, rates, side="right") - 1
    inside = (cell >= 0) & (cell < len(limits))
    limit = np.where(inside, beside[np.clip(cell, 0, len(limits) - 1)], np.nan)
    return np.nan_to_num(strength_db - limit, nan=-np.inf)


def prominence(strength_db: Values, line: int) -> float:
    """By how many dB a line stands out of those around it."""
    around = strength_db[max(line - _AROUND, 1) : line + _AROUND + 1]
    return float(strength_db[line] - np.median(around))


def _divisor(rates: Values, strength_db: Values, line: int, slowest: float) -> int:
    """The largest number for which the line is that harmonic of another line; 1: of none."""
    for divisor in sorted(_DIVISORS, reverse=True):
        place = line / divisor
        near = slice(max(int(place), 1), int(place) + 2)
        fundamental = near.start + int(strength_db[near].argmax())
        if (
            rates[line] / divisor >= slowest
            and strength_db[line] - strength_db[fundamental] <= _OF_HARMONIC_DB
            and prominence(strength_db, fundamental) >= STANDS_OUT_DB
        ):
            return divisor
    return 1


def _strength(strength_db: Values, place: float) -> float:
    """The strongest line within a per cent of a place; −∞ beyond the spectrum."""
    reach = max(1, round(0.01 * place))
    near = strength_db[max(round(place) - reach, 0) : round(place) + reach + 1]
    return float(near.max(initial=-np.inf))
