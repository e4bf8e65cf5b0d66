"""The messages that wait to be sent by an output, in order."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque

from ssdpt.monitor.messages import Message, ReadingTaken, StateChanged


class Outbox:
    """A queue from many threads to one, of bounded length.

    When it is full, the oldest reading is dropped, then a state that is outdated by a newer one of
    the same machine. Events are never dropped: they are few, and may exceed the limit. A message
    that was taken stays until it is `done`, so that it is not lost while it is sent.
    """

    def __init__(self, limit: int) -> None:
        self.dropped = 0
        self._limit = limit
        self._changed = threading.Condition()
        self._waiting: OrderedDict[int, Message] = OrderedDict()
        self._next = 0
        self._readings: deque[int] = deque()  # numbers of the readings that wait
        self._states: dict[str, int] = {}  # number of the newest state, by machine
        self._taken: list[Message] = []
        self._closed = False

    def __len__(self) -> int:
        with self._changed:
            return len(self._waiting) + len(self._taken)

    @property
    def finished(self) -> bool:
        """Closed, and all messages are done."""
        with self._changed:
            return self._closed and not self._waiting and not self._taken

    def put(self, message: Message) -> None:
        """Add a message; never blocks. A closed outbox drops it."""
        with self._changed:
            if self._closed or not self._make_space(message):
                self.dropped += 1
                return
            number = self._next
            self._next += 1
            self._waiting[number] = message
            if isinstance(message, ReadingTaken):
                self._readings.append(number)
            elif isinstance(message, StateChanged):
                self._states[message.machine] = number
            self._changed.notify()

    def take(self, timeout: float | None = None) -> Message | None:
        """The oldest, the same until it is done; None: closed, or none within `timeout` s."""
        with self._changed:
            if not self._taken:
                self._changed.wait_for(lambda: self._waiting or self._closed, timeout)
                if not self._waiting:
                    return None
                self._taken.append(self._pop())
            return self._taken[0]

    def wait(self, seconds: float) -> None:
        """Until there is something to take, it is closed, or someone wakes us."""
        with self._changed:
            if not self._waiting and not self._closed:
                self._changed.wait(seconds)

    def wake(self) -> None:
        """End a `wait`."""
        with self._changed:
            self._changed.notify_all()

    def done(self) -> int:
        """Remove what was taken; return the number of messages."""
        with self._changed:
            count = len(self._taken)
            self._taken.clear()
            return count

    def close(self) -> None:
        """Accept no more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _pop(self) -> Message:
        number, message = self._waiting.popitem(last=False)
        if isinstance(message, ReadingTaken):
            self._readings.popleft()  # the oldest message is the oldest reading as well
        elif isinstance(message, StateChanged) and self._states[message.machine] == number:
            del self._states[message.machine]
        return message

    def _make_space(self, message: Message) -> bool:
        """Drop a less important message where the queue is full; False: `message` is dropped."""
        if len(self._waiting) < self._limit:
            return True
        if self._readings:
            del self._waiting[self._readings.popleft()]
            self.dropped += 1
        elif isinstance(message, ReadingTaken):
            return False
        elif isinstance(message, StateChanged):
            outdated = self._states.pop(message.machine, None)
            if outdated is not None:
                del self._waiting[outdated]
                self.dropped += 1
        return True
