"""Ids in addresses: what cannot be one is not looked for."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Path
from starlette.exceptions import HTTPException

from ssdpt.server.context import AppContext, Context
from ssdpt.server.problems import NO_MACHINE

_EVENT_ID = re.compile(r"[0-9a-f]{32}")


def known_machine(room: AppContext, machine: str) -> str:
    """The id of a machine that there is."""
    if machine not in room.plant.machines:
        raise HTTPException(404, NO_MACHINE)
    return machine


def _machine(
    room: Context, machine: Annotated[str, Path(description="Id of a machine.", examples=["fan-1"])]
) -> str:
    return known_machine(room, machine)


def _event(
    event: Annotated[
        str,
        Path(description="Id of an event.", examples=["0123456789abcdef0123456789abcdef"]),
    ],
) -> str:
    if not _EVENT_ID.fullmatch(event):
        raise HTTPException(404, "there is no such event")
    return event


MachineId = Annotated[str, Depends(_machine)]
EventId = Annotated[str, Depends(_event)]
