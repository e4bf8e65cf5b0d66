"""The plant as a whole, what judges its machines, and its trail of actions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from ssdpt.server.auth import Admin, Viewer
from ssdpt.server.context import Context
from ssdpt.server.json_response import Json
from ssdpt.server.schemas import ActionWords, ModelWords, PlantWords

router = APIRouter(prefix="/v1", tags=["plant"])


@router.get("/plant", response_model=PlantWords)
def plant(room: Context, who: Viewer) -> Json:
    """The plant, its machines, and who you are."""
    return Json({**room.plant.plant(), "you": {"name": who.name, "role": who.role}})


@router.get("/models", response_model=list[ModelWords])
def models(room: Context) -> Json:
    """The models that judge the machines, with their cards."""
    return Json(room.plant.models())


@router.get("/actions", response_model=list[ActionWords])
def actions(
    who: Admin,
    room: Context,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
) -> Json:
    """Who did what, newest first; `before` the id of an action gives those before it."""
    return Json([asdict(action) for action in room.store.actions(limit, before)])
