"""What is wrong with a source rather than with the machine: gone, silent, clipping."""

from __future__ import annotations

from ssdpt.features.loudness import Loudness

_PATIENCE = 10.0  # seconds until something is told, and until it is over again
_CLIPPED = 0.001  # share of samples at full scale

LOST = "no sound comes from its source"
SILENT = "its source sends silence: look at microphone, cable and mute switch"
CLIPPING = "its source clips: turn its gain down, since what is cut off cannot be judged"


class SourceHealth:
    """The complaint about a source that has lasted long enough to be told; empty where none.

    It is over when its cause has been away for as long: a source that clips now and then is one
    complaint and not one after the other.
    """

    def __init__(self) -> None:
        self.complaint = ""
        self._told: set[str] = set()
        self._turned: dict[str, float] = {}  # since when a cause is otherwise than it is told

    def update(self, time: float, loudness: Loudness | None, *, lost: bool) -> str:
        """What is to be told after this second; `loudness` is None where nothing was heard."""
        holds = {  # the worst first
            LOST: lost,
            SILENT: loudness is not None and loudness.silent,
            CLIPPING: loudness is not None and loudness.clipped > _CLIPPED,
        }
        for words, now in holds.items():
            if now == (words in self._told):
                self._turned.pop(words, None)
                continue
            # A clock may be set back: then it is waited anew.
            since = self._turned[words] = min(time, self._turned.get(words, time))
            if time - since >= _PATIENCE:
                del self._turned[words]
                self._told ^= {words}
        self.complaint = next((words for words in holds if words in self._told), "")
        return self.complaint
