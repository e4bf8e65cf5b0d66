"""Placing whole recordings one behind the other in time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a recording goes."""

    time: float  # of its first sample that is used, seconds since 1970
    gap: float = 0.0  # seconds missing before it
    cut: float = 0.0  # seconds at its beginning that overlap with the recording before


class RecordingTimeline:
    """Times that never go back, although the times of the recordings are not exact."""

    def __init__(self, tolerance: float) -> None:
        """`tolerance`: seconds by which consecutive recordings may seem apart."""
        self.end: float | None = None
        self._tolerance = tolerance

    def place(self, begin: float, seconds: float, *, exact: bool) -> Placement:
        """Where `seconds` of sound from `begin` on would go.

        Where it overlaps with the last recording, it is cut if `begin` is `exact`; else it follows
        the last.
        """
        if self.end is None or begin > self.end + self._tolerance:
            return Placement(begin, 0.0 if self.end is None else begin - self.end)
        if begin >= self.end - self._tolerance or not exact:
            return Placement(self.end)
        return Placement(self.end, cut=min(seconds, self.end - begin))

    def add(self, placement: Placement, seconds: float) -> None:
        """Put a recording of `seconds` there."""
        self.end = placement.time + seconds - placement.cut
