"""The service as a whole, its models, and its action log."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from ssdpt.monitor.messages import ModelInfo
from ssdpt.server.auth import Admin, Viewer
from ssdpt.server.context import Context
from ssdpt.server.schemas import ActionRecord, StatusReply, UserInfo

router = APIRouter(prefix="/v1", tags=["status"])


@router.get("/status")
def status(context: Context, user: Viewer) -> StatusReply:
    """The service, its machines, and the user who is signed in."""
    return StatusReply(
        **dict(context.service.status()),
        machines=tuple(context.service.machine_statuses()),
        user=UserInfo(name=user.name, role=user.role),
    )


@router.get("/models")
def models(context: Context) -> list[ModelInfo]:
    """The models of the machines, with their model cards."""
    return context.service.models()


@router.get("/actions")
def actions(
    user: Admin,
    context: Context,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
) -> list[ActionRecord]:
    """The actions of users, newest first.

    For the next page, set `before` to the id of the last action.
    """
    return [ActionRecord(**asdict(action)) for action in context.store.actions(limit, before)]
