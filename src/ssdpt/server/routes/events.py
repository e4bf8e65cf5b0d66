"""Events: what happened, how it sounded, and what people say of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Event, EventKind
from ssdpt.monitor.outputs.messages import event_json
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.server.auth import Operator
from ssdpt.server.context import AppContext, Context
from ssdpt.server.ids import EventId
from ssdpt.server.json_response import Json
from ssdpt.server.schemas import (
    Acknowledging,
    Commenting,
    EventWords,
    Labelling,
    SpectrogramWords,
)
from ssdpt.server.time_range import Moment

router = APIRouter(prefix="/v1/events", tags=["events"])

_NONE = "there is no such event"
_KINDS = {".flac": "audio/flac", ".wav": "audio/wav", ".ogg": "audio/ogg"}


@router.get("", response_model=list[EventWords])
def events(
    room: Context,
    machine: Annotated[str | None, Query(max_length=64, pattern=r"^[a-z0-9_-]+$")] = None,
    open: Annotated[bool, Query(description="Only those that are not cleared.")] = False,
    kind: EventKind | None = None,
    begin: Moment = None,
    end: Moment = None,
    before: Moment = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Json:
    """Events, newest first; `before` when one began gives those before it."""
    found = room.store.events(
        machine=machine,
        open_only=open,
        kind=kind,
        begin=begin,
        end=end,
        before=before,
        limit=limit,
    )
    return Json([event_json(event) for event in found])


@router.get("/{event}", response_model=EventWords)
def event(event: EventId, room: Context) -> Json:
    """One event."""
    found = room.store.event(event)
    if found is None:
        raise HTTPException(404, _NONE)
    return Json(event_json(found))


@router.get(
    "/{event}/audio",
    response_class=FileResponse,
    responses={200: {"content": {"audio/flac": {}}, "description": "A recording."}},
)
def audio(event: EventId, room: Context) -> FileResponse:
    """Its recording; parts of it by the header Range."""
    path = room.store.attachment(event, "audio")
    if path is None:
        raise HTTPException(404, "there is no recording of this event")
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise HTTPException(404, "the recording of this event was removed") from error
    return FileResponse(
        path,
        media_type=_KINDS.get(path.suffix, "application/octet-stream"),
        headers={"Cache-Control": "private, no-cache"},
        stat_result=status,
    )


@router.get("/{event}/spectrogram", response_model=SpectrogramWords)
def spectrogram(event: EventId, room: Context) -> Json:
    """Its spectrogram, and where in it the model finds it odd."""
    if room.store.event(event) is None:
        raise HTTPException(404, _NONE)
    try:
        return Json(room.plant.event_spectrogram(event))
    except StoreUnavailable:
        raise
    except SsdptError as error:
        raise HTTPException(404, str(error)) from error


@router.post("/{event}/acknowledge", response_model=EventWords)
def acknowledge(who: Operator, event: EventId, said: Acknowledging, room: Context) -> Json:
    """Someone takes care of it."""
    return _changed(room, event, lambda: room.plant.acknowledge(event, who.name, said.comment))


@router.post("/{event}/comment", response_model=EventWords)
def comment(who: Operator, event: EventId, said: Commenting, room: Context) -> Json:
    """Write something to it."""
    return _changed(room, event, lambda: room.plant.comment(event, who.name, said.text))


@router.post("/{event}/label", response_model=EventWords)
def label(who: Operator, event: EventId, said: Labelling, room: Context) -> Json:
    """Say what it was: a fault, or a normal sound that the model takes up."""
    return _changed(room, event, lambda: room.plant.label(event, said.label, who.name))


def _changed(room: AppContext, id: str, change: Callable[[], Event]) -> Json:
    """The store writes its trail of this itself, in the same transaction."""
    try:
        return Json(event_json(change()))
    except StoreUnavailable:
        raise
    except SsdptError as error:
        # Asked only now: an event of this moment is on its way to the store.
        if room.store.event(id) is None:
            raise HTTPException(404, _NONE) from error
        raise
