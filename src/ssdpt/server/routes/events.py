"""Events: what happened, how it sounded, and what people say about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.events.image import event_png
from ssdpt.monitor.messages import (
    Event,
    EventGroup,
    EventKind,
    EventLevel,
    EventSpectrogram,
)
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.monitor.store.event_filter import EventConditions
from ssdpt.sentences import said
from ssdpt.server.auth import Operator, Viewer
from ssdpt.server.context import AppContext, Context
from ssdpt.server.ids import EventId
from ssdpt.server.problems import NO_EVENT
from ssdpt.server.recording_reply import AUDIO_RESPONSES, AudioFormat, recording_reply
from ssdpt.server.schemas import (
    MAX_NAME,
    AcknowledgeRequest,
    CommentRequest,
    EventDetailsRequest,
    EventSuggestions,
    LabelRequest,
    RecognitionRequest,
)
from ssdpt.server.time_range import Timestamp

router = APIRouter(prefix="/v1/events", tags=["events"])


Limit = Annotated[int, Query(ge=1, le=1000)]


async def _wanted(
    context: Context,
    machine: Annotated[str | None, Query(max_length=64, pattern=r"^[a-z0-9_-]+$")] = None,
    open: Annotated[
        bool, Query(description="Whether to list only events that are not cleared.")
    ] = False,
    kind: EventKind | None = None,
    level: EventLevel | None = None,
    label: Annotated[
        Literal["normal", "fault", "none"] | None, Query(description="What a person says it was.")
    ] = None,
    fault: Annotated[
        str | None, Query(max_length=MAX_NAME, description="Named so, or recognised as this.")
    ] = None,
    unnamed: Annotated[
        bool, Query(description="Whether to list only events without a fault, even recognised.")
    ] = False,
    text: Annotated[
        str,
        Query(
            max_length=200,
            description="Words that occur in the message, cause, work order, fault or comments, "
            "or in the name of the machine.",
        ),
    ] = "",
    begin: Timestamp = None,
    end: Timestamp = None,
    before: Timestamp = None,
) -> EventConditions:
    names = await run_in_threadpool(_names, context) if text else {}
    return EventConditions(
        machine=machine,
        open_only=open,
        kind=kind,
        level=level,
        label="" if label == "none" else label,
        fault="" if unnamed else fault,
        text=text,
        machines_named=names,
        begin=begin,
        end=end,
        before=before,
    )


def _names(context: AppContext) -> dict[str, str]:
    """Of all machines, by id."""
    return {one.id: one.name for one in context.service.machine_statuses()}


Wanted = Annotated[EventConditions, Depends(_wanted)]


@router.get("")
def events(user: Viewer, context: Context, wanted: Wanted, limit: Limit = 100) -> list[Event]:
    """Events, newest first. For the next page, set `before` to when the last one began."""
    return context.store.events(limit=limit, **wanted)


@router.get("/groups")
def groups(user: Viewer, context: Context, wanted: Wanted, limit: Limit = 200) -> list[EventGroup]:
    """Events of the same machine and fault together, those with the newest event first."""
    return context.store.event_groups(limit=limit, **wanted)


@router.get("/suggestions")
def suggestions(user: Viewer, context: Context) -> EventSuggestions:
    """What people have written before: causes, and names of faults; the newest first."""
    return EventSuggestions(
        causes=tuple(context.store.earlier_causes()), faults=tuple(context.store.earlier_faults())
    )


@router.get("/{event}")
def event(user: Viewer, event: EventId, context: Context) -> Event:
    """One event."""
    stored = context.store.event(event)
    if stored is None:
        raise HTTPException(404, NO_EVENT)
    return stored


@router.get("/{event}/audio", response_class=Response, responses=AUDIO_RESPONSES)
def audio(user: Viewer, event: EventId, context: Context, format: AudioFormat = "flac") -> Response:
    """The recording of an event."""
    path = context.store.attachment(event, "audio")
    return recording_reply(path, format, "there is no recording of this event")


@router.get("/{event}/spectrogram")
def spectrogram(user: Viewer, event: EventId, context: Context) -> EventSpectrogram:
    """The spectrogram of an event, and where in it the detector finds the sound unusual."""
    if context.store.event(event) is None:
        raise HTTPException(404, NO_EVENT)
    try:
        return context.service.event_spectrogram(event)
    except StoreUnavailable:
        raise
    except SsdptError as error:
        raise HTTPException(404, said(error)) from error


@router.get(
    "/{event}/picture.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}, "description": "The spectrogram."}},
)
def picture(
    user: Viewer,
    event: EventId,
    context: Context,
    width: Annotated[int, Query(ge=16, le=2000, description="Pixels.")] = 640,
    height: Annotated[int, Query(ge=16, le=1000, description="Pixels.")] = 240,
    labels: Annotated[bool, Query(description="With frequencies and seconds.")] = True,
) -> Response:
    """The spectrogram of an event as an image, with what is unusual in it."""
    shown = spectrogram(user, event, context)
    found = context.store.event(event)
    began = None if found is None else found.began
    return Response(
        event_png(shown, width, height, began=began, labels=labels),
        media_type="image/png",
        # The sound of an event that goes on still changes.
        headers={"Cache-Control": "private, max-age=60"},
    )


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


@router.put("/{event}/details")
def set_details(
    user: Operator, event: EventId, body: EventDetailsRequest, context: Context
) -> Event:
    """Give an event its cause, its work order or the name of its fault."""
    given = body.model_dump(exclude_none=True)
    return _change(context, event, lambda: context.service.set_details(event, given, user.name))


@router.post("/{event}/recognition")
def judge_recognition(
    user: Operator, event: EventId, body: RecognitionRequest, context: Context
) -> Event:
    """Say whether an event is the fault that it looks like: it then gets its name, or none."""
    return _change(
        context,
        event,
        lambda: context.service.judge_recognition(event, right=body.right, who=user.name),
    )


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
