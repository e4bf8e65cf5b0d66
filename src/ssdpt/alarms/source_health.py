"""Problems of a source rather than of the machine: no data, silence, clipping, bad snapshots."""

from __future__ import annotations

from ssdpt.features.loudness import Loudness
from ssdpt.sentences import Sentence

_MIN_SECONDS = 10.0  # before a problem is reported, and before it is over
_MIN_SNAPSHOTS = 3  # in a row, likewise, that cannot be used or can be again
_CLIPPED_SHARE = 0.001  # of samples at full scale

LOST = Sentence("events.lost")
SILENT = Sentence("events.silent")
CLIPPING = Sentence("events.clipping")
UNUSABLE = Sentence("events.unusable")


class SourceHealth:
    """The problem of a source that has lasted long enough to be reported; empty if none.

    It is over when its cause has been absent for as long: a source that clips now and then is one
    problem, not one after the other.
    """

    def __init__(self) -> None:
        self.problem = ""
        self._reported: set[str] = set()
        self._changing_since: dict[str, float] = {}
        self._contrary_snapshots = 0  # in a row, to whether UNUSABLE is reported

    def update(self, time: float, loudness: Loudness | None, *, lost: bool) -> str:
        """The problem to report after this second; `loudness` is None if no sound came."""
        return self._update(
            time,
            {  # the worst first
                LOST: lost,
                UNUSABLE: UNUSABLE in self._reported,
                SILENT: loudness is not None and loudness.silent,
                CLIPPING: loudness is not None and loudness.clipped > _CLIPPED_SHARE,
            },
        )

    def add_snapshot(self, time: float, clipped: float | None) -> str:
        """The problem to report after a snapshot.

        `clipped`: its share of samples at full scale; None if it cannot be used. Silence of a
        sensor that sits on a machine is that of a machine at rest.
        """
        unusable = clipped is None
        contrary = unusable != (UNUSABLE in self._reported)
        self._contrary_snapshots = self._contrary_snapshots + 1 if contrary else 0
        if self._contrary_snapshots >= _MIN_SNAPSHOTS:
            self._contrary_snapshots = 0
            self._reported ^= {UNUSABLE}
        clips = CLIPPING in self._reported if clipped is None else clipped > _CLIPPED_SHARE
        present = {LOST: False, UNUSABLE: UNUSABLE in self._reported, CLIPPING: clips}
        return self._update(time, present)

    def _update(self, time: float, present: dict[Sentence, bool]) -> str:
        """Report what has lasted; `present` has the worst problem first."""
        for problem, is_present in present.items():
            if is_present == (problem in self._reported):
                self._changing_since.pop(problem, None)
                continue
            # If the clock was set back, the wait starts again.
            since = self._changing_since[problem] = min(
                time, self._changing_since.get(problem, time)
            )
            if time - since >= _MIN_SECONDS:
                del self._changing_since[problem]
                self._reported ^= {problem}
        self.problem = next((problem for problem in present if problem in self._reported), "")
        return self.problem
