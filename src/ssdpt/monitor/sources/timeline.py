"""Placing whole recordings one behind the other in time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a recording goes."""

    time: float  # of its first sample that is kept
    gap: float = 0.0  # seconds that are missing before it
    cut: float = 0.0  # seconds at its beginning that were heard before


class Timeline:
    """Times that do not go back, although those who tell them are not exact."""

    def __init__(self, tolerance: float) -> None:
        """`tolerance`: seconds by which two recordings that belong together may seem apart."""
        self.end: float | None = None
        self._tolerance = tolerance

    def see(self, begin: float, seconds: float, *, exact: bool) -> Placed:
        """Where `seconds` from `begin` on would go.

        Where it overlaps with the last, it is cut if `begin` is `exact`; else it follows the last.
        """
        if self.end is None or begin > self.end + self._tolerance:
            return Placed(begin, 0.0 if self.end is None else begin - self.end)
        if begin >= self.end - self._tolerance or not exact:
            return Placed(self.end)
        return Placed(self.end, cut=min(seconds, self.end - begin))

    def take(self, placed: Placed, seconds: float) -> None:
        """Put a recording of `seconds` there."""
        self.end = placed.time + seconds - placed.cut
