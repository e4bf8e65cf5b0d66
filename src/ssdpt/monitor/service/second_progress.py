"""How far the seconds of a machine have been noticed, processed and judged.

Where the computer cannot keep up these differ: durations are counted in time, not in seconds that
were looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

_LONGEST_STEP = 10.0  # seconds; after a longer pause nothing was judged in between

_Measured = TypeVar("_Measured")


class SecondProgress:
    """Times are ends of seconds, since 1970."""

    def __init__(self) -> None:
        self.noticed = 0.0
        self.processed = 0.0
        self._judged = 0.0

    def notice(self, now: float, begun: float) -> int:
        """Take note of the second that ended now; gives how many are new since sound `begun`."""
        before, self.noticed = max(self.noticed, begun), now
        return max(1, round(now - before))  # also where the clock was set back

    def process(
        self, now: float, begun: float, measured: Iterable[tuple[float, _Measured]]
    ) -> list[tuple[float, _Measured]]:
        """The second that ended now is processed; gives what was `measured` of others before it.

        That is the seconds without a gap since the last one that was processed.
        """
        since = max(self.processed, begun, now - _LONGEST_STEP)
        self.noticed = self.processed = now
        return [one for one in measured if since < one[0] < now]

    def judge(self, now: float) -> float:
        """It is judged; gives for how many seconds nothing was."""
        seconds = min(max(now - self._judged, 0.0), _LONGEST_STEP)
        self._judged = now
        return seconds
