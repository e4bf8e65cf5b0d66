"""What the tests of sources share: a clock set by hand, test tones, and how to measure them."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ssdpt.monitor.sources.base import Source
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import Clock

NOON = 1_700_000_000.0


class HandClock(Clock):
    """Stands still; who waits moves it on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.set_by = 0.0  # what the wall clock was set forward by
        self.waits: list[float] = []
        self.on_wait: Callable[[], None] = lambda: None

    def wall(self) -> float:
        return NOON + self.now + self.set_by

    def steady(self) -> float:
        return self.now

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += max(0.0, seconds)
        self.on_wait()
        return stop.is_set()


def tone(hz: float, seconds: float, rate: int, level: float = 0.25) -> np.ndarray:
    """A sine of amplitude `level`, (samples,) float32."""
    moments = np.arange(round(seconds * rate)) / rate
    return (level * np.sin(2 * np.pi * hz * moments)).astype(np.float32)


def amplitude(samples: np.ndarray, hz: float, rate: int) -> float:
    """Of the sine of `hz` in the samples."""
    window = np.hanning(len(samples))
    moments = np.arange(len(samples)) / rate
    return float(2 * abs(np.sum(window * samples * np.exp(-2j * np.pi * hz * moments)))) / float(
        window.sum()
    )


def loudest_hz(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * rate / len(samples))


def joined(chunks: Iterable[Chunk]) -> np.ndarray:
    return np.concatenate([chunk.samples for chunk in chunks])


def seconds_of(
    chunks: Iterator[Chunk], seconds: float, rate: int, deadline: float = 60.0
) -> list[Chunk]:
    """Chunks until they hold so many seconds of sound; fails where that takes too long."""
    last = time.monotonic() + deadline
    taken: list[Chunk] = []
    while sum(len(chunk.samples) for chunk in taken) < seconds * rate:
        assert time.monotonic() < last, f"{len(taken)} chunks after {deadline} s"
        taken.append(next(chunks))
    return taken


class Listener:
    """Listens to a source on a thread of its own, as the service does."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.chunks: list[Chunk] = []
        self.error: Exception | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Listener:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive(), "it does not stop"

    @property
    def seconds(self) -> float:
        return sum(len(chunk.samples) for chunk in self.chunks) / self.source.rate

    def _run(self) -> None:
        try:
            for chunk in self.source.chunks(self._stop):
                self.chunks.append(chunk)
        except Exception as error:
            self.error = error


def ends_meet(chunks: list[Chunk], rate: int) -> bool:
    """Whether each chunk begins where the last ended."""
    return all(
        abs(before.time + len(before.samples) / rate - after.time) < 1e-4
        for before, after in itertools.pairwise(chunks)
    )
