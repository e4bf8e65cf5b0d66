"""Notes on the trend of a machine: what was repaired, inspected or seen, and when."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Path, Response
from starlette.exceptions import HTTPException

from ssdpt.monitor.messages import Note
from ssdpt.monitor.store.notes import UnknownNote
from ssdpt.sentences import said
from ssdpt.server.auth import Operator, Viewer
from ssdpt.server.context import Context
from ssdpt.server.ids import MachineId
from ssdpt.server.schemas import NoteRequest
from ssdpt.server.time_range import Timestamp

router = APIRouter(prefix="/v1/machines/{machine}/notes", tags=["notes"])

NoteId = Annotated[int, Path(ge=1, lt=2**63, description="Number of a note.")]
_ALWAYS = 1e11  # seconds since 1970; later than any note


@router.get("")
def notes(
    user: Viewer,
    machine: MachineId,
    context: Context,
    begin: Timestamp = None,
    end: Timestamp = None,
) -> list[Note]:
    """The notes of a machine in a time range, by default all; the oldest first."""
    return context.store.notes(machine, begin or 0.0, _ALWAYS if end is None else end)


@router.post("", status_code=201)
def add_note(user: Operator, machine: MachineId, body: NoteRequest, context: Context) -> Note:
    """Note what happened to a machine, and when."""
    return context.store.add_note(
        machine, body.at, body.kind, body.text, who=user.name, now=time.time()
    )


@router.put("/{note}")
def change_note(
    user: Operator, machine: MachineId, note: NoteId, body: NoteRequest, context: Context
) -> Note:
    """Correct a note."""
    try:
        return context.store.change_note(
            machine, note, body.at, body.kind, body.text, who=user.name, now=time.time()
        )
    except UnknownNote as error:
        raise HTTPException(404, said(error)) from error


@router.delete("/{note}", status_code=204, response_class=Response)
def remove_note(user: Operator, machine: MachineId, note: NoteId, context: Context) -> Response:
    """Remove a note, if it is still there; its text stays in the action log."""
    context.store.remove_note(machine, note, who=user.name, now=time.time())
    return Response(status_code=204)
