"""Captures one machine: its source on a thread of its own, as samples, levels and frames.

The frames are those of the model's front end, computed once as sound arrives: a stream and a file
of the same samples give the same numbers. The log-mel for spectra and pictures is a part of them
where the front end has one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time as clock
from collections import deque
from collections.abc import Generator, Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ssdpt.config.settings import FeatureConfig
from ssdpt.errors import SsdptError
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.indicators import IndicatorMeter, Indicators
from ssdpt.features.logmel import LogMel
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.base import Capture
from ssdpt.monitor.capture.frame_window import FrameWindow
from ssdpt.monitor.capture.recent_sound import RecentSound
from ssdpt.monitor.capture.ring import Ring
from ssdpt.monitor.sources.base import Source
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.sentences import Sentence, said
from ssdpt.types import Floats

_LEVELS_KEPT = 120  # seconds
_REST_AFTER = 0.3  # seconds that a recording waits for more of it
_LATE = 2.0  # seconds behind the clock; live sound is never so late
_SILENCE_DB = -100.0  # of the log-mel in a gap
_MIN_SPECTRUM_SECONDS = 0.5
_LOG = logging.getLogger(__name__)
# The sound of all machines may come in one moment. As many captures compute at a time as there are
# cores: more would not be faster, and requests would wait behind all of them for Python's lock.
_COMPUTING = threading.BoundedSemaphore(os.cpu_count() or 1)


class AudioCapture(Capture):
    """Captures a stream of sound."""

    source: Source

    def __init__(
        self,
        name: str,
        source: Source,
        front_end: FrontEnd,
        rate: int,
        *,
        seconds: float,
        frame_seconds: float = 30.0,
        recent_seconds: float = 0.0,
        in_files: bool = False,
    ) -> None:
        """Keeps `seconds` of samples and log-mel, and `frame_seconds` of the model's frames.

        `recent_seconds`: of sound that can be kept on demand. `in_files`: whether much sound may
        arrive at once.
        """
        super().__init__(name, source, at_intervals=in_files)
        self.in_files = in_files
        self.front_end, self.rate = front_end, rate
        self.samples = Ring(seconds, rate)
        self.recent = RecentSound(recent_seconds, rate)
        kept = max(1, round(frame_seconds / front_end.frame_seconds))
        self.frames = FrameWindow(kept, front_end.bins)
        # A second log-mel is computed only for models that use none.
        own = None if front_end.mel_bins else LogMel(FeatureConfig(), rate)
        self._own_log_mel = None if own is None else _LogMelFeed(own)
        shown = own or front_end
        self.frequencies = shown.frequencies[: shown.mel_bins]  # Hz of the log-mel
        self.mel_seconds = shown.frame_seconds  # from one log-mel frame to the next
        self.log_mel = Ring(seconds, 1 / self.mel_seconds, (shown.mel_bins,), _SILENCE_DB)
        self.levels: deque[tuple[float, Loudness]] = deque(maxlen=_LEVELS_KEPT)  # by end of second
        # Of the same seconds: what the limits of change are compared with.
        self.indicators: deque[tuple[float, Indicators]] = deque(maxlen=_LEVELS_KEPT)
        self._meter = IndicatorMeter(rate, rate)
        self.lag = 0.0  # seconds from the time of the last sample to its arrival here
        self.begun = 0.0  # time of the first sample since the last gap
        self._second = np.empty(0, np.float32)  # the samples since the last whole second
        self._second_lock = threading.Lock()  # the loop may complete a second
        self._waiting_since: float | None = None  # for the next chunk; None: one is processed
        self._mel_frames = 0  # since the last gap

    def spectrum(self, end: float, seconds: float = 1.0) -> Floats | None:
        """The mean log-mel (bins,) in dB of the last seconds; None where too little is there.

        Frames are centred on their time, so the newest are still missing at `end`.
        """
        last = min(end, self.log_mel.end)
        frames, _ = self.log_mel.between(max(last - seconds, self.begun), last)
        if len(frames) * self.mel_seconds < min(seconds, _MIN_SPECTRUM_SECONDS):
            return None
        return frames.mean(0)

    @property
    def band_edges(self) -> Floats:
        """(bands + 1,) Hz, of the bands of the indicators."""
        return self._meter.edges

    def indicators_at(self, end: float) -> Indicators | None:
        """Those of the second that ended then; None where it is not held."""
        held = list(self.indicators)  # in one step: the capture adds to them meanwhile
        return next((one for time, one in reversed(held) if time == end), None)

    def _run(self) -> None:
        chunks = self.source.chunks(self._stop)
        first: Chunk | None = None  # after a gap
        try:
            while not self._stop.is_set():
                stretch = _Stretch(chunks, first)
                self.frames.clear()
                if first is not None:
                    self.samples.skip(first.gap)
                    self.recent.skip(first.gap)
                    self.log_mel.skip(first.gap)
                self._compute_frames(stretch)
                first = stretch.after_gap
                if first is None:
                    return
        except SsdptError as error:
            self.failure = said(error)
        except Exception as error:
            _LOG.exception("capture of %s has ended", self.name)
            self.failure = Sentence("sources.captureEnded", error=repr(error))

    def _compute_frames(self, stretch: _Stretch) -> None:
        """Frames of one stretch without gaps, as its samples arrive."""
        self._mel_frames = 0
        if self._own_log_mel is not None:
            self._own_log_mel.restart()
        # Closed at once after an error, so that it does not keep the others from computing.
        with contextlib.closing(self._samples(stretch)) as samples:
            for frames in self.front_end.stream(samples):
                self.frames.add(frames)
                if self._own_log_mel is None:
                    self._add_log_mel(frames[:, : self.front_end.mel_bins])

    def _add_log_mel(self, frames: Floats) -> None:
        self.log_mel.add(frames, self.begun + self._mel_frames * self.mel_seconds)
        self._mel_frames += len(frames)

    def _samples(self, stretch: _Stretch) -> Generator[Floats]:
        """The samples of one stretch; levels and times are noted on the way."""
        begun = False
        for chunk in stretch:
            self._waiting_since = None
            with _COMPUTING:
                if not begun:
                    self.begun, begun = chunk.time, True
                    with self._second_lock:
                        self._second = self._second[:0]
                self.samples.add(chunk.samples, chunk.time)
                self.recent.add(chunk.samples, chunk.time)
                if self._own_log_mel is not None:
                    self._add_log_mel(self._own_log_mel.feed(chunk.samples))
                end = chunk.time + len(chunk.samples) / self.rate
                self.last_chunk_at = clock.monotonic()
                self.arrivals.note(self.last_chunk_at, len(chunk.samples) / self.rate)
                self.lag = clock.time() - end
                yield chunk.samples
                # After the frames of the chunk: a second is judged as soon as its level is known.
                complete = self._add_to_second(chunk.samples, end)
            if complete and (self.in_files or self.lag > _LATE):
                # A file arrives at once: wait after every second, so that each is judged.
                self.second_judged.wait(_LATE)
            self._waiting_since = clock.monotonic()
        self._waiting_since = None
        if self.in_files:  # another recording follows at once
            self._complete_second()
            self.second_judged.wait(_LATE)

    def complete_recording(self) -> None:
        """Where no more of a recording comes, count its rest as a second.

        Otherwise the last second of a recording of 9.99 seconds would be judged with the next
        recording, or never.
        """
        since = self._waiting_since
        if self.in_files and since is not None and clock.monotonic() - since > _REST_AFTER:
            self._complete_second()

    def _complete_second(self) -> None:
        with self._second_lock:
            rest = self._second
            if len(rest) >= self.rate / 2:
                self._second = rest[:0]
                self._end_second(rest, self.samples.end)

    def _add_to_second(self, samples: Floats, end: float) -> bool:
        """Whether these samples, a second at most, up to the time `end`, complete one.

        Seconds are whole, however long the pieces are in which sound arrives.
        """
        with self._second_lock:
            held = np.concatenate([self._second, samples])
            second, self._second = held[: self.rate], held[self.rate :]
            if len(second) < self.rate:
                self._second = held
                return False
            self._end_second(second, end - len(self._second) / self.rate)
            return True

    def _end_second(self, second: Floats, end: float) -> None:
        self.second_judged.clear()
        self.indicators.append((end, self._meter.of(second)))
        self.levels.append((end, Loudness.of(second)))  # last: whoever sees it finds the rest


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


class _LogMelFeed:
    """A log-mel that is fed with samples and gives the frames that they complete."""

    def __init__(self, log_mel: LogMel) -> None:
        self._log_mel = log_mel
        self.restart()

    def restart(self) -> None:
        """After a gap; the first frame is centred on the first sample."""
        self._pending = np.zeros(self._log_mel.config.n_fft // 2, np.float32)

    def feed(self, samples: Floats) -> Floats:
        """(n,) samples to (frames, bins) in dB."""
        window, hop = self._log_mel.config.n_fft, self._log_mel.config.hop_length
        pending = np.concatenate([self._pending, samples])
        ready = max((len(pending) - window) // hop + 1, 0)
        self._pending = pending[ready * hop :]
        if not ready:
            return np.zeros((0, self._log_mel.bins), np.float32)
        windows = sliding_window_view(pending, window)[: ready * hop : hop]  # (frames, window)
        return self._log_mel.of_windows(windows)
