"""Health checks for supervisors, and metrics for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Response

from ssdpt.server.access_rules import Anyone
from ssdpt.server.auth import Viewer
from ssdpt.server.context import Context
from ssdpt.server.schemas import Health

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def alive(user: Anyone) -> Health:
    """The server answers. Open to everyone."""
    return Health(status="ok")


@router.get("/readyz", responses={503: {"model": Health, "description": "Not ready yet."}})
async def ready(user: Anyone, context: Context, response: Response) -> Health:
    """The service runs and the store accepts writes. Open to everyone.

    A lost microphone is an event, and no reason to restart the service.
    """
    if context.service.ready:
        return Health(status="ok")
    response.status_code = 503
    return Health(status="starting")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}, "description": "Prometheus text format."}},
)
def metrics(user: Viewer, context: Context) -> Response:
    """Metrics for Prometheus."""
    text = context.service.metrics
    return Response(text.text(), media_type=text.content_type)
