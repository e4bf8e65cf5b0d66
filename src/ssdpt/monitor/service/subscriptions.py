"""Who follows what happens now: bounded queues that never hold up the service."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

from ssdpt.monitor.messages import (
    EventChanged,
    MachineChanged,
    MachineRemoved,
    ReadingTaken,
    ServiceChanged,
)

_MOST_WAITING = 2000  # messages of one subscriber; then readings are dropped

Update = MachineChanged | ReadingTaken | EventChanged | MachineRemoved | ServiceChanged


class Subscription:
    """The messages that one subscriber has not read yet."""

    def __init__(self, subscriptions: Subscriptions) -> None:
        self._subscriptions = subscriptions
        self._waiting: deque[Update] = deque()
        self._changed = threading.Condition()
        self.closed = False

    def put(self, message: Update) -> None:
        """Never waits."""
        with self._changed:
            if self.closed:
                return
            if len(self._waiting) >= _MOST_WAITING:
                oldest = next(
                    (i for i, one in enumerate(self._waiting) if isinstance(one, ReadingTaken)),
                    None,
                )
                if oldest is None:
                    self.closed = True  # it has not read for minutes: it must subscribe again
                else:
                    del self._waiting[oldest]
            self._waiting.append(message)
            self._changed.notify()

    def get(self, timeout: float) -> Update | None:
        """The next message; None after so many seconds without one."""
        with self._changed:
            if not self._waiting and not self.closed:
                self._changed.wait(timeout)
            return self._waiting.popleft() if self._waiting else None

    def __iter__(self) -> Iterator[Update]:
        while not self.closed:
            if (message := self.get(1.0)) is not None:
                yield message

    def close(self) -> None:
        """No more messages."""
        with self._changed:
            self.closed = True
            self._changed.notify()
        self._subscriptions.remove(self)


class Subscriptions:
    """All subscribers."""

    def __init__(self) -> None:
        self._all: set[Subscription] = set()
        self._lock = threading.Lock()

    def subscribe(self) -> Subscription:
        """Everything from now on."""
        subscription = Subscription(self)
        with self._lock:
            self._all.add(subscription)
        return subscription

    def remove(self, subscription: Subscription) -> None:
        with self._lock:
            self._all.discard(subscription)

    def publish(self, message: Update) -> None:
        """To every subscriber."""
        with self._lock:
            for subscription in self._all:
                subscription.put(message)

    def close(self) -> None:
        """End all subscriptions."""
        with self._lock:
            everyone = list(self._all)
        for subscription in everyone:
            subscription.close()
