"""What the server needs from the monitoring service; both sides are checked against this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ssdpt.alarms.thresholds import Thresholds
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.messages import (
    Event,
    EventLabel,
    EventSpectrogram,
    MachineStatus,
    ModelInfo,
    ServiceStatus,
    Spectrogram,
    Spectrum,
)
from ssdpt.server.live_messages import Update
from ssdpt.types import Floats


class Subscription(Protocol):
    """Updates of the service as they happen.

    Iterating blocks until there is one, and ends after `close`, from any thread.
    """

    def __iter__(self) -> Iterator[Update]: ...

    def close(self) -> None: ...


class MetricsText(Protocol):
    """What Prometheus reads."""

    content_type: str

    def text(self) -> bytes: ...


class ServiceApi(Protocol):
    """The monitoring service, seen from outside; safe to call from any thread.

    An unknown machine is `UnknownMachine`; what cannot be done now is an SsdptError.
    """

    @property
    def ready(self) -> bool:
        """Whether the service runs and its store accepts writes."""

    @property
    def metrics(self) -> MetricsText: ...

    def machine_ids(self) -> list[str]: ...

    def status(self) -> ServiceStatus: ...

    def machine_statuses(self) -> list[MachineStatus]: ...

    def machine_status(self, machine: str, /) -> MachineStatus: ...

    def subscribe(self) -> Subscription: ...

    def acknowledge(self, event: str, who: str, comment: str = "", /) -> Event: ...

    def comment(self, event: str, who: str, text: str, /) -> Event: ...

    def label(self, event: str, label: EventLabel, who: str, /) -> Event: ...

    def mute(self, machine: str, until: float | None, /) -> None:
        """No new events until then; None ends it."""

    def accept_drift(self, machine: str, /) -> None:
        """The recent sound is normal from now on."""

    def start_learning(self, machine: str, minutes: float, /) -> None: ...

    def stop_learning(self, machine: str, /) -> None: ...

    def name_operating_point(self, machine: str, number: int, name: str, /) -> None:
        """Name an operating point; they are counted from 1."""

    def thresholds(self, machine: str, false_alerts_per_week: float, /) -> Thresholds:
        """What the thresholds would be."""

    def set_false_alerts(self, machine: str, false_alerts_per_week: float, /) -> Thresholds: ...

    def push(
        self, machine: str, samples: Floats, rate: int, channels: int, time: float | None, /
    ) -> None:
        """Add samples (frames, channels) within ±1; `time` is that of the first one."""

    def spectrum(self, machine: str, /) -> Spectrum: ...

    def spectrogram(self, machine: str, seconds: float, /) -> Spectrogram:
        """Of the last seconds."""

    def normal_sample(self, machine: str, /) -> bytes:
        """A FLAC file of the machine's normal sound."""

    def event_spectrogram(self, event: str, /) -> EventSpectrogram: ...

    def models(self) -> list[ModelInfo]: ...

    def add_machine(self, settings: MachineSettings, /) -> str:
        """Monitor one more machine; returns its id."""

    def remove_machine(self, machine: str, /) -> None:
        """Stop monitoring a machine that was added on the page."""
