"""RTSP, HTTP or any other stream that ffmpeg can read."""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

import numpy as np
from pydantic import Field, field_validator

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ChannelSettings, SourceSettings
from ssdpt.monitor.sources.background import BackgroundIterator
from ssdpt.monitor.sources.base import CHUNK_SECONDS, SourceLost, check_channel
from ssdpt.monitor.sources.block_converter import BlockConverter
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.playback import PlaybackTimer
from ssdpt.monitor.sources.reconnecting import ReconnectingSource
from ssdpt.sentences import Sentence, said
from ssdpt.types import Floats

# Of addresses that may be added by HTTP; anything else might be a file of this computer.
STREAM_SCHEMES = ("rtsp", "rtsps", "rtmp", "http", "https", "udp", "rtp", "srt", "tcp")
# No `file`: a playlist from a server must not make ffmpeg read files of this computer.
_PROTOCOLS = "http,https,httpproxy,tcp,tls,udp,rtp,srtp,rtsp,rtsps,rtmp,rtmps,hls,crypto,srt,data"
HIDDEN = "…"  # in place of what is secret in an address
_MAX_FRAMES = 64  # that are decoded ahead
_MAX_AHEAD = 0.25  # seconds; a server may send faster than real time
_MIN_GAP = 0.1  # seconds between the time stamps of two frames
_MAX_GAP = 30.0  # seconds; more means that the server has reset its time stamps
_GRACE = 2.0  # seconds for ffmpeg to notice by itself that nothing arrives


class NetworkSettings(ChannelSettings):
    """RTSP, HTTP or any other stream that ffmpeg can read."""

    kind: Literal["network"] = "network"
    url: str = Field(description="rtsp://…, http://… or a file")
    timeout: float = Field(10.0, gt=0, description="seconds without data until it reconnects")

    @field_validator("url")
    @classmethod
    def _connects(cls, url: str) -> str:
        """ffmpeg would open a port of this computer and wait for anyone to send."""
        query = parse_qs(urlsplit(url).query, keep_blank_values=True)
        if "listen" in query or any(mode.lower() != "caller" for mode in query.get("mode", ())):
            raise ValueError(Sentence("sources.listens"))
        return url

    @property
    def reads_local_files(self) -> bool:
        scheme, separator, _ = self.url.partition("://")
        return not separator or scheme not in STREAM_SCHEMES

    def masked(self) -> Self:
        return self.model_copy(update={"url": without_password(self.url)})

    def with_secrets_of(self, stored: SourceSettings) -> Self:
        if HIDDEN not in self.url:
            return self
        if isinstance(stored, NetworkSettings) and self.url == without_password(stored.url):
            return self.model_copy(update={"url": stored.url})
        # A password is only ever sent to where it was meant for.
        raise SsdptError(Sentence("sources.hiddenPassword"))


@dataclass(frozen=True, slots=True)
class _Frame:
    samples: Floats  # (samples, channels)
    rate: int
    time: float | None  # seconds on the stream's own clock


class NetworkSource(ReconnectingSource):
    """Reconnects to a live stream whenever it breaks; plays a file once."""

    settings_class = NetworkSettings

    def __init__(
        self,
        settings: NetworkSettings,
        rate: int,
        clock: Clock = SYSTEM,
        backoff: Backoff | None = None,
    ) -> None:
        super().__init__(settings, rate, clock, backoff)
        self._url = settings.url
        self._timeout = settings.timeout
        self.name = without_password(settings.url)

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        return self._play_file(stop) if _is_file(self._url) else super().chunks(stop)

    def chunks_once(self, stop: threading.Event) -> Iterator[Chunk]:
        converter: BlockConverter | None = None
        rate_in, expected = 0, None
        began = self.clock.steady()
        for frame in self._frames(stop):
            gap = 0.0
            if frame.time is not None:
                gap = 0.0 if expected is None else frame.time - expected
                expected = frame.time + len(frame.samples) / frame.rate
            if converter is None:
                self._times.restart(began)
                connected = Sentence("sources.connectedTo", name=self.name)
                self._connected(connected, frame.rate, frame.samples.shape[1])
            elif _MIN_GAP < gap < _MAX_GAP:
                yield from self._with_times([converter.finish()], stop)
                self._times.skip(gap)
                converter = None
            if converter is None or frame.rate != rate_in:
                converter = BlockConverter(frame.rate, self.rate, self.channel, CHUNK_SECONDS)
                rate_in = frame.rate
            yield from self._with_times(converter.feed(frame.samples), stop)

    def _with_times(self, blocks: list[Floats], stop: threading.Event) -> Iterator[Chunk]:
        for samples in filter(len, blocks):
            if self._times.ahead > _MAX_AHEAD:
                self.clock.wait(stop, self._times.ahead - _MAX_AHEAD)
            if stop.is_set():
                return
            yield self._times.chunk(samples)

    def _play_file(self, stop: threading.Event) -> Iterator[Chunk]:
        """A file of this computer, in real time."""
        path = Path(self._url.removeprefix("file://").removeprefix("file:"))
        if not path.is_file():
            raise SsdptError(Sentence("sources.noFile", path=path))
        converter: BlockConverter | None = None
        timer = PlaybackTimer(self.rate, clock=self.clock)
        try:
            for frame in self._frames(stop, str(path)):
                if converter is None:
                    converter = BlockConverter(frame.rate, self.rate, self.channel, CHUNK_SECONDS)
                    playing = Sentence("sources.playing", file=path)
                    self._connected(playing, frame.rate, frame.samples.shape[1])
                for samples in converter.feed(frame.samples):
                    yield timer.chunk(samples, stop)
        except SourceLost as lost:
            if converter is None:
                raise SsdptError(said(lost)) from lost
            if len(rest := converter.finish()):
                yield timer.chunk(rest, stop)
            self._update_status(connected=False, message=Sentence("sources.playedToEnd", path=path))

    def _frames(self, stop: threading.Event, url: str = "") -> Iterator[_Frame]:
        """Decoded on a thread of its own, since ffmpeg cannot be interrupted while it waits."""
        av = _av()
        last = self.clock.steady()

        def decoded() -> Iterator[_Frame]:
            return _decoded(av, url or self._url, self.name, self._timeout)

        with BackgroundIterator(decoded, _MAX_FRAMES) as frames:
            while not stop.is_set():
                try:
                    frame = frames.get()
                except EOFError:
                    raise SourceLost(Sentence("sources.streamEnded", name=self.name)) from None
                now = self.clock.steady()
                if frame is not None:
                    check_channel(self.name, self.channel, frame.samples.shape[1])
                    yield frame
                    last = self.clock.steady()
                elif now - last > self._timeout + _GRACE:
                    raise SourceLost(
                        Sentence("sources.noData", name=self.name, seconds=self._timeout)
                    )


def without_password(url: str) -> str:
    """The address as it may be shown; cameras take passwords in query and path as well."""
    # The second form is a password with a slash, although that is wrong; a port is not one.
    url = re.sub(r"(?<=://)([^/]*|[^/]*:(?!\d+/)[^@]*)@", f"{HIDDEN}@", url)
    url = re.sub(r"\?.*", f"?{HIDDEN}", url)
    return re.sub(r"(?<==)[^/]+", HIDDEN, url)


def _decoded(av: Any, url: str, name: str, timeout: float) -> Iterator[_Frame]:
    options = {"rtsp_flags": "prefer_tcp", "analyzeduration": "2000000"}
    if not _is_file(url):
        options["protocol_whitelist"] = _PROTOCOLS
    try:
        with av.open(
            url, options=options, timeout=(timeout, timeout), metadata_errors="replace"
        ) as container:
            if not container.streams.audio:
                raise SsdptError(Sentence("sources.noAudio", name=name))
            for packet in container.demux(container.streams.audio[0]):
                try:
                    frames = packet.decode()
                except av.error.InvalidDataError:
                    continue  # damaged on the way; the time stamps show what is missing
                for frame in frames:
                    yield _Frame(_floats(frame), frame.sample_rate, frame.time)
    except (av.error.ProtocolNotFoundError, av.error.DemuxerNotFoundError) as error:
        raise SsdptError(Sentence("sources.unsupportedStream", name=name)) from error
    except (av.error.HTTPUnauthorizedError, av.error.HTTPForbiddenError) as error:
        raise SsdptError(Sentence("sources.accessDenied", name=name)) from error
    except av.error.ExitError as error:
        raise SourceLost(Sentence("sources.noData", name=name, seconds=timeout)) from error
    except av.error.FFmpegError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceLost(Sentence("common.of", name=name, what=reason)) from error


def _floats(frame: Any) -> Floats:
    """(samples, channels) within ±1."""
    array: np.ndarray = frame.to_ndarray()
    channels = frame.layout.nb_channels
    frames = array.T if frame.format.is_planar else array.reshape(-1, channels)
    if frames.dtype == np.uint8:
        return (frames.astype(np.float32) - 128) / np.float32(128)
    if np.issubdtype(frames.dtype, np.integer):
        return frames.astype(np.float32) / np.float32(-float(np.iinfo(frames.dtype).min))
    return frames.astype(np.float32)


def _is_file(url: str) -> bool:
    return url.startswith("file:") or "://" not in url


def _av() -> Any:
    try:
        return importlib.import_module("av")
    except ImportError as error:
        raise SsdptError(Sentence("sources.needsAv")) from error
