"""Sound that clients send: files and pieces by POST, or a stream by WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import IO, Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, WebSocket, WebSocketDisconnect
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.service.api import MonitorApi
from ssdpt.monitor.sources.snapshot_message import SnapshotMessage, read_message
from ssdpt.server.auth import Operator
from ssdpt.server.context import AppContext, Context
from ssdpt.server.ids import ReceiverId
from ssdpt.server.problems import NO_MACHINE
from ssdpt.server.schemas import ReceivedAudio
from ssdpt.server.sockets import short_reason
from ssdpt.server.time_range import Timestamp
from ssdpt.server.uploads import SampleFormat, decode, decode_pcm, is_json, read_body, spooled

router = APIRouter(prefix="/v1/machines", tags=["audio"])

_CHECK_EVERY = 15.0  # seconds between checks whether the client may still send


@router.post(
    "/{machine}/audio",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                **{
                    kind: {"schema": {"type": "string", "format": "binary"}}
                    for kind in ("audio/wav", "audio/flac", "audio/ogg", "audio/L16")
                },
                "application/json": {"schema": SnapshotMessage.model_json_schema()},
            },
        }
    },
)
async def push(
    user: Operator,
    machine: ReceiverId,
    request: Request,
    context: Context,
    time: Timestamp = None,
) -> ReceivedAudio:
    """Sound or a snapshot of a machine with a source of kind `pushed`, at most 64 MiB.

    A WAV, FLAC or OGG file, or big-endian samples as audio/L16;rate=16000;channels=1, of an hour at
    most. `time` is that of the first sample. Without it the sound follows the last piece, or has
    just ended. Of a machine that is measured at intervals, each call is one snapshot and each
    channel an axis; it may also be JSON of at most 8 MiB with values in the unit of the sensor.
    """
    with spooled() as body:
        await read_body(aiter(request.stream()), body)
        kind = request.headers.get("content-type", "")
        if is_json(kind):
            take = partial(_take_snapshot, context.service, machine, body)
        else:
            take = partial(_take, context.service, machine, body, kind, time)
        seconds = await to_thread.run_sync(take, limiter=context.decoders)
    await run_in_threadpool(context.log_hourly, user, "sent sound", machine)
    return ReceivedAudio(seconds=seconds)


@router.websocket("/{machine}/pcm")
async def stream(
    socket: WebSocket,
    user: Operator,
    machine: ReceiverId,
    context: Context,
    rate: Annotated[int, Query(ge=1000, le=384_000)],
    channels: Annotated[int, Query(ge=1, le=64)] = 1,
    format: Annotated[SampleFormat, Query()] = "f32",
) -> None:
    """Binary messages of little-endian interleaved samples; an invalid one ends the connection."""
    await socket.accept()
    await run_in_threadpool(context.log_hourly, user, "sent sound", machine)
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
            if clock() - checked > _CHECK_EVERY:
                checked = clock()
                if not await run_in_threadpool(_may_send, context, socket):
                    await socket.close(1008, "you may no longer send")
                    return
            try:
                samples = decode_pcm(message["bytes"], channels, format)
                await run_in_threadpool(
                    context.service.push, machine, samples, rate, channels, None
                )
            except HTTPException as error:
                await socket.close(1007, short_reason(error.detail))
                return
            except UnknownMachine:
                await socket.close(1013, NO_MACHINE)
                return
            except SsdptError as error:
                # 1013: try again later, as with a full queue.
                await socket.close(1013, short_reason(str(error)))
                return


def _take(
    service: MonitorApi, machine: str, body: IO[bytes], kind: str, time: float | None
) -> float:
    """Decode a body and give it to the machine; the seconds that are new."""
    samples, rate = decode(body, kind)
    return service.push(machine, samples, rate, samples.shape[1], time)


def _take_snapshot(service: MonitorApi, machine: str, body: IO[bytes]) -> float:
    """The same for a snapshot as JSON."""
    return service.push_snapshot(machine, read_message(body.read()))


def _may_send(context: AppContext, socket: WebSocket) -> bool:
    user = context.access.identify(socket)
    return user is not None and user.has_role("operator")
