"""The live stream."""

from __future__ import annotations

from fastapi import APIRouter, Request

from ssdpt.monitor.store import StoreUnavailable
from ssdpt.server.auth import Viewer
from ssdpt.server.context import Context
from ssdpt.server.event_stream import EventStream
from ssdpt.server.live_messages import LIVE_MESSAGE

router = APIRouter(prefix="/v1", tags=["live"])


@router.get(
    "/live",
    status_code=200,
    response_class=EventStream,
    responses={
        200: {
            "model": LIVE_MESSAGE,
            "description": "Server-sent events: `event` is the name of each, `data` its JSON. "
            "A heartbeat is sent after 2 s of silence.",
        }
    },
)
async def live(user: Viewer, request: Request, context: Context) -> EventStream:
    """All changes of machines, events and the service, as server-sent events.

    Events are named `machine`, `reading`, `event`, `removed`, `service` and `heartbeat`.
    """

    def may_read() -> bool:
        try:
            return context.access.identify(request) is not None
        except StoreUnavailable:
            return True

    return EventStream(context.broadcaster, may_read)
