"""The contract of an output: it delivers messages to a receiver, and never blocks the service."""

from __future__ import annotations

import logging
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ssdpt.common.backoff import Backoff
from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.messages import Event, Message
from ssdpt.monitor.outputs.context import OutputContext
from ssdpt.monitor.outputs.outbox import Outbox
from ssdpt.sentences import Sentence, said

QUEUE_LIMIT = 1000  # messages that wait at most; events may exceed it
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OutputStatus:
    """How an output is doing."""

    message: str  # for people, without passwords
    healthy: bool  # the last attempt succeeded
    queued: int  # messages that wait or are being sent
    sent: int
    failed: int  # messages given up
    dropped: int  # readings and outdated states that did not fit, and messages after closing
    last_success: float | None = None  # when something was last delivered, seconds since 1970
    quiet_until: float | None = None  # end of the quiet hours that last now, seconds since 1970


class TryAgain(Exception):
    """The receiver cannot be reached or is busy. The text says why, without passwords."""

    def __init__(
        self, message: str, *, after: float | None = None, patience: float = math.inf
    ) -> None:
        """`after`: seconds to wait instead of the back-off; `patience`: in all, then give up."""
        super().__init__(message)
        self.after = after
        self.patience = patience


class Refused(Exception):
    """The receiver rejects this message, and will reject it later too. The text says why."""


class Output(ABC):
    """A bounded queue, and a thread that sends what is in it, in order.

    It is created with its settings and what it needs to know of the plant. Most outputs extend
    `RetryingOutput`, which needs only `probe` and `send`.
    """

    settings_class: ClassVar[type[OutputSettings]]
    accepts: ClassVar[tuple[type[Message], ...]]  # the messages it sends; others are ignored

    def __init__(
        self,
        name: str,
        context: OutputContext | None = None,
        *,
        queue_limit: int = QUEUE_LIMIT,
        pauses: Callable[[], Iterator[float]] = Backoff,
    ) -> None:
        """`name`: of the output, for people, without passwords."""
        self.name = name
        self.groups: tuple[str, ...] = ()  # of machines that it is about; empty: of all
        self._context_lock = threading.Lock()  # another thread changes it
        self._context = context or OutputContext()
        self._outbox = Outbox(queue_limit)
        self._pauses = pauses
        self._closing = threading.Event()  # what waits is still sent
        self._stopped = threading.Event()  # nothing more is sent
        self._thread = threading.Thread(target=self._run, name=f"output {name}", daemon=True)
        self._message: str = Sentence("outputs.nothingSentYet")
        self._healthy = True
        self._sent = 0
        self._failed = 0
        self._last_success: float | None = None

    @abstractmethod
    def probe(self, timeout: float) -> str:
        """Connect without sending anything; say for people what was found.

        Called without `start`. TryAgain: why it did not work within `timeout` seconds.
        """

    def test(self, timeout: float) -> str:
        """Send a test message beside the queue; say for people what the receiver answered.

        TryAgain or Refused: why it did not arrive within `timeout` seconds. A kind that cannot
        send one connects and says so.
        """
        return self.probe(timeout)

    def resume(self, events: Sequence[Event]) -> None:  # noqa: B027 (most need nothing)
        """Before the start: events of before that are active or unacknowledged, oldest first."""

    @abstractmethod
    def _run(self) -> None:
        """Send what is in the outbox until it is finished or the output is stopped."""

    def start(self) -> None:
        """Start to send."""
        self._thread.start()

    def publish(self, message: Message) -> None:
        """Queue a message. Never blocks, never raises."""
        if isinstance(message, self.accepts):
            self._outbox.put(message)
            self._wake()

    def update(self, context: OutputContext) -> None:
        """Use these machines, names and so on from now on. Never blocks."""
        with self._context_lock:
            self._context = context.keeping(self._context)
        self._wake()

    def close(self, timeout: float = 5.0) -> None:
        """Send what waits for at most `timeout` seconds, then stop."""
        self._outbox.close()
        self._closing.set()
        self._wake()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        self._stopped.set()
        self._wake()
        if self._thread.ident is not None:
            self._thread.join(1.0)
        unsent = len(self._outbox)
        if unsent:
            self._set_unhealthy(Sentence("outputs.closedWith", count=unsent))
        else:
            self._message = Sentence("outputs.closed")

    @property
    def status(self) -> OutputStatus:
        """How it is doing; may be read from any thread."""
        return OutputStatus(
            message=self._message,
            healthy=self._healthy,
            queued=len(self._outbox),
            sent=self._sent,
            failed=self._failed,
            dropped=self._outbox.dropped,
            last_success=self._last_success,
        )

    @abstractmethod
    def _wake(self) -> None:
        """Called after a change that the thread may wait for."""

    def _name_of(self, machine: str) -> str:
        return self._context.label(machine).name

    def _set_healthy(self, message: str) -> None:
        if not self._healthy:
            _LOG.info("%s: %s again", self.name, message)
        self._message, self._healthy = message, True

    def _set_unhealthy(self, message: str) -> None:
        if self._healthy:  # logged once, not with every attempt
            _LOG.warning("%s: %s", self.name, message)
        self._message, self._healthy = message, False

    def _delivered(self) -> None:
        self._count_delivered(self._outbox.done())

    def _count_delivered(self, count: int) -> None:
        self._sent += count
        self._last_success = time.time()

    def _give_up(self, message: str) -> None:
        _LOG.warning("%s: %s; message given up", self.name, message)
        self._message, self._healthy = message, False
        self._failed += self._outbox.done()


class RetryingOutput(Output):
    """Sends one message after the other; repeats each until it is accepted or refused."""

    def __init__(
        self,
        name: str,
        context: OutputContext | None = None,
        *,
        queue_limit: int = QUEUE_LIMIT,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`sleep` waits for some seconds; by default it ends when the output is closed."""
        super().__init__(name, context, queue_limit=queue_limit, pauses=pauses)
        self._sleep = sleep or self._sleep_unless_closed

    @abstractmethod
    def send(self, message: Message) -> None:
        """Send it once. TryAgain or Refused: why it was not accepted, without passwords."""

    def _wake(self) -> None:
        """The outbox and the events wake the thread themselves."""

    def _run(self) -> None:
        while not self._stopped.is_set() and (message := self._outbox.take()) is not None:
            self._deliver(message)

    def _deliver(self, message: Message) -> None:
        pauses = self._pauses()
        waited = 0.0
        while not self._stopped.is_set():
            try:
                self.send(message)
            except TryAgain as error:
                if waited >= error.patience:
                    self._give_up(Sentence("outputs.forTooLong", problem=error))
                    return
                self._set_unhealthy(said(error))
                pause = next(pauses) if error.after is None else error.after
                self._sleep(pause)
                waited += pause
            except Refused as error:
                self._give_up(said(error))
                return
            except Exception as error:
                # A fault of ours must not stop the messages behind it; its text may hold a secret.
                self._give_up(Sentence("outputs.notCreated", error=type(error).__name__))
                return
            else:
                self._delivered()
                self._set_healthy(Sentence("outputs.working"))
                return

    def _sleep_unless_closed(self, seconds: float) -> None:
        # After closing there is one more attempt at once, and then the usual pauses.
        (self._stopped if self._closing.is_set() else self._closing).wait(seconds)
