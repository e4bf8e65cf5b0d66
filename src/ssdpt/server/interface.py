"""What the server needs from the monitor, so that both sides are checked against one list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ssdpt.monitor.messages import Event, EventLabel
from ssdpt.types import Floats


class Subscription(Protocol):
    """What the monitor says as it happens, as {"event": …, "data": …}.

    Events are called machine, reading, event, and removed for a machine that is no longer there.
    Iterating blocks until there is something, and ends after `close`, from whatever thread.
    """

    def __iter__(self) -> Iterator[dict[str, Any]]: ...

    def close(self) -> None: ...


class MetricsText(Protocol):
    """What Prometheus reads."""

    content_type: str

    def text(self) -> bytes: ...


class MonitorApi(Protocol):
    """The monitor, seen from outside; safe to call from any thread.

    Machines that are not there are `UnknownMachine`; what cannot be done now is an SsdptError.
    """

    @property
    def ready(self) -> bool:
        """The watch runs and the store takes what comes; a machine that is lost is an event."""

    @property
    def machines(self) -> Mapping[str, object]:
        """By id."""

    @property
    def metrics(self) -> MetricsText: ...

    def plant(self) -> dict[str, Any]:
        """The whole plant, with its machines."""

    def snapshots(self) -> list[dict[str, Any]]:
        """Every machine as it is now."""

    def snapshot(self, machine: str, /) -> dict[str, Any]:
        """One machine as it is now."""

    def subscribe(self) -> Subscription: ...

    def acknowledge(self, event: str, who: str, comment: str = "", /) -> Event: ...

    def comment(self, event: str, who: str, text: str, /) -> Event: ...

    def label(self, event: str, label: EventLabel, who: str, /) -> Event: ...

    def mute(self, machine: str, until: float | None, /) -> None:
        """No new events until then; None ends it."""

    def rebaseline(self, machine: str, /) -> None: ...

    def start_learning(self, machine: str, minutes: float, /) -> None: ...

    def stop_learning(self, machine: str, /) -> None: ...

    def name_point(self, machine: str, number: int, name: str, /) -> None:
        """Give an operating point, counted from 1, a name."""

    def thresholds(self, machine: str, per_week: float, /) -> dict[str, Any]:
        """What the limits would be with so many false alerts a week."""

    def set_thresholds(self, machine: str, per_week: float, /) -> dict[str, Any]: ...

    def push(
        self, machine: str, samples: Floats, rate: int, channels: int, time: float | None, /
    ) -> None:
        """Take samples (frames, channels) within ±1; `time` is that of the first one."""

    def spectrum(self, machine: str, /) -> dict[str, Any]: ...

    def waterfall(self, machine: str, seconds: float, /) -> dict[str, Any]: ...

    def normal_sample(self, machine: str, /) -> bytes:
        """A FLAC file of what the machine normally sounds like."""

    def event_spectrogram(self, event: str, /) -> dict[str, Any]: ...

    def models(self) -> list[dict[str, Any]]: ...

    def add_machine(self, settings: Mapping[str, Any], /) -> str:
        """Listen to one more; gives its id."""

    def remove_machine(self, machine: str, /) -> None:
        """No longer listen to one that was added."""
