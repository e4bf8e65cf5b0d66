"""The contract of a source of operating data, and what all of them share."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ssdpt.common.background_thread import BackgroundThread
from ssdpt.common.backoff import Backoff
from ssdpt.monitor.config import OperatingDataSettings
from ssdpt.monitor.messages import OperatingData, OperatingDataSourceState
from ssdpt.monitor.operating.reported_value import ImplausibleValue, NoValue, bounded, is_plausible
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.sentences import Sentence, clauses, said

_POLL = 0.2  # seconds between looks at whether to stop


@dataclass(frozen=True, slots=True)
class _Value:
    """One value, and when it was last reported."""

    value: bool | float
    wall: float  # seconds since 1970
    steady: float  # seconds of a clock that is never set


class OperatingDataSource(ABC):
    """Keeps the last values of one machine. May be asked from any thread.

    A subclass names its settings and calls `_report` whenever values come. A value that cannot be
    right is missing until the next one that can be; the status says so.
    """

    settings_class: ClassVar[type[OperatingDataSettings]]

    def __init__(self, settings: OperatingDataSettings, clock: Clock = SYSTEM) -> None:
        self.settings, self.clock = settings, clock
        self._values: dict[str, _Value] = {}
        self._connected = False
        self._message: str = Sentence("sources.notConnectedYet")
        self._rejected, self._last_rejected = 0, ""
        self._distrusted: dict[str, str] = {}  # why, by the name of a value that is unknown for it
        self._lock = threading.Lock()

    @abstractmethod
    def start(self) -> None:
        """Begin to receive."""

    @abstractmethod
    def ask_to_stop(self) -> None:
        """It shall end soon; does not wait."""

    @abstractmethod
    def stop(self, timeout: float = 5.0) -> None:
        """End, and wait for that for at most `timeout` seconds."""

    @abstractmethod
    def probe(self, timeout: float) -> str:
        """Try the connection for a check of the configuration; a sentence, or SourceLost."""

    @property
    def status(self) -> OperatingDataSourceState:
        """Whether values arrive."""
        with self._lock:
            message = self._message
            if self._rejected:
                left_out = Sentence(
                    "operating.valuesLeftOut", count=self._rejected, last=self._last_rejected
                )
                message = clauses(message, left_out)
            message = clauses(message, *self._distrusted.values())
            return OperatingDataSourceState(
                kind=self.settings.kind,
                connected=self._connected,
                message=message,
                max_age=self.settings.max_age,
            )

    @property
    def data(self) -> OperatingData | None:
        """What is known now; None where nothing was reported yet.

        A value that is too old is unknown, and so is every value that has no greatest age while
        there is no connection.
        """
        with self._lock:
            if not self._values:
                return None
            known = {name: one.value for name, one in self._values.items() if self._is_known(one)}
            at = max(one.wall for one in self._values.values())
        speed, above = known.get("speed_rpm"), self.settings.running_above_rpm
        if "running" not in known and speed is not None and above is not None:
            known["running"] = speed > above
        return OperatingData(at=at, **known)

    def _is_known(self, value: _Value) -> bool:
        if self.settings.max_age is None:
            return self._connected
        return self.clock.steady() - value.steady <= self.settings.max_age

    def _report(self, name: str, read: Callable[[], bool | float]) -> str:
        """Take the value that `read` gives; gives why it is left out, or nothing.

        `name`: running, speed_rpm or load_percent. One that cannot be right is missing at once: the
        value before would pretend that it is still measured.
        """
        try:
            value = self._checked(name, read())
        except ImplausibleValue as error:
            with self._lock:
                self._rejected += 1
                self._last_rejected = said(error)
                if not isinstance(error, NoValue):
                    self._values.pop(name, None)
                    self._distrusted.pop(name, None)
            return said(error)
        reported = _Value(value, self.clock.wall(), self.clock.steady())
        with self._lock:
            self._values[name] = reported
            self._distrusted.pop(name, None)
        return ""

    def _checked(self, name: str, value: bool | float) -> bool | float:
        speed, load = float(self.settings.max_speed_rpm), float(self.settings.max_load_percent)
        if name == "speed_rpm" and not is_plausible(value, speed):
            raise ImplausibleValue(
                Sentence("operating.implausibleSpeed", value=bounded(value), highest=speed)
            )
        if name == "load_percent" and not is_plausible(value, load):
            raise ImplausibleValue(
                Sentence("operating.implausibleLoad", value=bounded(value), highest=load)
            )
        return value

    def _distrust(self, name: str, why: str) -> None:
        """The control system itself says that it does not know a value, or not for certain."""
        with self._lock:
            self._values.pop(name, None)
            self._distrusted[name] = why

    def _set_status(self, *, connected: bool, message: str) -> None:
        with self._lock:
            self._connected, self._message = connected, message


class ConnectedOperatingData(OperatingDataSource):
    """Stays connected on a thread of its own, and reconnects after waits that grow."""

    def __init__(self, settings: OperatingDataSettings, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, clock)
        self._backoff = Backoff()
        self._thread = _ReceiverThread(self._stay_connected)

    def start(self) -> None:
        self._thread.start()

    def ask_to_stop(self) -> None:
        self._thread.ask_to_stop()

    def stop(self, timeout: float = 5.0) -> None:
        self._thread.stop(timeout)

    @property
    @abstractmethod
    def peer(self) -> str:
        """Who sends the values, for messages; without passwords."""

    @abstractmethod
    async def _receive(self, connected: Callable[[str], None]) -> None:
        """Connect, call `connected` with a sentence, and receive until the connection breaks.

        Raises where it breaks, or cannot be made. It is cancelled when the service stops.
        """

    def _reason(self, error: Exception) -> str:
        """Why there is no connection, in a few words."""
        text = said(error)
        return (
            text if isinstance(text, Sentence) else " ".join(text.split()) or type(error).__name__
        )

    async def _stay_connected(self, stop: threading.Event) -> None:
        while not stop.is_set():
            receiving = asyncio.create_task(self._receive(self._connection_made))
            try:
                await _until_done_or_stopped(receiving, stop)
                reason: str = Sentence("sources.connectionClosed")
            except Exception as error:  # of the library, the network or the peer
                reason = self._reason(error)
            if stop.is_set():
                break
            wait = next(self._backoff)
            problem = Sentence("sources.noConnection", name=self.peer, reason=reason)
            message = Sentence("sources.retrying", problem=problem, seconds=round(wait, 1))
            self._set_status(connected=False, message=message)
            await _pause(stop, wait)
        self._set_status(connected=False, message=Sentence("sources.stopped"))

    def _connection_made(self, message: str) -> None:
        self._backoff.reset()
        self._set_status(connected=True, message=message)


class _ReceiverThread(BackgroundThread):
    """Runs an asynchronous function until it is stopped."""

    def __init__(self, work: Callable[[threading.Event], Any]) -> None:
        super().__init__("ssdpt-operating-data")
        self._work = work

    def _run(self) -> None:
        asyncio.run(self._work(self._stop))


async def _until_done_or_stopped(task: asyncio.Task[None], stop: threading.Event) -> None:
    """Wait for a task, and raise what it raises; cancel it when `stop` is set."""
    while not task.done() and not stop.is_set():
        await asyncio.wait([task], timeout=_POLL)
    if task.done():
        task.result()
        return
    task.cancel()
    await asyncio.wait([task], timeout=2.0)


async def _pause(stop: threading.Event, seconds: float) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not stop.is_set() and (left := end - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(min(_POLL, left))
