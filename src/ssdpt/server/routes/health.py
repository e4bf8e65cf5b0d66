"""Whether the server lives, for supervisors; and figures for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Response

from ssdpt.server.auth import Viewer
from ssdpt.server.context import Context
from ssdpt.server.json_response import Json
from ssdpt.server.schemas import HealthWords

router = APIRouter(tags=["health"])


@router.get("/healthz", response_model=HealthWords)
async def alive() -> Json:
    """The server answers. Open to everyone."""
    return Json({"status": "ok"})


@router.get("/readyz", response_model=HealthWords)
def ready(room: Context) -> Json:
    """The watch runs and the store takes what comes. Open to everyone.

    One microphone that is lost is an event, and no reason to start the service anew.
    """
    good = room.plant.ready
    return Json({"status": "ok" if good else "starting"}, 200 if good else 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}, "description": "Prometheus's text."}},
)
def metrics(who: Viewer, room: Context) -> Response:
    """MetricsText for Prometheus."""
    figures = room.plant.metrics
    return Response(figures.text(), media_type=figures.content_type)
