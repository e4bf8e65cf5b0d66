"""Ids in paths; unknown ones are answered with 404.

What only looks takes a moment, so that no request waits for a thread to do it.
"""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Path
from starlette.exceptions import HTTPException

from ssdpt.server.context import AppContext, Context
from ssdpt.server.problems import NO_EVENT, NO_MACHINE

_EVENT_ID = re.compile(r"[0-9a-f]{32}")


def existing_machine(context: AppContext, machine: str) -> str:
    """The id of a machine that exists."""
    if machine not in context.service.machine_ids():
        raise HTTPException(404, NO_MACHINE)
    return machine


async def _machine(
    context: Context,
    machine: Annotated[str, Path(description="Id of a machine.", examples=["fan-1"])],
) -> str:
    return existing_machine(context, machine)


def _receiver(
    context: Context,
    machine: Annotated[str, Path(description="Id of a machine.", examples=["fan-1"])],
) -> str:
    if not context.service.receives(machine):
        raise HTTPException(404, NO_MACHINE)
    return machine


async def _event(
    event: Annotated[
        str,
        Path(description="Id of an event.", examples=["0123456789abcdef0123456789abcdef"]),
    ],
) -> str:
    if not _EVENT_ID.fullmatch(event):
        raise HTTPException(404, NO_EVENT)
    return event


MachineId = Annotated[str, Depends(_machine)]
ReceiverId = Annotated[str, Depends(_receiver)]  # a machine, or one whose source is on trial
EventId = Annotated[str, Depends(_event)]
