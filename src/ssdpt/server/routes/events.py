"""Events: what happened, how it sounded, and what people say about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Event, EventKind, EventSpectrogram
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.server.auth import Operator
from ssdpt.server.context import AppContext, Context
from ssdpt.server.ids import EventId
from ssdpt.server.problems import NO_EVENT
from ssdpt.server.schemas import AcknowledgeRequest, CommentRequest, LabelRequest
from ssdpt.server.time_range import Timestamp

router = APIRouter(prefix="/v1/events", tags=["events"])

_MEDIA_TYPES = {".flac": "audio/flac", ".wav": "audio/wav", ".ogg": "audio/ogg"}


@router.get("")
def events(
    context: Context,
    machine: Annotated[str | None, Query(max_length=64, pattern=r"^[a-z0-9_-]+$")] = None,
    open: Annotated[
        bool, Query(description="Whether to list only events that are not cleared.")
    ] = False,
    kind: EventKind | None = None,
    begin: Timestamp = None,
    end: Timestamp = None,
    before: Timestamp = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[Event]:
    """Events, newest first. For the next page, set `before` to when the last one began."""
    return context.store.events(
        machine=machine,
        open_only=open,
        kind=kind,
        begin=begin,
        end=end,
        before=before,
        limit=limit,
    )


@router.get("/{event}")
def event(event: EventId, context: Context) -> Event:
    """One event."""
    stored = context.store.event(event)
    if stored is None:
        raise HTTPException(404, NO_EVENT)
    return stored


@router.get(
    "/{event}/audio",
    response_class=FileResponse,
    responses={200: {"content": {"audio/flac": {}}, "description": "A recording."}},
)
def audio(event: EventId, context: Context) -> FileResponse:
    """The recording of an event; the header Range selects a part."""
    path = context.store.attachment(event, "audio")
    if path is None:
        raise HTTPException(404, "there is no recording of this event")
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise HTTPException(404, "the recording of this event was removed") from error
    return FileResponse(
        path,
        media_type=_MEDIA_TYPES.get(path.suffix, "application/octet-stream"),
        headers={"Cache-Control": "private, no-cache"},
        stat_result=status,
    )


@router.get("/{event}/spectrogram")
def spectrogram(event: EventId, context: Context) -> EventSpectrogram:
    """The spectrogram of an event, and where in it the detector finds the sound unusual."""
    if context.store.event(event) is None:
        raise HTTPException(404, NO_EVENT)
    try:
        return context.service.event_spectrogram(event)
    except StoreUnavailable:
        raise
    except SsdptError as error:
        raise HTTPException(404, str(error)) from error


@router.post("/{event}/acknowledge")
def acknowledge(
    user: Operator, event: EventId, body: AcknowledgeRequest, context: Context
) -> Event:
    """Acknowledge an event: someone takes care of it."""
    return _change(
        context, event, lambda: context.service.acknowledge(event, user.name, body.comment)
    )


@router.post("/{event}/comment")
def comment(user: Operator, event: EventId, body: CommentRequest, context: Context) -> Event:
    """Add a comment to an event."""
    return _change(context, event, lambda: context.service.comment(event, user.name, body.text))


@router.post("/{event}/label")
def label(user: Operator, event: EventId, body: LabelRequest, context: Context) -> Event:
    """Label an event as a fault, or as a normal sound, which the model then learns."""
    return _change(context, event, lambda: context.service.label(event, body.label, user.name))


def _change(context: AppContext, id: str, change: Callable[[], Event]) -> Event:
    """The event after a change. The store logs the action in the same transaction."""
    try:
        return change()
    except StoreUnavailable:
        raise
    except SsdptError as error:
        # Checked only now: a new event may still be on its way to the store.
        if context.store.event(id) is None:
            raise HTTPException(404, NO_EVENT) from error
        raise
