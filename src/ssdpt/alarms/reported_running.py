"""Whether a machine is judged, by the run state that its control system reports."""

from __future__ import annotations


class ReportedRunning:
    """Off at once when the control system says so; not judged until a start has settled.

    >>> run = ReportedRunning(settle_seconds=10)
    >>> run.update(0.0, False), run.off
    (None, True)
    >>> run.update(5.0, True), run.off, run.settling
    (None, False, True)
    >>> run.update(15.0, True), run.settling
    (None, False)
    >>> run.update(16.0, None), run.known
    (None, False)
    """

    def __init__(self, settle_seconds: float = 0.0) -> None:
        self.settle_seconds = settle_seconds
        self._running: bool | None = None
        self._was_off = False  # when it was last known
        self._settled_at: float | None = None  # time; None: it is not settling

    def update(self, now: float, running: bool | None) -> None:
        """The run state of now, in seconds; None: not known, then only the sound can tell."""
        if running and self._was_off:
            self._settled_at = now + self.settle_seconds
        if running is not None:
            self._was_off = not running
        if running is False or (self._settled_at is not None and now >= self._settled_at):
            self._settled_at = None
        elif self._settled_at is not None:
            # If the clock was set back, it does not wait longer than that.
            self._settled_at = min(self._settled_at, now + self.settle_seconds)
        self._running = running

    @property
    def known(self) -> bool:
        return self._running is not None

    @property
    def off(self) -> bool:
        """Off by its control system, however loud it is around it."""
        return self._running is False

    @property
    def settling(self) -> bool:
        """It has just started."""
        return self._settled_at is not None

    def continue_from(self, previous: ReportedRunning) -> None:
        """Go on from the same machine before its settings changed."""
        self._running, self._was_off = previous._running, previous._was_off
        self._settled_at = previous._settled_at
