"""Whether the sound of a machine, or of a source on trial, can be listened to live."""

from __future__ import annotations

from typing import Protocol

from ssdpt.monitor.capture.arrivals import Arrivals
from ssdpt.monitor.capture.ring import Ring
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.messages import Listening
from ssdpt.sentences import Sentence

REASONS: dict[Listening, str] = {
    "switched_off": Sentence("machines.listeningOff"),
    "snapshots": Sentence("machines.onlySnapshots"),
    "at_intervals": Sentence("machines.atIntervals"),
    "other_speed": Sentence("machines.otherSpeed"),
}


class SoundStream(Protocol):
    """Sound as it arrives, held for some seconds."""

    rate: int  # Hz
    samples: Ring
    arrivals: Arrivals
    in_files: bool  # whether much sound may arrive at once
    last_chunk_at: float  # when something last arrived, by the monotonic clock


class HasSound(Protocol):
    """A machine, or its source on trial."""

    settings: MachineSettings

    @property
    def stream(self) -> SoundStream | None:
        """None: it sends snapshots."""
        ...


def listening(subject: HasSound, config: MonitorConfig) -> Listening:
    """Whether it can be listened to live, or why not."""
    stream, source = subject.stream, subject.settings.source
    if not config.live_listening:
        return "switched_off"
    if stream is None:
        return "snapshots"
    if config.speed != 1 or source.playback_speed not in (None, 1):
        return "other_speed"
    return "possible" if not stream.in_files or stream.arrivals.steady else "at_intervals"
