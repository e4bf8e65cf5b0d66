"""Making things ahead: an iterator that runs on a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Generic, Self, TypeVar

Item = TypeVar("Item")

_LOOK = 0.2  # seconds


class Ahead(Generic[Item]):
    """The items of an iterator, a bounded number of them made before they are asked for."""

    def __init__(self, make: Callable[[], Iterator[Item]], most: int) -> None:
        self._make = make
        self._held: queue.Queue[Item | Exception] = queue.Queue(most)
        self._gone = threading.Event()
        # Not waited for at the end: it may hang in a library that cannot be told to stop.
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._gone.set()

    def get(self) -> Item | None:
        """The next item; None if there is none yet; raises what the iterator raised.

        EOFError: it has come to its end.
        """
        try:
            item = self._held.get(timeout=_LOOK)
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
        """False: nobody wants it any more."""
        while not self._gone.is_set():
            try:
                self._held.put(item, timeout=_LOOK)
            except queue.Full:
                continue
            return True
        return False
