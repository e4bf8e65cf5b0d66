"""The service as a whole, its models, and its action log."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Response

from ssdpt.monitor.messages import ModelInfo
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.server.auth import Admin, Viewer
from ssdpt.server.context import AppContext, Context
from ssdpt.server.schemas import ActionRecord, StatusReply, UpgradeNotice, UserInfo

router = APIRouter(prefix="/v1", tags=["status"])


@router.get("/status")
def status(user: Viewer, context: Context) -> StatusReply:
    """The service, its machines, and the user who is signed in."""
    return StatusReply(
        **dict(context.service.status()),
        machines=tuple(context.service.machine_statuses()),
        user=UserInfo(name=user.name, role=user.role),
        upgrade=_upgrade_notice(context, user.name),
    )


@router.delete("/upgrade", status_code=204, response_class=Response)
def dismiss_upgrade(user: Viewer, context: Context) -> Response:
    """Do not show the notice of the last upgrade to this user any more."""
    context.store.dismiss_upgrade(user.name)
    return Response(status_code=204)


@router.get("/models")
def models(user: Viewer, context: Context) -> list[ModelInfo]:
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


def _upgrade_notice(context: AppContext, user: str) -> UpgradeNotice | None:
    try:
        upgrade = context.store.last_upgrade()
        if upgrade is None or context.store.has_seen_upgrade(user):
            return None
    except StoreUnavailable:
        return None  # the machines are shown all the same
    return UpgradeNotice(**asdict(upgrade), config_changes=context.service.config_upgrades())
