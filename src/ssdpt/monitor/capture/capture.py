"""One machine's ear: its source on a thread of its own, as sound, levels and frames.

The frames are the front end's own, fed with sound as it comes: a stream and a file of the same
samples give the same numbers.
"""

from __future__ import annotations

import logging
import threading
import time as clock
from collections import deque
from collections.abc import Iterator

import numpy as np

from ssdpt.errors import SsdptError
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.frame_window import FrameWindow
from ssdpt.monitor.capture.ring import Ring
from ssdpt.monitor.sources.base import Source
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.types import Floats

_LEVELS_KEPT = 120  # seconds
_LATE = 2.0  # seconds behind the clock; sound that comes live is never so late
_LOG = logging.getLogger(__name__)
_FRAMES_KEPT = 30.0  # seconds: a clip, and what comes while it is judged


class AudioCapture:
    """The source of one machine, listened to until it is stopped."""

    def __init__(
        self,
        name: str,
        source: Source,
        front_end: FrontEnd,
        rate: int,
        *,
        seconds: float,
        frame_seconds: float = _FRAMES_KEPT,
        in_files: bool = False,
    ) -> None:
        """`seconds` of sound are kept, and `frame_seconds` of frames.

        `in_files`: whether much sound may come at once.
        """
        self.in_files = in_files
        self.name, self.source, self.front_end, self.rate = name, source, front_end, rate
        self.ring = Ring(seconds, rate)
        kept = max(1, round(frame_seconds / front_end.frame_seconds))
        self.frames = FrameWindow(kept, front_end.bins)
        self.levels: deque[tuple[float, Loudness]] = deque(maxlen=_LEVELS_KEPT)  # by end of second
        self.heard_at = clock.monotonic()  # when the last chunk came
        self.lag = 0.0  # seconds from the last sample's time to its arrival here
        self.failure = ""  # why it has given up, in words
        self.begun = 0.0  # time of the first sample since the last gap
        self._second: list[Floats] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"ssdpt-hear-{name}", daemon=True)
        self.taken = threading.Event()  # the last second has been judged

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Tell it to end, and wait so long."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        chunks = self.source.chunks(self._stop)
        follows: Chunk | None = None  # the first chunk after a gap
        try:
            while not self._stop.is_set():
                stretch = _Stretch(chunks, follows)
                self.frames.clear()
                if follows is not None:
                    self.ring.skip(follows.gap)
                for frames in self.front_end.stream(self._samples(stretch)):
                    self.frames.add(frames)
                follows = stretch.after_gap
                if follows is None:
                    return
        except SsdptError as error:
            self.failure = str(error)
        except Exception as error:
            _LOG.exception("%s is no longer listened to", self.name)
            self.failure = f"listening ended with an error of its own ({error!r})"

    def _samples(self, stretch: _Stretch) -> Iterator[Floats]:
        """The samples of one stretch without gaps, with everything else that is told of them."""
        begun = False
        for chunk in stretch:
            if not begun:
                self.begun, begun = chunk.time, True
                self._second = []
            self.ring.add(chunk.samples, chunk.time)
            self._level(chunk)
            end = chunk.time + len(chunk.samples) / self.rate
            self.heard_at = clock.monotonic()
            self.lag = clock.time() - end
            yield chunk.samples
            if (self.in_files or self.lag > _LATE) and not self._second:
                # A file comes all at once: second by second, so that all of it is judged.
                self.taken.wait(_LATE)

    def _level(self, chunk: Chunk) -> None:
        self._second.append(chunk.samples)
        if sum(map(len, self._second)) >= self.rate:
            end = chunk.time + len(chunk.samples) / self.rate
            self.taken.clear()
            self.levels.append((end, Loudness.of(np.concatenate(self._second))))
            self._second = []


class _Stretch:
    """Chunks up to the next gap."""

    def __init__(self, chunks: Iterator[Chunk], first: Chunk | None) -> None:
        self._chunks, self._first = chunks, first
        self.after_gap: Chunk | None = None

    def __iter__(self) -> Iterator[Chunk]:
        if self._first is not None:
            yield self._first
        for chunk in self._chunks:
            if chunk.gap > 0:
                self.after_gap = chunk
                return
            yield chunk
