"""What is wrong with a source rather than with the machine: gone, silent, clipping."""

from __future__ import annotations

from ssdpt.monitor.idle import Loudness

_PATIENCE = 10.0  # seconds
_CLIPPED = 0.001  # share of samples at full scale

LOST = "no sound comes from its source"
SILENT = "its source sends silence: look at microphone, cable and mute switch"
CLIPPING = "its source clips: turn its gain down, since what is cut off cannot be judged"


class SignalKeeper:
    """The complaint about a source that has lasted long enough to be told; empty where none."""

    def __init__(self) -> None:
        self.complaint = ""
        self._since: dict[str, float] = {}

    def update(self, time: float, loudness: Loudness | None, *, lost: bool) -> str:
        """What is to be told after this second; `loudness` is None where nothing was heard."""
        holds = {
            LOST: lost,
            SILENT: loudness is not None and loudness.silent,
            CLIPPING: loudness is not None and loudness.clipped > _CLIPPED,
        }
        for words, now in holds.items():
            if now:
                self._since.setdefault(words, time)
            else:
                self._since.pop(words, None)
        told = [words for words, since in self._since.items() if time - since >= _PATIENCE]
        self.complaint = told[0] if told else ""
        return self.complaint
