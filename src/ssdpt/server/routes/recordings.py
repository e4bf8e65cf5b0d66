"""Sound of machines that someone keeps on demand."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Path, Response
from starlette.exceptions import HTTPException

from ssdpt.monitor.messages import KeptRecording
from ssdpt.sentences import Sentence
from ssdpt.server.auth import Admin, Operator, Viewer
from ssdpt.server.context import Context
from ssdpt.server.ids import MachineId
from ssdpt.server.recording_reply import AUDIO_RESPONSES, AudioFormat, recording_reply
from ssdpt.server.schemas import KeepRequest

router = APIRouter(prefix="/v1/machines/{machine}/recordings", tags=["audio"])

NO_RECORDING = Sentence("api.noRecording")
RecordingId = Annotated[
    str,
    Path(description="Id of a recording.", examples=["0123456789abcdef0123456789abcdef"]),
]


@router.get("")
def recordings(user: Viewer, machine: MachineId, context: Context) -> list[KeptRecording]:
    """The kept recordings of a machine, newest first."""
    return context.store.recordings(machine)


@router.post("", status_code=201)
def keep(user: Operator, machine: MachineId, body: KeepRequest, context: Context) -> KeptRecording:
    """Keep the last minutes of sound, or as much as the service holds."""
    return context.service.keep_sound(machine, body.minutes, user.name, body.note)


@router.get("/{recording}/audio", response_class=Response, responses=AUDIO_RESPONSES)
def audio(
    user: Viewer,
    machine: MachineId,
    recording: RecordingId,
    context: Context,
    format: AudioFormat = "flac",
) -> Response:
    """The sound of a kept recording."""
    kept = context.store.recording(machine, recording)
    return recording_reply(None if kept is None else kept[1], format, NO_RECORDING)


@router.delete("/{recording}", status_code=204, response_class=Response)
def remove(user: Admin, machine: MachineId, recording: RecordingId, context: Context) -> Response:
    """Delete a kept recording."""
    if not context.store.remove_recording(machine, recording, user.name, time.time()):
        raise HTTPException(404, NO_RECORDING)
    return Response(status_code=204)
