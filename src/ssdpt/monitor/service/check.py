"""Opening all that a plant file names for a moment, to see whether it is there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ssdpt.errors import SsdptError
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.config import MonitorConfig, OutputSettings, SourceSettings
from ssdpt.monitor.outputs import make_output
from ssdpt.monitor.outputs.base import TryAgain
from ssdpt.monitor.sources import open_source
from ssdpt.monitor.sources.base import SourceLost
from ssdpt.types import Floats

LIMIT = 10.0  # seconds for all together, since they are opened at once
_LISTEN = 1.0  # seconds of sound that tell its level
_RATE = 16000  # Hz; the level is the same at any
_TAKEN = (SsdptError, SourceLost, TryAgain)  # say why in words that hold no secret


@dataclass(frozen=True, slots=True)
class Found:
    """What came of looking at one thing."""

    name: str
    words: str
    well: bool = True


def probe_config(plant: MonitorConfig, limit: float = LIMIT) -> Iterator[Found]:
    """Open every source and output at once; what was found, in the order of the file.

    Nothing is sent to anyone. `limit` in seconds.
    """
    probes = [
        *(_Probe(one.id, partial(_hear, one.source)) for one in plant.machines),
        *(_Probe(one.kind, partial(_reach, one)) for one in plant.outputs),
    ]
    end = time.monotonic() + limit
    for probe in probes:
        probe.start(limit)
    for probe in probes:
        yield probe.wait(max(0.0, end - time.monotonic()))


class _Probe:
    """One look on a thread of its own, which is left behind where it hangs in a library."""

    def __init__(self, name: str, look: Callable[[_Probe], str]) -> None:
        self.name = name
        self.limit = 0.0  # seconds
        self.stop = threading.Event()
        self.so_far = ""  # what is known while it goes on
        self._look = look
        self._found: Found | None = None
        self._thread = threading.Thread(target=self._run, name=f"probe {name}", daemon=True)

    def start(self, limit: float) -> None:
        self.limit = limit
        self._thread.start()

    def wait(self, seconds: float) -> Found:
        """What was found, after so many seconds at the latest."""
        self._thread.join(seconds)
        self.stop.set()
        if self._found is not None:
            return self._found
        if self.so_far:
            return Found(self.name, self.so_far)
        return Found(self.name, f"nothing came within {self.limit:g} s", well=False)

    def _run(self) -> None:
        well = False
        try:
            words, well = self._look(self), True
        except _TAKEN as error:
            words = str(error)
        except Exception as error:
            # Its text might hold a secret.
            words = f"cannot be opened ({type(error).__name__})"
        self._found = Found(self.name, words, well)


def _hear(settings: SourceSettings, probe: _Probe) -> str:
    """Listen for a second."""
    source = open_source(settings, _RATE)
    heard: list[Floats] = []
    for chunk in source.once(probe.stop):
        heard.append(chunk.samples)
        samples = np.concatenate(heard)
        loudness = Loudness.of(samples)
        level = f"sound arrives at {loudness.dbfs:.0f} dBFS"
        if loudness.silent:
            level = "but only silence arrives"
        status = source.status
        probe.so_far = f"{status.words}, {status.rate_in} Hz, {level}"
        if len(samples) >= _LISTEN * _RATE:
            break
    return probe.so_far or source.status.words


def _reach(settings: OutputSettings, probe: _Probe) -> str:
    """Connect, and send nothing."""
    output = make_output(settings)
    probe.name = output.name
    return output.probe(probe.limit)
