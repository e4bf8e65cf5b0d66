"""Live listening: to a machine, and to a source on trial."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.service.live_sound import LiveSound
from ssdpt.monitor.service.trials import UnknownTrial
from ssdpt.monitor.store import Role, StoreUnavailable
from ssdpt.sentences import Sentence
from ssdpt.server.auth import Admin, CurrentUser, Viewer
from ssdpt.server.context import AppContext, Context
from ssdpt.server.ids import MachineId
from ssdpt.server.listening import Listener
from ssdpt.server.problems import NO_MACHINE, NO_TRIAL
from ssdpt.server.sockets import short_reason

router = APIRouter(prefix="/v1", tags=["audio"])

_CHECK_EVERY = 15.0  # seconds between checks whether the client may still listen
_LONGEST_PING = 64  # characters
_TRY_AGAIN = 1013  # code of a closing frame
_CLOSING = 1.0  # seconds for a client that does not read


@dataclass(frozen=True, slots=True)
class _Sound:
    """What is listened to."""

    address: str
    open: Callable[[], LiveSound]
    role: Role  # that is needed
    action: str  # in the log of actions


@router.websocket("/machines/{machine}/listen")
async def listen(socket: WebSocket, user: Viewer, machine: MachineId, context: Context) -> None:
    """Live sound of a machine, as binary messages of at most a quarter of a second.

    Each has a header of 20 bytes and 16-bit samples, see `ssdpt.server.listening.encode`. A text
    that a client sends comes back, so that it can measure the delay of the network.
    """
    opened = partial(context.service.live_sound, machine)
    sound = _Sound(f"machines/{machine}", opened, "viewer", "listened live")
    await _listen(socket, user, context, sound)


@router.websocket("/trials/{trial}/listen")
async def listen_to_trial(socket: WebSocket, user: Admin, trial: str, context: Context) -> None:
    """Live sound of a source on trial; ends with the trial, which this does not prolong."""
    opened = partial(context.service.trial_sound, trial)
    sound = _Sound(f"trials/{trial}", opened, "admin", "listened to a tried source")
    await _listen(socket, user, context, sound)


async def _listen(socket: WebSocket, user: CurrentUser, context: AppContext, sound: _Sound) -> None:
    """Send a sound until either side ends it."""
    await socket.accept()
    try:
        listener = await context.listeners.add(sound.address, sound.open)
    except UnknownMachine:
        await socket.close(_TRY_AGAIN, NO_MACHINE)
        return
    except UnknownTrial:
        await socket.close(_TRY_AGAIN, NO_TRIAL)
        return
    except HTTPException as error:
        await socket.close(_TRY_AGAIN, short_reason(error.detail))
        return
    except SsdptError as error:
        await socket.close(_TRY_AGAIN, short_reason(str(error)))
        return
    tasks: list[asyncio.Task[None]] = []
    try:
        await run_in_threadpool(context.log_hourly, user, sound.action, listener.machine)
        works = (
            *(_send(socket, listener), _echo(socket), _ended(listener)),
            _end_if_refused(context, socket, sound.role, listener),
        )
        tasks += [asyncio.create_task(work) for work in works]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        context.listeners.remove(sound.address, listener)
        for task in tasks:
            task.cancel()
        # The task that sends to a client that does not read is blocked: it is cancelled.
        await asyncio.gather(*tasks, return_exceptions=True)
    if listener.ended:
        with contextlib.suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
            await asyncio.wait_for(socket.close(_TRY_AGAIN, short_reason(listener.ended)), _CLOSING)


async def _send(socket: WebSocket, listener: Listener) -> None:
    while True:
        await socket.send_bytes(await listener.take())


async def _ended(listener: Listener) -> None:
    """Beside `_send`, which waits for a client that does not read."""
    await listener.closed.wait()


async def _echo(socket: WebSocket) -> None:
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        if text := message.get("text"):
            await socket.send_text(text[:_LONGEST_PING])


async def _end_if_refused(
    context: AppContext, socket: WebSocket, role: Role, listener: Listener
) -> None:
    while True:
        await asyncio.sleep(_CHECK_EVERY)
        with contextlib.suppress(StoreUnavailable):
            user = await run_in_threadpool(context.access.identify, socket)
            if user is None or not user.has_role(role):
                listener.end(Sentence("api.signInAgain"))
                return
