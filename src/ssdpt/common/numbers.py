"""Numbers as people read them: one rule for the page, mails, notifications and reports.

The page has the same rules in `web/src/lib/numbers.ts`; a test compares both on a table.

- A half is rounded away from zero, of the number as it is written: 2.5 is 3, and 1.005 is 1.01.
- Scores and thresholds: two digits after the decimal sign, one from 10 on, none from 100 on.
- Levels and their differences: whole decibels.
- Frequencies: three figures, in Hz below 1 kHz and in kHz from there on. Both ends of a band have
  two figures, and three where the ends would read the same.
- Other measured values: so many figures, but no digit before the decimal sign is rounded away,
  and no more than six after it.
- Thousands are set apart from five digits on. There is no minus before a zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

UNKNOWN = "–"  # of a value that is not finite
_EXACT = Context(prec=400)  # digits: more than any float has before or after the decimal sign
_TINY, _TINY_DIGITS = 1e-4, 6  # smaller values have so many digits at most, not figures
_GROUPED_FROM = 5  # digits before the decimal sign


@dataclass(frozen=True, slots=True)
class Numbers:
    """Writes numbers with the signs of a language; the defaults are those of English."""

    decimal: str = "."
    group: str = ","

    def fixed(self, value: float, digits: int = 0) -> str:
        """With so many digits after the decimal sign."""
        if not math.isfinite(value):
            return UNKNOWN
        rounded = _exactly(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _EXACT)
        whole, _, rest = f"{abs(rounded):f}".partition(".")
        if len(whole) >= _GROUPED_FROM:
            whole = f"{int(whole):,}".replace(",", self.group)
        sign = "-" if rounded < 0 else ""
        return f"{sign}{whole}{self.decimal}{rest}" if rest else f"{sign}{whole}"

    def figures(self, value: float, count: int = 3) -> str:
        """So many figures at most: 0.42, 24.8, 1500."""
        if not math.isfinite(value):
            return UNKNOWN
        tiny = abs(value) < _TINY
        digits = _TINY_DIGITS if tiny else max(0, count - 1 - _exactly(value).adjusted())
        text = self.fixed(value, digits)
        return text.rstrip("0").rstrip(self.decimal) if digits else text

    def score(self, value: float) -> str:
        """A score or a threshold: 1.40, 24.8, 1500."""
        # What is rounded up to 10 or 100 is written as these are.
        size = abs(value)
        return self.fixed(value, 2 if size < 9.995 else 1 if size < 99.95 else 0)

    def hertz(self, value: float) -> str:
        """A frequency: 24.8 Hz, 130 Hz, 2.24 kHz. Units are the same in all languages."""
        kilo = value >= 999.5
        return f"{self.figures(value / 1000)} kHz" if kilo else f"{self.figures(value)} Hz"

    def band(self, low: float, high: float) -> tuple[str, str]:
        """Both ends of a band in Hz; the unit is said once where it is the same."""
        for figures in (2, 3):
            first, last = (self.hertz(_significant(end, figures)) for end in (low, high))
            if first != last:
                break
        number, unit = first.split()
        return (number if last.endswith(f" {unit}") else first), last


def _exactly(value: float) -> Decimal:
    """As it is written, not as it is stored: 1.005, and not 1.00499999999999989."""
    return Decimal(repr(float(value)))


def _significant(value: float, count: int) -> float:
    """Rounded to so many figures: 890 of 891 with two."""
    exact = _exactly(value)
    if not exact:
        return 0.0
    unit = Decimal(1).scaleb(exact.adjusted() - count + 1)
    return float(exact.quantize(unit, ROUND_HALF_UP, _EXACT))
