"""What happens now."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from ssdpt.monitor.store import StoreUnavailable
from ssdpt.server.context import Context
from ssdpt.server.event_stream import EventStream

router = APIRouter(prefix="/v1", tags=["live"])


@router.get(
    "/live",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events, and a comment at least every 15 s of silence.",
            "content": {
                "text/event-stream": {
                    "example": 'event: reading\ndata: {"machine":"fan-1","time":1.79e9,'
                    '"score":1.2,"state":"normal"}\n\n'
                }
            },
        }
    },
)
async def live(request: Request, room: Context) -> EventStream:
    """Events `machine` (as /v1/machines, without `spark`), `reading`, `event` and `removed`."""

    def may_stay() -> bool:
        try:
            return room.guard.who(request) is not None
        except StoreUnavailable:
            return True

    return EventStream(room.streams, may_stay)
