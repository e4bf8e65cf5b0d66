"""A sound card of this computer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ssdpt.common.backoff import Backoff
from ssdpt.data.portaudio import sounddevice
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MicrophoneSettings
from ssdpt.monitor.sources.base import CHUNK_SECONDS, SourceLost, check_channel
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.reconnecting import ReconnectingSource
from ssdpt.monitor.sources.resampler import Blocks
from ssdpt.types import Floats

_BLOCK = 0.1  # seconds that the sound card hands over at a time
_MOST_HELD = 300  # blocks; what comes while nobody listens longer than that is lost
_SILENCE = 3.0  # seconds without a block: the device is gone, although it does not say so
_LOOK = 0.2  # seconds
_MOST_CHANNELS = 8  # of a sound card

_devices = threading.Lock()
_open_devices = 0


class MicrophoneSource(ReconnectingSource):
    """Recorded at the device's own rate; a device that is unplugged may come back."""

    def __init__(
        self,
        settings: MicrophoneSettings,
        rate: int,
        clock: Clock = SYSTEM,
        backoff: Backoff | None = None,
    ) -> None:
        super().__init__(rate, settings.channel, clock, backoff)
        text = settings.device.strip()
        self._device = int(text) if text.isdecimal() else text or None
        self.name = f"microphone {text}" if text else "the default microphone"

    def once(self, stop: threading.Event) -> Iterator[Chunk]:
        audio = sounddevice()
        about = self._find(audio)
        rate_in = int(about["default_samplerate"])
        channels = int(about["max_input_channels"])
        check_channel(self.name, self.channel, channels)
        held: queue.Queue[tuple[float, Floats, bool]] = queue.Queue(_MOST_HELD)
        overrun = threading.Event()

        def take(frames: Floats, count: int, moments: object, flags: Any) -> None:
            lost = bool(flags.input_overflow) or overrun.is_set()
            try:
                held.put_nowait((self.clock.steady(), frames.copy(), lost))
                overrun.clear()
            except queue.Full:
                overrun.set()

        try:
            with (
                _counted(),
                audio.InputStream(
                    device=self._device,
                    samplerate=rate_in,
                    channels=_opened(self.channel, channels),
                    dtype="float32",
                    blocksize=round(_BLOCK * rate_in),
                    callback=take,
                ),
            ):
                self._connected(f"{self.name}: {about['name']}", rate_in, channels)
                yield from self._cut(held, rate_in, stop)
        except audio.PortAudioError as error:
            raise SourceLost(f"{self.name}: cannot be recorded ({_reason(error)})") from error

    def _cut(
        self, held: queue.Queue[tuple[float, Floats, bool]], rate_in: int, stop: threading.Event
    ) -> Iterator[Chunk]:
        lost, last = True, self.clock.steady()
        while not stop.is_set():
            try:
                arrived, frames, overflow = held.get(timeout=_LOOK)
            except queue.Empty:
                if self.clock.steady() - last > _SILENCE:
                    raise SourceLost(f"{self.name}: gives no sound any more") from None
                continue
            last = self.clock.steady()
            if lost or overflow:
                blocks = Blocks(rate_in, self.rate, self.channel, CHUNK_SECONDS)
                self._times.restart()
                lost = False
            for samples in blocks.feed(frames):
                yield self._times.chunk(samples, arrived)

    def _find(self, audio: Any) -> Any:
        """What PortAudio knows of the device; looks for new ones if it does not know it."""
        try:
            return audio.query_devices(self._device, "input")
        except (audio.PortAudioError, ValueError) as error:
            if "Multiple" in str(error):
                raise SsdptError(
                    f"{self.name}: several are called so; give more of the name, or the number "
                    f"that `python -m sounddevice` shows"
                ) from error
            _look_again(audio)
            raise SourceLost(f"{self.name}: not found ({_reason(error)})") from error


@contextmanager
def _counted() -> Iterator[None]:
    """While at least one device is open, PortAudio must not be started anew."""
    global _open_devices
    with _devices:
        _open_devices += 1
    try:
        yield
    finally:
        with _devices:
            _open_devices -= 1


def _opened(channel: int, channels: int) -> int:
    """How many channels to record: all of them, since a sound server would mix fewer from them.

    A server's own device has dozens, which are not there; two are the least that it does not mix.
    """
    return channels if channels <= _MOST_CHANNELS else max(2, channel + 1)


def _look_again(audio: Any) -> None:
    """PortAudio lists devices only when it starts: one plugged in later is seen only so."""
    with _devices:
        if not _open_devices:
            audio._terminate()
            audio._initialize()


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())
