"""An iterator that runs ahead on a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Generic, Self, TypeVar

Item = TypeVar("Item")

_POLL = 0.2  # seconds


class BackgroundIterator(Generic[Item]):
    """The items of an iterator; up to `limit` of them are made before they are asked for."""

    def __init__(self, make: Callable[[], Iterator[Item]], limit: int) -> None:
        self._make = make
        self._items: queue.Queue[Item | Exception] = queue.Queue(limit)
        self._closed = threading.Event()
        # Not joined at the end: it may hang in a library that cannot be interrupted.
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()

    def get(self) -> Item | None:
        """The next item; None if there is none yet; raises what the iterator raised.

        EOFError: the iterator has ended.
        """
        try:
            item = self._items.get(timeout=_POLL)
        except queue.Empty:
            return None
        if isinstance(item, Exception):
            raise item
        return item

    def _run(self) -> None:
        try:
            for item in self._make():
                if not self._put(item):
                    return
            self._put(EOFError())
        except Exception as error:
            self._put(error)

    def _put(self, item: Item | Exception) -> bool:
        """False: closed, nobody needs it any more."""
        while not self._closed.is_set():
            try:
                self._items.put(item, timeout=_POLL)
            except queue.Full:
                continue
            return True
        return False
