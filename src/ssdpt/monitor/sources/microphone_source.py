"""A sound card of this computer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import Field

from ssdpt.common.backoff import Backoff
from ssdpt.data.portaudio import sounddevice
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ChannelSettings
from ssdpt.monitor.sources.base import CHUNK_SECONDS, SourceLost, check_channel
from ssdpt.monitor.sources.block_converter import BlockConverter
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.reconnecting import ReconnectingSource
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_BLOCK = 0.1  # seconds that the sound card delivers at a time
_MAX_BLOCKS = 300  # that wait to be read; more are lost
_TIMEOUT = 3.0  # seconds without a block: the device is gone, although it does not say so
_POLL = 0.2  # seconds
_MAX_CHANNELS = 8  # of a real sound card

_devices = threading.Lock()
_open_devices = 0

_Block = tuple[float, Floats, bool]  # steady time, (samples, channels), samples lost before it


class MicrophoneSettings(ChannelSettings):
    """A sound card of this computer."""

    kind: Literal["microphone"] = "microphone"
    device: str = Field("", description="number or part of the name; empty = the default one")

    @property
    def reads_local_files(self) -> bool:
        return False


class MicrophoneSource(ReconnectingSource):
    """Records at the device's own rate; a device that is unplugged may come back."""

    settings_class = MicrophoneSettings

    def __init__(
        self,
        settings: MicrophoneSettings,
        rate: int,
        clock: Clock = SYSTEM,
        backoff: Backoff | None = None,
    ) -> None:
        super().__init__(settings, rate, clock, backoff)
        text = settings.device.strip()
        self._device = int(text) if text.isdecimal() else text or None
        self.name = (
            Sentence("sources.microphone", device=text)
            if text
            else Sentence("sources.defaultMicrophone")
        )

    def chunks_once(self, stop: threading.Event) -> Iterator[Chunk]:
        audio = sounddevice()
        device = self._find(audio)
        rate_in = int(device["default_samplerate"])
        channels = int(device["max_input_channels"])
        check_channel(self.name, self.channel, channels)
        blocks: queue.Queue[_Block] = queue.Queue(_MAX_BLOCKS)
        overrun = threading.Event()

        def receive(frames: Floats, count: int, times: object, flags: Any) -> None:
            lost = bool(flags.input_overflow) or overrun.is_set()
            try:
                blocks.put_nowait((self.clock.steady(), frames.copy(), lost))
                overrun.clear()
            except queue.Full:
                overrun.set()

        try:
            with (
                _counted_as_open(),
                audio.InputStream(
                    device=self._device,
                    samplerate=rate_in,
                    channels=_channels_to_record(self.channel, channels),
                    dtype="float32",
                    blocksize=round(_BLOCK * rate_in),
                    callback=receive,
                ),
            ):
                recording = Sentence("common.of", name=self.name, what=device["name"])
                self._connected(recording, rate_in, channels)
                yield from self._chunks_of(blocks, rate_in, stop)
        except audio.PortAudioError as error:
            raise SourceLost(
                Sentence("sources.notRecorded", name=self.name, reason=_reason(error))
            ) from error

    def _chunks_of(
        self, blocks: queue.Queue[_Block], rate_in: int, stop: threading.Event
    ) -> Iterator[Chunk]:
        converter: BlockConverter | None = None
        last = self.clock.steady()
        while not stop.is_set():
            try:
                arrived, frames, lost = blocks.get(timeout=_POLL)
            except queue.Empty:
                if self.clock.steady() - last > _TIMEOUT:
                    raise SourceLost(Sentence("sources.noSoundAnyMore", name=self.name)) from None
                continue
            last = self.clock.steady()
            if converter is None or lost:
                converter = BlockConverter(rate_in, self.rate, self.channel, CHUNK_SECONDS)
                self._times.restart()
            for samples in converter.feed(frames):
                yield self._times.chunk(samples, arrived)

    def _find(self, audio: Any) -> Any:
        """What PortAudio reports about the device; searches for new devices where it is missing."""
        try:
            return audio.query_devices(self._device, "input")
        except (audio.PortAudioError, ValueError) as error:
            if "Multiple" in str(error):
                raise SsdptError(Sentence("sources.severalDevices", name=self.name)) from error
            search_again(audio)
            raise SourceLost(
                Sentence("sources.notFound", name=self.name, reason=_reason(error))
            ) from error


@contextmanager
def _counted_as_open() -> Iterator[None]:
    """While at least one device is open, PortAudio must not be restarted."""
    global _open_devices
    with _devices:
        _open_devices += 1
    try:
        yield
    finally:
        with _devices:
            _open_devices -= 1


def _channels_to_record(channel: int, channels: int) -> int:
    """All channels of a sound card: asked for fewer, a sound server would mix them down.

    A sound server's own device claims dozens that do not exist; with two it does not mix.
    """
    return channels if channels <= _MAX_CHANNELS else max(2, channel + 1)


def search_again(audio: Any) -> None:
    """PortAudio lists devices only when it starts: restart it to see one plugged in later."""
    with _devices:
        if not _open_devices:
            audio._terminate()
            audio._initialize()


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())
