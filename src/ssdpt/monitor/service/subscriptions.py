"""Who wants to know what happens now: bounded queues that no one can hold up."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

_ROOM = 2000  # messages a subscriber may be behind; then readings make way

Told = dict[str, Any]  # {"event": "machine" | "reading" | "event" | "removed", "data": {…}}


class Subscription:
    """What one subscriber has not read yet."""

    def __init__(self, hub: Subscriptions) -> None:
        self._hub = hub
        self._waiting: deque[Told] = deque()
        self._changed = threading.Condition()
        self.closed = False

    def put(self, told: Told) -> None:
        """From the monitor's thread; never waits."""
        with self._changed:
            if self.closed:
                return
            if len(self._waiting) >= _ROOM:
                place = next(
                    (i for i, one in enumerate(self._waiting) if one["event"] == "reading"), None
                )
                if place is None:
                    self.closed = True  # it has not read for minutes: it starts afresh
                else:
                    del self._waiting[place]
            self._waiting.append(told)
            self._changed.notify()

    def get(self, timeout: float) -> Told | None:
        """The next message; None after so many seconds without one."""
        with self._changed:
            if not self._waiting and not self.closed:
                self._changed.wait(timeout)
            return self._waiting.popleft() if self._waiting else None

    def __iter__(self) -> Iterator[Told]:
        while not self.closed:
            if (told := self.get(1.0)) is not None:
                yield told

    def close(self) -> None:
        """No more messages."""
        with self._changed:
            self.closed = True
            self._changed.notify()
        self._hub.leave(self)


class Subscriptions:
    """All subscribers."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()
        self._lock = threading.Lock()

    def subscribe(self) -> Subscription:
        subscription = Subscription(self)
        with self._lock:
            self._subscriptions.add(subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions.discard(subscription)

    def tell(self, event: str, data: dict[str, Any]) -> None:
        """Everyone."""
        with self._lock:
            for subscription in self._subscriptions:
                subscription.put({"event": event, "data": data})

    def close(self) -> None:
        """Everyone leaves."""
        with self._lock:
            everyone = list(self._subscriptions)
        for subscription in everyone:
            subscription.close()
