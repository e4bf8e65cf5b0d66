"""Sound that others send: files and pieces by POST, or a stream by WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated

from fastapi import APIRouter, Query, Request, WebSocket, WebSocketDisconnect
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.server.auth import Operator
from ssdpt.server.context import AppContext, Context
from ssdpt.server.ids import MachineId
from ssdpt.server.json_response import Json
from ssdpt.server.schemas import TakenWords
from ssdpt.server.time_range import Moment
from ssdpt.server.uploads import SampleFormat, decode, decode_pcm, read_body, spooled

router = APIRouter(prefix="/v1/machines", tags=["audio"])

_CHECK = 15.0  # seconds until it is asked again whether the sender may send
_REASON = 123  # bytes of a closing frame


@router.post(
    "/{machine}/audio",
    response_model=TakenWords,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}}
                for kind in ("audio/wav", "audio/flac", "audio/ogg", "audio/L16")
            },
        }
    },
)
async def push(
    who: Operator, machine: MachineId, request: Request, room: Context, time: Moment = None
) -> Json:
    """Sound of a machine with a source of kind `pushed`, at most 64 MiB.

    A WAV, FLAC or OGG file, or big-endian samples as audio/L16;rate=16000;channels=1. `time` is
    that of the first sample; without it, sound follows what came last or ended just now.
    """
    with spooled() as body:
        await read_body(aiter(request.stream()), body)
        kind = request.headers.get("content-type", "")
        samples, rate = await run_in_threadpool(decode, body, kind)
    frames, channels = samples.shape
    await run_in_threadpool(room.plant.push, machine, samples, rate, channels, time)
    await run_in_threadpool(room.log_sender, who, machine)
    return Json({"seconds": frames / rate})


@router.websocket("/{machine}/pcm")
async def stream(
    socket: WebSocket,
    who: Operator,
    machine: MachineId,
    room: Context,
    rate: Annotated[int, Query(ge=1000, le=384_000)],
    channels: Annotated[int, Query(ge=1, le=64)] = 1,
    format: Annotated[SampleFormat, Query()] = "f32",
) -> None:
    """Binary messages of little-endian interleaved samples; refused ones end the connection."""
    await socket.accept()
    await run_in_threadpool(room.log_sender, who, machine)
    clock = asyncio.get_running_loop().time
    checked = clock()
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if message.get("bytes") is None:
                await socket.close(1003, "send samples as binary messages")
                return
            if clock() - checked > _CHECK:
                checked = clock()
                if not await run_in_threadpool(_may_send, room, socket):
                    await socket.close(1008, "you may no longer send")
                    return
            try:
                samples = decode_pcm(message["bytes"], channels, format)
                await run_in_threadpool(room.plant.push, machine, samples, rate, channels, None)
            except HTTPException as error:
                await socket.close(1007, _short(error.detail))
                return
            except (SsdptError, KeyError) as error:
                # 1013: try again later, as with a queue that is full.
                words = str(error) if isinstance(error, SsdptError) else "no such machine"
                await socket.close(1013, _short(words))
                return


def _may_send(room: AppContext, socket: WebSocket) -> bool:
    who = room.guard.who(socket)
    return who is not None and who.may("operator")


def _short(words: str) -> str:
    return words.encode()[:_REASON].decode("utf-8", "ignore")
