"""Problems of a source rather than of the machine: no data, silence, clipping."""

from __future__ import annotations

from ssdpt.features.loudness import Loudness

_MIN_SECONDS = 10.0  # before a problem is reported, and before it is over
_CLIPPED_SHARE = 0.001  # of samples at full scale

LOST = "No sound arrives from the source"
SILENT = "The source sends silence: check microphone, cable and mute switch"
CLIPPING = "The source clips: lower its gain, clipped sound cannot be judged"


class SourceHealth:
    """The problem of a source that has lasted long enough to be reported; empty if none.

    It is over when its cause has been absent for as long: a source that clips now and then is one
    problem, not one after the other.
    """

    def __init__(self) -> None:
        self.problem = ""
        self._reported: set[str] = set()
        self._changing_since: dict[str, float] = {}

    def update(self, time: float, loudness: Loudness | None, *, lost: bool) -> str:
        """The problem to report after this second; `loudness` is None if no sound came."""
        present = {  # the worst first
            LOST: lost,
            SILENT: loudness is not None and loudness.silent,
            CLIPPING: loudness is not None and loudness.clipped > _CLIPPED_SHARE,
        }
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
