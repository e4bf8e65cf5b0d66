"""The contract of a source of live sound."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ChannelSettings, SourceSettings
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

if TYPE_CHECKING:
    from ssdpt.monitor.sources.snapshot import SnapshotSource
    from ssdpt.monitor.sources.snapshot_message import SnapshotMessage

CHUNK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How a source is doing."""

    connected: bool
    message: str  # for people, without passwords
    since: float  # seconds since 1970 of the last change of `connected`
    rate_in: int = 0  # Hz, of what comes in; 0 = not known yet
    channels_in: int = 0
    reconnects: int = 0
    gaps: int = 0
    drift_ppm: float = 0.0  # above 0: the source's clock is fast against this computer's
    speed: float = 1.0  # playback speed relative to real time; 1 for live sound


class SourceLost(Exception):
    """The connection broke or could not be made; trying again may help. The text says why."""


@runtime_checkable
class PushableSource(Protocol):
    """A source that other programs send sound to."""

    def push(self, samples: Floats, rate: int, channels: int, time: float | None) -> float:
        """Add sound (frames, channels); gives how many seconds of it are new."""


@runtime_checkable
class SnapshotReceiver(Protocol):
    """A source that other programs send snapshots to."""

    def push_message(self, message: SnapshotMessage) -> float:
        """Add a snapshot; gives its length in seconds."""


class SourceWithStatus(ABC):
    """What sources of sound and of snapshots have in common: settings, clock, status."""

    settings_class: ClassVar[type[SourceSettings]]

    def __init__(self, settings: SourceSettings, clock: Clock = SYSTEM) -> None:
        self.clock = clock
        speed = settings.playback_speed
        self._status = SourceStatus(
            False,
            Sentence("sources.notStarted"),
            clock.wall(),
            speed=1.0 if speed is None else speed,
        )

    @property
    def status(self) -> SourceStatus:
        """How it is doing; may be read from any thread."""
        return self._status

    def _update_status(self, *, connected: bool | None = None, **changes: Any) -> None:
        """Change the status; replaced as a whole, so that readers never see half of a change."""
        if connected is not None and connected != self._status.connected:
            changes |= {"connected": connected, "since": self.clock.wall()}
        self._status = replace(self._status, **changes)


class Source(SourceWithStatus):
    """Sound as it arrives: mono chunks at one rate, each with the time of its first sample.

    A subclass names its settings and gives the chunks. It is created with its settings, the rate of
    the chunks in Hz, and the clock. `snapshot_class` is the source of snapshots of the same kind,
    where there is one.
    """

    snapshot_class: ClassVar[type[SnapshotSource] | None] = None

    def __init__(self, settings: SourceSettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, clock)
        self.rate = rate
        self.channel = settings.channel if isinstance(settings, ChannelSettings) else 0

    @abstractmethod
    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        """Chunks of about 0.25 s and at most 1 s until `stop` is set. Blocks while it waits.

        A source that loses its connection reconnects by itself. The iterator ends early only where
        no more sound can come. Raises SsdptError where trying again cannot help.
        """

    def chunks_once(self, stop: threading.Event) -> Iterator[Chunk]:
        """As `chunks`, but raises SourceLost instead of trying again. For a quick check."""
        return self.chunks(stop)

    def _count_gap(self, chunk: Chunk) -> Chunk:
        if chunk.gap > 0:
            self._update_status(gaps=self._status.gaps + 1)
        return chunk


def check_channel(name: str, channel: int, channels: int) -> None:
    """SsdptError where the sound `name` has no such channel."""
    if channel >= channels:
        raise SsdptError(
            Sentence(
                "sources.noChannel", name=name, channel=channel, count=channels, last=channels - 1
            )
        )
