"""What Prometheus reads."""

from __future__ import annotations

import contextlib
import importlib
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, get_args

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import STATES, Event, EventLevel, MachineState, Reading
from ssdpt.monitor.outputs.base import OutputStatus
from ssdpt.monitor.outputs.messages import (
    EventChanged,
    MachineRemoved,
    Message,
    ReadingTaken,
    StateChanged,
)
from ssdpt.version import __version__

_DELAYS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # seconds
REMEMBERED = 10_000  # events
_UNJUDGED: tuple[MachineState, ...] = ("starting", "learning", "off", "lost")


class SourceFacts(Protocol):
    """What is shown of a source."""

    @property
    def connected(self) -> bool: ...
    @property
    def reconnects(self) -> int: ...
    @property
    def gaps(self) -> int: ...
    @property
    def drift_ppm(self) -> float: ...
    @property
    def speed(self) -> float: ...


class OutputFacts(Protocol):
    """What is shown of an output."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> OutputStatus: ...


class Metrics:
    """A registry of its own, so that several services can live in one process.

    Takes messages as an output does, but has nobody to wait for and so no queue.
    """

    def __init__(
        self, uncleared: Iterable[Event] = (), *, clock: Callable[[], float] = time.time
    ) -> None:
        """`uncleared`: events of before that are not cleared; `clock`: seconds since 1970."""
        client = _prometheus_client()
        self.content_type: str = client.CONTENT_TYPE_LATEST
        self._client = client
        self._clock = clock
        self._registry = registry = client.CollectorRegistry()
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, set[str]] = OrderedDict()  # counted, by event
        machine = ["machine"]
        self._score = client.Gauge(
            "ssdpt_score", "Smoothed score; higher = more anomalous", machine, registry=registry
        )
        self._level = client.Gauge(
            "ssdpt_level_dbfs", "Level of the last second", machine, registry=registry
        )
        self._state = client.Gauge(
            "ssdpt_state", "1 for the state it is in", ["machine", "state"], registry=registry
        )
        self._readings = client.Counter(
            "ssdpt_readings_total", "Seconds that were heard", machine, registry=registry
        )
        self._events = client.Counter(
            "ssdpt_events_total",
            "Events by the levels they reached",
            ["machine", "level"],
            registry=registry,
        )
        self._delay = client.Histogram(
            "ssdpt_delay_seconds",
            "From the end of a sound to its reading",
            machine,
            buckets=_DELAYS,
            registry=registry,
        )
        client.Info("ssdpt", "The running service", registry=registry).info(
            {"version": __version__}
        )
        self._watched = _Watched()
        registry.register(self._watched)
        for event in uncleared:
            self._note(event, new=False)

    def publish(self, message: Message) -> None:
        """Count it; never waits for anyone."""
        with self._lock:
            match message:
                case StateChanged(machine=machine, state=state):
                    self._stands(machine, state)
                    if state in _UNJUDGED:
                        self._score.labels(machine).set(math.nan)
                    if state == "lost":
                        self._level.labels(machine).set(math.nan)
                case EventChanged(event=event):
                    self._count(event)
                case ReadingTaken(reading=reading):
                    self._show(reading)
                case MachineRemoved(machine=machine):
                    self._forget(machine)

    def watch_sources(self, sources: Mapping[str, Callable[[], SourceFacts]]) -> None:
        """Ask these from now on, by machine, whenever someone reads."""
        self._watched.sources = dict(sources)

    def watch_outputs(self, outputs: Sequence[OutputFacts]) -> None:
        """Ask these from now on whenever someone reads."""
        self._watched.outputs = dict(_distinct(outputs))

    def text(self) -> bytes:
        """Everything in Prometheus' text format; see `content_type`."""
        return self._client.generate_latest(self._registry)

    def _stands(self, machine: str, state: MachineState) -> None:
        for name in STATES:
            self._state.labels(machine, name).set(name == state)

    def _show(self, reading: Reading) -> None:
        self._stands(reading.machine, reading.state)
        for level in get_args(EventLevel):
            # From 0 on: a counter that appears at 1 has not risen, as Prometheus sees it.
            self._events.labels(reading.machine, level)
        smoothed = math.nan if reading.smoothed is None else reading.smoothed
        self._score.labels(reading.machine).set(smoothed)
        self._level.labels(reading.machine).set(reading.level_dbfs)
        self._readings.labels(reading.machine).inc()
        source = self._watched.sources.get(reading.machine)
        if source is None or source().speed == 1:
            # Faster or slower than real time, its times are not those of the clock.
            delay = self._clock() - reading.time
            self._delay.labels(reading.machine).observe(max(0.0, delay))

    def _count(self, event: Event) -> None:
        # One that people have seen, or that is over, was there before this process.
        new = event.acknowledged_at is None and event.ended is None
        levels = self._note(event, new=new)
        if event.level not in levels:
            levels.add(event.level)
            self._events.labels(event.machine, event.level).inc()

    def _note(self, event: Event, *, new: bool) -> set[str]:
        """Remember whether it is open; the levels at which it has been counted."""
        opened = self._watched.uncleared
        if event.state == "cleared":
            opened.pop(event.id, None)
        else:
            opened[event.id] = event.machine
        levels = self._levels.setdefault(event.id, set() if new else {event.level})
        for remembered in (opened, self._levels):
            if len(remembered) > REMEMBERED:
                remembered.popitem(last=False)
        return levels

    def _forget(self, machine: str) -> None:
        rows = [
            *((metric, (machine,)) for metric in (self._score, self._level, self._readings)),
            (self._delay, (machine,)),
            *((self._state, (machine, state)) for state in STATES),
            *((self._events, (machine, level)) for level in get_args(EventLevel)),
        ]
        for metric, labels in rows:
            with contextlib.suppress(KeyError):  # it never had such a row
                metric.remove(*labels)


class _Watched:
    """What is asked for only when someone reads."""

    def __init__(self) -> None:
        self.sources: Mapping[str, Callable[[], SourceFacts]] = {}
        self.outputs: Mapping[str, OutputFacts] = {}
        self.uncleared: OrderedDict[str, str] = OrderedDict()  # machines by event, oldest first
        self._core: Any = importlib.import_module("prometheus_client.core")

    def collect(self) -> Iterator[Any]:
        """All of it, as prometheus_client wants it."""
        sources = {(machine,): facts() for machine, facts in self.sources.items()}
        outputs = {(name,): output.status for name, output in self.outputs.items()}
        gauge, counter = self._core.GaugeMetricFamily, self._core.CounterMetricFamily
        for family, name, words, read in (
            (gauge, "connected", "1 while sound comes in", lambda s: s.connected),
            (counter, "reconnects", "Times it had to connect again", lambda s: s.reconnects),
            (counter, "gaps", "Times sound was missing", lambda s: s.gaps),
            (gauge, "drift_ppm", "Its clock against ours", lambda s: s.drift_ppm),
        ):
            yield _family(family(f"ssdpt_source_{name}", words, labels=["machine"]), sources, read)
        # Of machines that are listened to: those of others are in the history.
        count = Counter(list(self.uncleared.values()))
        uncleared = {(machine,): count[machine] for machine in self.sources}
        opened = gauge("ssdpt_events_open", "Events that are not cleared", labels=["machine"])
        yield _family(opened, uncleared, float)
        for family, name, words, read in (
            (gauge, "queued", "Messages that wait", lambda s: s.queued),
            (gauge, "healthy", "1 while the last attempt went well", lambda s: s.healthy),
            (counter, "sent", "Messages sent", lambda s: s.sent),
            (counter, "failed", "Messages given up", lambda s: s.failed),
            (counter, "dropped", "Messages that made way", lambda s: s.dropped),
        ):
            yield _family(family(f"ssdpt_output_{name}", words, labels=["output"]), outputs, read)


def _family(family: Any, facts: Mapping[tuple[str], Any], read: Callable[[Any], float]) -> Any:
    for labels, status in facts.items():
        family.add_metric(labels, float(read(status)))
    return family


def _distinct(outputs: Sequence[OutputFacts]) -> Iterator[tuple[str, OutputFacts]]:
    """Two outputs to the same host are told apart by a number."""
    seen: dict[str, int] = {}
    for output in outputs:
        count = seen[output.name] = seen.get(output.name, 0) + 1
        yield (output.name if count == 1 else f"{output.name} #{count}"), output


def _prometheus_client() -> Any:
    try:
        return importlib.import_module("prometheus_client")
    except ImportError as error:
        raise SsdptError(
            "metrics need the package prometheus-client; install it with: "
            "pip install 'ssdpt[serve]'"
        ) from error
