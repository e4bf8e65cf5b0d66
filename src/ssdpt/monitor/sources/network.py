"""RTSP, HTTP or any other stream that ffmpeg knows."""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import NetworkSettings
from ssdpt.monitor.sources.ahead import Ahead
from ssdpt.monitor.sources.base import CHUNK_SECONDS, SourceLost, check_channel
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.pace import Pace
from ssdpt.monitor.sources.reconnecting import ReconnectingSource
from ssdpt.monitor.sources.resampler import Blocks
from ssdpt.types import Floats

# No `file`: what a server names as its next part must not be read from this computer.
_PROTOCOLS = "http,https,httpproxy,tcp,tls,udp,rtp,srtp,rtsp,rtsps,rtmp,rtmps,hls,crypto,srt,data"
_MOST_HELD = 64  # frames that are decoded ahead
_MOST_AHEAD = 0.25  # seconds; a server may send faster than time passes
_LEAST_MISSING = 0.1  # seconds between the time stamps of two frames
_MOST_MISSING = 30.0  # seconds; more is a server that has set its time stamps anew
_GRACE = 2.0  # seconds for ffmpeg to notice by itself that nothing comes


@dataclass(frozen=True, slots=True)
class _Frame:
    samples: Floats  # (samples, channels)
    rate: int
    moment: float | None  # seconds on the stream's own clock


class NetworkSource(ReconnectingSource):
    """A live stream is connected to again whenever it breaks; a file is played once."""

    def __init__(
        self,
        settings: NetworkSettings,
        rate: int,
        clock: Clock = SYSTEM,
        backoff: Backoff | None = None,
    ) -> None:
        super().__init__(rate, settings.channel, clock, backoff)
        self._url = settings.url
        self._timeout = settings.timeout
        self.name = without_password(settings.url)

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        return self._play(stop) if _is_file(self._url) else super().chunks(stop)

    def once(self, stop: threading.Event) -> Iterator[Chunk]:
        blocks: Blocks | None = None
        rate_in, due = 0, None
        began = self.clock.steady()
        for frame in self._frames(stop):
            missing = 0.0
            if frame.moment is not None:
                missing = 0.0 if due is None else frame.moment - due
                due = frame.moment + len(frame.samples) / frame.rate
            if blocks is None:
                self._times.restart(began)
                self._connected(f"listening to {self.name}", frame.rate, frame.samples.shape[1])
            elif _LEAST_MISSING < missing < _MOST_MISSING:
                yield from self._stamped([blocks.finish()], stop)
                self._times.skip(missing)
                blocks = None
            if blocks is None or frame.rate != rate_in:
                blocks = Blocks(frame.rate, self.rate, self.channel, CHUNK_SECONDS)
                rate_in = frame.rate
            yield from self._stamped(blocks.feed(frame.samples), stop)

    def _stamped(self, blocks: list[Floats], stop: threading.Event) -> Iterator[Chunk]:
        for samples in filter(len, blocks):
            if self._times.ahead > _MOST_AHEAD:
                self.clock.wait(stop, self._times.ahead - _MOST_AHEAD)
            if stop.is_set():
                return
            yield self._times.chunk(samples)

    def _play(self, stop: threading.Event) -> Iterator[Chunk]:
        """A file of this computer, at its own pace."""
        path = Path(self._url.removeprefix("file://").removeprefix("file:"))
        if not path.is_file():
            raise SsdptError(f"{path}: there is no such file; check the path")
        blocks: Blocks | None = None
        pace = Pace(self.rate, clock=self.clock)
        try:
            for frame in self._frames(stop, str(path)):
                if blocks is None:
                    blocks = Blocks(frame.rate, self.rate, self.channel, CHUNK_SECONDS)
                    self._connected(f"playing {path}", frame.rate, frame.samples.shape[1])
                for samples in blocks.feed(frame.samples):
                    yield pace.chunk(samples, stop)
        except SourceLost as lost:
            if blocks is None:
                raise SsdptError(str(lost)) from lost
            if len(rest := blocks.finish()):
                yield pace.chunk(rest, stop)
            self._tell(connected=False, words=f"{path}: played to its end")

    def _frames(self, stop: threading.Event, url: str = "") -> Iterator[_Frame]:
        """Decoded on a thread of its own, since ffmpeg cannot be told to stop waiting."""
        av = _av()
        last = self.clock.steady()

        def decoded() -> Iterator[_Frame]:
            return _decoded(av, url or self._url, self.name, self._timeout)

        with Ahead(decoded, _MOST_HELD) as ahead:
            while not stop.is_set():
                try:
                    frame = ahead.get()
                except EOFError:
                    raise SourceLost(f"{self.name}: the stream has ended") from None
                now = self.clock.steady()
                if frame is not None:
                    check_channel(self.name, self.channel, frame.samples.shape[1])
                    yield frame
                    last = self.clock.steady()
                elif now - last > self._timeout + _GRACE:
                    raise SourceLost(f"{self.name}: nothing came for {self._timeout:g} s")


def without_password(url: str) -> str:
    """The address as it may be shown: cameras take passwords in query and path as well."""
    # The second form is a password with a slash, wrong as that is; a port is none.
    url = re.sub(r"(?<=://)([^/]*|[^/]*:(?!\d+/)[^@]*)@", "…@", url)
    url = re.sub(r"\?.*", "?…", url)
    return re.sub(r"(?<==)[^/]+", "…", url)


def _decoded(av: Any, url: str, name: str, timeout: float) -> Iterator[_Frame]:
    options = {"rtsp_flags": "prefer_tcp", "analyzeduration": "2000000"}
    if not _is_file(url):
        options["protocol_whitelist"] = _PROTOCOLS
    try:
        with av.open(
            url, options=options, timeout=(timeout, timeout), metadata_errors="replace"
        ) as container:
            if not container.streams.audio:
                raise SsdptError(f"{name}: there is no sound in it, only pictures or data")
            for packet in container.demux(container.streams.audio[0]):
                try:
                    frames = packet.decode()
                except av.error.InvalidDataError:
                    continue  # damaged on the way; the time stamps tell what is missing
                for frame in frames:
                    yield _Frame(_floats(frame), frame.sample_rate, frame.time)
    except (av.error.ProtocolNotFoundError, av.error.DemuxerNotFoundError) as error:
        raise SsdptError(f"{name}: no such kind of stream is known; check the address") from error
    except (av.error.HTTPUnauthorizedError, av.error.HTTPForbiddenError) as error:
        raise SsdptError(f"{name}: access is refused; check user and password") from error
    except av.error.ExitError as error:
        raise SourceLost(f"{name}: nothing came for {timeout:g} s") from error
    except av.error.FFmpegError as error:
        raise SourceLost(f"{name}: {(error.strerror or str(error)).lower()}") from error


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
        raise SsdptError(
            "a network stream needs the package av; install it with: pip install 'ssdpt[stream]'"
        ) from error
