"""What happens now, as server-sent events to any number of pages; nobody can hold it up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ssdpt.server.interface import MonitorApi, Subscription
from ssdpt.server.json_response import to_json

LOG = logging.getLogger(__name__)
_BEHIND = 512  # messages; a page that is further behind is dropped and comes back afresh
_MOST = 256  # pages at a time
HEARTBEAT = 15.0  # seconds


class Stream:
    """What one page has not been sent yet. Only touched on the server's loop."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self.over = asyncio.Event()

    def put(self, message: bytes) -> None:
        if len(self._waiting) >= _BEHIND:
            LOG.warning("a page that reads too slowly was dropped")
            self.over.set()
            return
        self._waiting.append(message)
        self._changed.set()

    async def take(self) -> bytes:
        """All that waits, as soon as there is something; empty after a heartbeat without."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), HEARTBEAT)
        self._changed.clear()
        waiting = b"".join(self._waiting)
        self._waiting.clear()
        return waiting


class Streams:
    """Spreads what the monitor says from one thread to all pages."""

    def __init__(self, plant: MonitorApi) -> None:
        self._plant = plant
        self._open: set[Stream] = set()
        self._listening: Subscription | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Listen to the monitor; called on the server's loop."""
        self._loop = asyncio.get_running_loop()
        self._listening = self._plant.subscribe()
        self._thread = threading.Thread(
            target=self._listen, args=(self._listening, self._loop), name="live", daemon=True
        )
        self._thread.start()

    def join(self) -> Stream:
        """A new page."""
        if len(self._open) >= _MOST:
            raise HTTPException(503, f"{_MOST} pages are listening already; close some")
        stream = Stream()
        self._open.add(stream)
        return stream

    def leave(self, stream: Stream) -> None:
        self._open.discard(stream)

    @property
    def listeners(self) -> int:
        """Pages that are connected."""
        return len(self._open)

    def end_all(self) -> None:
        """Every page is let go, so that the server can stop."""
        for stream in self._open:
            stream.over.set()

    async def stop(self) -> None:
        """Listen no more."""
        self.end_all()
        if self._listening is not None and self._thread is not None:
            self._listening.close()
            await run_in_threadpool(self._thread.join, 2.0)

    def _listen(self, listening: Subscription, loop: asyncio.AbstractEventLoop) -> None:
        try:
            for told in listening:
                # Written once, for however many pages.
                data = to_json(told["data"]).decode()
                message = f"event: {told['event']}\ndata: {data}\n\n".encode()
                loop.call_soon_threadsafe(self._spread, message)
            # Pages come back by themselves and see what is there then.
            loop.call_soon_threadsafe(self.end_all)
        except RuntimeError:
            LOG.debug("the server's loop has ended before the monitor", exc_info=True)

    def _spread(self, message: bytes) -> None:
        for stream in self._open:
            if not stream.over.is_set():
                stream.put(message)


class EventStream(Response):
    """The reply that goes on; ends when the page leaves, falls behind or may no longer look."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams, may_stay: Callable[[], bool]) -> None:
        self._streams, self._may_stay = streams, may_stay
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = self._streams.join()
        tasks = [
            asyncio.ensure_future(work)
            for work in (self._send(stream, send), _left(receive), stream.over.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.leave(stream)
            for task in tasks:
                task.cancel()
            # A page that does not read has its sender waiting; it is not waited for.
            await asyncio.gather(*tasks, return_exceptions=True)
        if stream.over.is_set():
            with contextlib.suppress(TimeoutError):
                end = {"type": "http.response.body", "body": b"", "more_body": False}
                await asyncio.wait_for(send(end), 0.2)

    async def _send(self, stream: Stream, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        body = b"retry: 2000\n: here is what happens now\n\n"
        looked = asyncio.get_running_loop().time()
        while True:
            await send({"type": "http.response.body", "body": body, "more_body": True})
            body = await stream.take() or b": still here\n\n"
            now = asyncio.get_running_loop().time()
            if now - looked >= HEARTBEAT:
                looked = now
                if not await run_in_threadpool(self._may_stay):
                    stream.over.set()
                    return


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
