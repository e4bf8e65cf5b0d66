"""The metrics that Prometheus reads."""

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
from ssdpt.monitor.messages import (
    STATES,
    Event,
    EventChanged,
    EventLevel,
    MachineRemoved,
    MachineState,
    Message,
    Reading,
    ReadingTaken,
    StateChanged,
)
from ssdpt.monitor.outputs.base import OutputStatus
from ssdpt.sentences import Sentence
from ssdpt.version import __version__

_DELAYS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # seconds
MAX_EVENTS = 10_000  # that are remembered
_UNSCORED: tuple[MachineState, ...] = ("starting", "learning", "off", "lost")


class SourceCounters(Protocol):
    """The status of a source, as far as it is shown."""

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


class NamedOutput(Protocol):
    """An output, as far as it is shown."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> OutputStatus: ...


class Metrics:
    """A registry of its own, so that several services can run in one process.

    Accepts messages as an output does, but sends nothing and so needs no queue.
    """

    def __init__(
        self, uncleared: Iterable[Event] = (), *, clock: Callable[[], float] = time.time
    ) -> None:
        """`uncleared`: earlier events that are not cleared; `clock`: seconds since 1970."""
        client = _prometheus_client()
        self.content_type: str = client.CONTENT_TYPE_LATEST
        self._client = client
        self._clock = clock
        self._registry = registry = client.CollectorRegistry()
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, set[str]] = OrderedDict()  # counted, by event
        machine = ["machine"]
        self._score = client.Gauge(
            "ssdpt_score",
            "Smoothed anomaly score; higher = more anomalous",
            machine,
            registry=registry,
        )
        self._level = client.Gauge(
            "ssdpt_level_dbfs", "Sound level of the last second in dBFS", machine, registry=registry
        )
        self._state = client.Gauge(
            "ssdpt_state",
            "1 for the current state of the machine",
            ["machine", "state"],
            registry=registry,
        )
        self._readings = client.Counter(
            "ssdpt_readings_total", "Seconds of sound processed", machine, registry=registry
        )
        self._events = client.Counter(
            "ssdpt_events_total",
            "Events by the level they reached",
            ["machine", "level"],
            registry=registry,
        )
        self._delay = client.Histogram(
            "ssdpt_delay_seconds",
            "Seconds from the end of a second of sound to its score",
            machine,
            buckets=_DELAYS,
            registry=registry,
        )
        client.Info("ssdpt", "The running version", registry=registry).info(
            {"version": __version__}
        )
        self._collector = _Collector()
        registry.register(self._collector)
        for event in uncleared:
            self._remember(event, new=False)

    def publish(self, message: Message) -> None:
        """Count it; never blocks."""
        with self._lock:
            match message:
                case StateChanged(machine=machine, state=state):
                    self._set_state(machine, state)
                    if state in _UNSCORED:
                        self._score.labels(machine).set(math.nan)
                    if state == "lost":
                        self._level.labels(machine).set(math.nan)
                case EventChanged(event=event):
                    self._count_event(event)
                case ReadingTaken(reading=reading):
                    self._set_reading(reading)
                case MachineRemoved(machine=machine):
                    self._remove(machine)

    def watch_sources(self, sources: Mapping[str, Callable[[], SourceCounters]]) -> None:
        """Show the status of these sources from now on, by machine."""
        self._collector.sources = dict(sources)

    def watch_questions(self, questions: Callable[[], Mapping[str, bool]]) -> None:
        """Show from now on of which machines a person is asked whether they are healthy."""
        self._collector.questions = questions

    def watch_shedding(
        self, degree: Callable[[], int], left_out: Callable[[], Mapping[str, int]]
    ) -> None:
        """Show from now on how much is left out for lack of computing time.

        `left_out`: seconds of machines so far, by what was not done with them.
        """
        self._collector.shedding_degree, self._collector.left_out = degree, left_out

    def watch_outputs(self, outputs: Sequence[NamedOutput]) -> None:
        """Show the status of these outputs from now on."""
        self._collector.outputs = dict(_numbered(outputs))

    def text(self) -> bytes:
        """Everything in Prometheus' text format; see `content_type`."""
        return self._client.generate_latest(self._registry)

    def _set_state(self, machine: str, state: MachineState) -> None:
        for name in STATES:
            self._state.labels(machine, name).set(name == state)

    def _set_reading(self, reading: Reading) -> None:
        self._set_state(reading.machine, reading.state)
        for level in get_args(EventLevel):
            # From 0 on: to Prometheus, a counter that appears at 1 has not increased.
            self._events.labels(reading.machine, level)
        smoothed = math.nan if reading.smoothed is None else reading.smoothed
        self._score.labels(reading.machine).set(smoothed)
        self._level.labels(reading.machine).set(reading.level_dbfs)
        self._readings.labels(reading.machine).inc()
        source = self._collector.sources.get(reading.machine)
        if source is None or source().speed == 1:
            # Times of sound that is played faster or slower are not those of the clock.
            delay = self._clock() - reading.time
            self._delay.labels(reading.machine).observe(max(0.0, delay))

    def _count_event(self, event: Event) -> None:
        # An event that is acknowledged or over began before this process.
        new = event.acknowledged is None and event.ended is None
        levels = self._remember(event, new=new)
        if event.level not in levels:
            levels.add(event.level)
            self._events.labels(event.machine, event.level).inc()

    def _remember(self, event: Event, *, new: bool) -> set[str]:
        """Remember whether it is open; return the levels at which it was counted."""
        uncleared = self._collector.uncleared
        if event.state == "cleared":
            uncleared.pop(event.id, None)
        else:
            uncleared[event.id] = event.machine
        levels = self._levels.setdefault(event.id, set() if new else {event.level})
        for remembered in (uncleared, self._levels):
            if len(remembered) > MAX_EVENTS:
                remembered.popitem(last=False)
        return levels

    def _remove(self, machine: str) -> None:
        rows = [
            *((metric, (machine,)) for metric in (self._score, self._level, self._readings)),
            (self._delay, (machine,)),
            *((self._state, (machine, state)) for state in STATES),
            *((self._events, (machine, level)) for level in get_args(EventLevel)),
        ]
        for metric, labels in rows:
            with contextlib.suppress(KeyError):  # there was no such row
                metric.remove(*labels)


class _Collector:
    """Values that are read only when Prometheus asks."""

    def __init__(self) -> None:
        self.sources: Mapping[str, Callable[[], SourceCounters]] = {}
        self.outputs: Mapping[str, NamedOutput] = {}
        self.questions: Callable[[], Mapping[str, bool]] = dict
        self.shedding_degree: Callable[[], int] = int
        self.left_out: Callable[[], Mapping[str, int]] = dict
        self.uncleared: OrderedDict[str, str] = OrderedDict()  # machines by event, oldest first
        self._core: Any = importlib.import_module("prometheus_client.core")

    def collect(self) -> Iterator[Any]:
        """All values in the form that prometheus_client expects."""
        sources = {(machine,): status() for machine, status in self.sources.items()}
        outputs = {(name,): output.status for name, output in self.outputs.items()}
        gauge, counter = self._core.GaugeMetricFamily, self._core.CounterMetricFamily
        for family, name, description, read in (
            (gauge, "connected", "1 while sound arrives", lambda s: s.connected),
            (counter, "reconnects", "Times the source reconnected", lambda s: s.reconnects),
            (counter, "gaps", "Times sound was missing", lambda s: s.gaps),
            (
                gauge,
                "drift_ppm",
                "Clock of the source against the computer's, above 0: fast",
                lambda s: s.drift_ppm,
            ),
        ):
            yield _filled(
                family(f"ssdpt_source_{name}", description, labels=["machine"]), sources, read
            )
        # Only of monitored machines: events of removed ones are in the history.
        count = Counter(list(self.uncleared.values()))
        uncleared = {(machine,): count[machine] for machine in self.sources}
        family = gauge("ssdpt_events_open", "Events that are not cleared", labels=["machine"])
        yield _filled(family, uncleared, float)
        asked = {(machine,): is_asked for machine, is_asked in self.questions().items()}
        family = gauge(
            "ssdpt_question", "1 while someone is asked if it is healthy", labels=["machine"]
        )
        yield _filled(family, asked, float)
        yield gauge(
            "ssdpt_shedding_degree",
            "How much is left out because scoring cannot keep up; 0 = nothing",
            value=self.shedding_degree(),
        )
        family = counter(
            "ssdpt_left_out_seconds",
            "Seconds of machines that were unscored or skipped by rule, or missed",
            labels=["what"],
        )
        yield _filled(family, {(what,): one for what, one in self.left_out().items()}, float)
        for family, name, description, read in (
            (gauge, "queued", "Messages waiting to be sent", lambda s: s.queued),
            (gauge, "healthy", "1 if the last attempt succeeded", lambda s: s.healthy),
            (counter, "sent", "Messages sent", lambda s: s.sent),
            (counter, "failed", "Messages given up", lambda s: s.failed),
            (counter, "dropped", "Messages dropped from a full queue", lambda s: s.dropped),
        ):
            yield _filled(
                family(f"ssdpt_output_{name}", description, labels=["output"]), outputs, read
            )


def _filled(family: Any, statuses: Mapping[tuple[str], Any], read: Callable[[Any], float]) -> Any:
    """The metric family with one value for each status."""
    for labels, status in statuses.items():
        family.add_metric(labels, float(read(status)))
    return family


def _numbered(outputs: Sequence[NamedOutput]) -> Iterator[tuple[str, NamedOutput]]:
    """Two outputs with the same name get different numbers."""
    counts: dict[str, int] = {}
    for output in outputs:
        count = counts[output.name] = counts.get(output.name, 0) + 1
        yield (output.name if count == 1 else f"{output.name} #{count}"), output


def _prometheus_client() -> Any:
    try:
        return importlib.import_module("prometheus_client")
    except ImportError as error:
        raise SsdptError(Sentence("outputs.needsPrometheus")) from error
