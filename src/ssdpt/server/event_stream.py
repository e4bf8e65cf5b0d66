"""Live updates as server-sent events to any number of clients; a slow client delays nobody."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ssdpt.monitor.messages import Heartbeat
from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.service.subscriptions import Subscription
from ssdpt.sentences import Sentence
from ssdpt.server.live_messages import encode

LOG = logging.getLogger(__name__)
_MAX_QUEUED = 2**20  # bytes; a client that is further behind is disconnected and reconnects
_MAX_CLIENTS = 256
HEARTBEAT = 2.0  # seconds; a page takes the service for stopped after a few without a message
_CHECK_EVERY = 15.0  # seconds between checks whether the client may still read
_PAUSE = 0.5  # seconds before subscribing again, in case that fails again and again
# Seconds in which updates are gathered: each by itself to many clients costs more than scoring.
_GATHER = 0.1
_MOST_GATHERED = 500  # updates


class ClientQueue:
    """Messages that one client has not been sent yet. Only used on the server's event loop."""

    def __init__(self) -> None:
        self._queued: list[bytes] = []
        self._size = 0  # bytes
        self._changed = asyncio.Event()
        self.closed = asyncio.Event()

    def put(self, message: bytes) -> None:
        """Add messages; a client that does not read is disconnected."""
        if self._size >= _MAX_QUEUED:
            LOG.warning("disconnected a client that reads too slowly")
            self.closed.set()
            return
        self._queued.append(message)
        self._size += len(message)
        self._changed.set()

    async def take(self) -> bytes:
        """All queued messages as soon as there is one; empty after a heartbeat without any."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT):  # makes no task, as `wait_for` does
                await self._changed.wait()
        self._changed.clear()
        queued = b"".join(self._queued)
        self._queued.clear()
        self._size = 0
        return queued


class Broadcaster:
    """Sends the updates of the service to all clients, by one thread that encodes each once."""

    def __init__(self, service: MonitorApi) -> None:
        self._service = service
        self._queues: set[ClientQueue] = set()
        self._subscription: Subscription | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        """Subscribe to the service; called on the server's event loop."""
        self._subscription = self._service.subscribe()
        self._thread = threading.Thread(
            target=self._forward_until_stopped,
            args=(self._subscription, asyncio.get_running_loop()),
            name="ssdpt-broadcast",
            daemon=True,
        )
        self._thread.start()

    def add_client(self) -> ClientQueue:
        """The queue of a new client."""
        if len(self._queues) >= _MAX_CLIENTS:
            raise HTTPException(503, Sentence("api.tooManyClients", count=_MAX_CLIENTS))
        queue = ClientQueue()
        self._queues.add(queue)
        return queue

    def remove_client(self, queue: ClientQueue) -> None:
        """Send nothing more to a client that has left."""
        self._queues.discard(queue)

    @property
    def clients(self) -> int:
        """The number of clients that are connected."""
        return len(self._queues)

    def close_clients(self) -> None:
        """Disconnect every client; each one connects again and loads its state anew."""
        for queue in self._queues:
            queue.closed.set()

    async def stop(self) -> None:
        """End the subscription and the thread."""
        self._stopping.set()
        self.close_clients()
        if self._subscription is not None and self._thread is not None:
            self._subscription.close()
            await run_in_threadpool(self._thread.join, 2.0)

    def _forward_until_stopped(
        self, subscription: Subscription, loop: asyncio.AbstractEventLoop
    ) -> None:
        """A subscription that ends early is replaced: nobody else would revive the stream."""
        while not self._stopping.is_set():
            try:
                self._forward(subscription, loop)
            except Exception:
                if loop.is_closed():
                    return
                LOG.exception("cannot forward an update to the live stream")
            subscription.close()
            if self._stopping.wait(_PAUSE):
                return
            LOG.warning("the live stream was interrupted; subscribing again")
            # Assigned before `_stopping` is read again: either `stop` closes it, or the loop ends.
            self._subscription = subscription = self._service.subscribe()
            # Updates are lost by now; disconnected clients load the whole state again.
            loop.call_soon_threadsafe(self.close_clients)

    def _forward(self, subscription: Subscription, loop: asyncio.AbstractEventLoop) -> None:
        for update in subscription:
            messages = [encode(update)]
            while len(messages) < _MOST_GATHERED and (more := subscription.get(0)) is not None:
                messages.append(encode(more))
            loop.call_soon_threadsafe(self._broadcast, b"".join(messages))
            self._stopping.wait(_GATHER)

    def _broadcast(self, messages: bytes) -> None:
        for queue in self._queues:
            if not queue.closed.is_set():
                queue.put(messages)


class EventStream(Response):
    """A reply without end: until the client leaves, falls behind, or may no longer read."""

    media_type = "text/event-stream"

    def __init__(self, broadcaster: Broadcaster, may_read: Callable[[], bool]) -> None:
        self._broadcaster, self._may_read = broadcaster, may_read
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        queue = self._broadcaster.add_client()
        tasks = [
            asyncio.ensure_future(work)
            for work in (self._send(queue, send), _disconnected(receive), queue.closed.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._broadcaster.remove_client(queue)
            for task in tasks:
                task.cancel()
            # The task that sends to a client that does not read is blocked: it is cancelled.
            await asyncio.gather(*tasks, return_exceptions=True)
        if queue.closed.is_set():
            with contextlib.suppress(TimeoutError):
                end = {"type": "http.response.body", "body": b"", "more_body": False}
                await asyncio.wait_for(send(end), 0.2)

    async def _send(self, queue: ClientQueue, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        body = b"retry: 2000\n: connected\n\n"
        checked = asyncio.get_running_loop().time()
        while True:
            await send({"type": "http.response.body", "body": body, "more_body": True})
            body = await queue.take() or encode(Heartbeat(now=time.time()))
            now = asyncio.get_running_loop().time()
            if now - checked >= _CHECK_EVERY:
                checked = now
                if not await run_in_threadpool(self._may_read):
                    queue.closed.set()
                    return


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
