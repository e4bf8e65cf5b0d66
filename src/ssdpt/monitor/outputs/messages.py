"""What outputs are told, and how it looks as JSON."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ssdpt.monitor.messages import Event, MachineState, Reading


class _Changes:
    """Numbers that rise with every change, over restarts as well: milliseconds at the least."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1_000_000)
            return self._last


_CHANGES = _Changes()


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A machine is in another state than before."""

    machine: str
    state: MachineState
    at: float
    score: float | None = None  # smoothed


@dataclass(frozen=True, slots=True)
class EventChanged:
    """An event as it is now: it began, got worse, ended, or someone did something to it.

    `change` rises with every change. Who tells the same change again gives its number again, so
    that receivers know it.
    """

    event: Event
    change: int = field(default_factory=_CHANGES.next)

    @property
    def delivery(self) -> str:
        """The same for every attempt to tell this change."""
        return f"{self.event.id}-{self.change}"


@dataclass(frozen=True, slots=True)
class ReadingTaken:
    """A machine was heard for another second."""

    reading: Reading


@dataclass(frozen=True, slots=True)
class MachineRemoved:
    """A machine is no longer listened to."""

    machine: str


Message = StateChanged | EventChanged | ReadingTaken | MachineRemoved


def event_json(event: Event) -> dict[str, Any]:
    """An event as the HTTP interface, webhooks and MQTT show it."""
    acknowledged = event.acknowledged_at is not None
    return {
        "id": event.id,
        "machine": event.machine,
        "kind": event.kind,
        "level": event.level,
        "state": event.state,
        "began": event.began,
        "ended": event.ended,
        "peak": event.peak,
        "threshold": event.threshold,
        "words": event.words,
        "label": event.label,
        "acknowledged": (
            {"who": event.acknowledged_by, "at": event.acknowledged_at} if acknowledged else None
        ),
        "comments": [asdict(comment) for comment in event.comments],
        "has_audio": event.audio_begin is not None,
        "audio_begin": event.audio_begin,
        "top_bands_hz": [list(band) for band in event.top_bands_hz],
    }


def change_json(message: EventChanged) -> dict[str, Any]:
    """A change of an event with what tells it from every other one."""
    return {
        "delivery": message.delivery,
        "change": message.change,
        **event_json(message.event),
    }


def encoded(content: Mapping[str, Any]) -> bytes:
    """UTF-8 JSON that every parser takes: numbers that are not finite become null."""
    return json.dumps(_finite(content), ensure_ascii=False, allow_nan=False).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
