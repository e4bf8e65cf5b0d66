"""An output: tells someone else what happened, without ever holding up who heard it."""

from __future__ import annotations

import logging
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ssdpt.common.backoff import Backoff
from ssdpt.monitor.outputs.messages import Message
from ssdpt.monitor.outputs.outbox import Outbox

ROOM = 1000  # messages that wait at most; events may exceed it
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OutputStatus:
    """How an output fares."""

    words: str
    healthy: bool  # the last attempt went well
    queued: int  # messages that wait or are on their way
    sent: int
    failed: int  # given up
    dropped: int  # readings and overtaken states that made way, and what came after the end


class TryAgain(Exception):
    """The receiver is away or busy."""

    def __init__(
        self, words: str, *, after: float | None = None, patience: float = math.inf
    ) -> None:
        """`after`: seconds to wait instead of the back-off; `patience`: in all, then give up."""
        super().__init__(words)
        self.after = after
        self.patience = patience


class Refused(Exception):
    """The receiver does not want this message, and will not want it later."""


class Output(ABC):
    """A bounded queue and one thread that empties it, in order."""

    wants: ClassVar[tuple[type, ...]]  # the messages it has a use for; others pass by

    def __init__(
        self,
        name: str,
        titles: Mapping[str, str] | None = None,
        *,
        room: int = ROOM,
        pauses: Callable[[], Iterator[float]] = Backoff,
    ) -> None:
        """`titles`: names for people by machine, until `rename` tells others."""
        self.name = name  # for people; holds no secret
        self._names = threading.Lock()  # of the titles, which another thread changes
        self._titles = dict(titles or {})
        self._outbox = Outbox(room)
        self._pauses = pauses
        self._closing = threading.Event()  # what waits is still sent
        self._stopped = threading.Event()  # nothing more is
        self._thread = threading.Thread(target=self._work, name=f"output {name}", daemon=True)
        self._words = "has not sent anything yet"
        self._healthy = True
        self._sent = 0
        self._failed = 0

    @abstractmethod
    def probe(self, timeout: float) -> str:
        """Connect as for sending, and send nothing; what was found, in words without a secret.

        Without `start`. TryAgain: why not, where nothing is heard of it for `timeout` seconds too.
        """

    @abstractmethod
    def _work(self) -> None:
        """Send what is in the outbox until it is finished or the output is stopped."""

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def publish(self, message: Message) -> None:
        """Tell it sooner or later. Never waits, never raises."""
        if isinstance(message, self.wants):
            self._outbox.put(message)
            self._wake()

    def rename(self, titles: Mapping[str, str]) -> None:
        """These are the machines from now on, with their names for people. Never waits."""
        with self._names:
            # A machine that is gone keeps its name: messages about it may still wait.
            self._titles = {**self._titles, **titles}
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
        left = len(self._outbox)
        if left:
            self._troubled(f"was closed with {left} messages unsent")
        else:
            self._words = "is closed"

    @property
    def status(self) -> OutputStatus:
        """How it fares now."""
        return OutputStatus(
            words=self._words,
            healthy=self._healthy,
            queued=len(self._outbox),
            sent=self._sent,
            failed=self._failed,
            dropped=self._outbox.dropped,
        )

    @abstractmethod
    def _wake(self) -> None:
        """Called after something has changed that the thread may wait for."""

    def _title(self, machine: str) -> str:
        return self._titles.get(machine, machine)

    def _well(self, words: str) -> None:
        if not self._healthy:
            _LOG.info("%s: %s again", self.name, words)
        self._words, self._healthy = words, True

    def _troubled(self, words: str) -> None:
        if self._healthy:  # once, not with every attempt
            _LOG.warning("%s: %s", self.name, words)
        self._words, self._healthy = words, False

    def _delivered(self) -> None:
        self._sent += self._outbox.done()

    def _give_up(self, words: str) -> None:
        _LOG.warning("%s: %s; goes on with the next message", self.name, words)
        self._words, self._healthy = words, False
        self._failed += self._outbox.done()


class RetryingOutput(Output):
    """Sends message after message; tries each until it is through or refused."""

    def __init__(
        self,
        name: str,
        titles: Mapping[str, str] | None = None,
        *,
        room: int = ROOM,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`sleep` waits so many seconds; by default until the output is closed at most."""
        super().__init__(name, titles, room=room, pauses=pauses)
        self._sleep = sleep or self._sleep_unless_closed

    @abstractmethod
    def send(self, message: Message) -> None:
        """Send it once, or raise TryAgain or Refused with words that hold no secret."""

    def _wake(self) -> None:
        """The outbox and the events do that themselves."""

    def _work(self) -> None:
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
                    self._give_up(f"{error}, for too long")
                    return
                self._troubled(str(error))
                pause = next(pauses) if error.after is None else error.after
                self._sleep(pause)
                waited += pause
            except Refused as error:
                self._give_up(str(error))
                return
            except Exception as error:
                # A fault of ours must not stop all that follow; its text might hold a secret.
                self._give_up(f"could not make the message ({type(error).__name__})")
                return
            else:
                self._delivered()
                self._well("works")
                return

    def _sleep_unless_closed(self, seconds: float) -> None:
        # Whoever closes it wants one more attempt at once, and then the usual pauses.
        (self._stopped if self._closing.is_set() else self._closing).wait(seconds)
