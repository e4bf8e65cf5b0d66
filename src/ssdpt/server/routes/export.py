"""Scores and events as files for spreadsheets and notebooks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from ssdpt.monitor.messages import Event
from ssdpt.monitor.outputs.export import Format, TrendPoint, export_events, export_trend
from ssdpt.monitor.store import Store
from ssdpt.server.context import Context
from ssdpt.server.ids import known_machine
from ssdpt.server.time_range import Span, Times

router = APIRouter(prefix="/v1", tags=["export"])

_DAY = 86400.0
_EVENTS = 1000  # at one time
_KINDS: dict[Format, str] = {"csv": "text/csv; charset=utf-8", "parquet": "application/x-parquet"}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}}, "description": "A file."}},
)
def export(
    room: Context,
    span: Span,
    machine: Annotated[str | None, Query(description="Empty = all of them.")] = None,
    what: Annotated[Literal["scores", "events"], Query()] = "scores",
    format: Annotated[Format, Query()] = "csv",
) -> StreamingResponse:
    """Scores as fine as they are kept, or events; the last hour where no span is given."""
    if machine is not None:
        known_machine(room, machine)
    machines = [machine] if machine is not None else list(room.plant.machines)
    if what == "scores":
        points = itertools.chain.from_iterable(_points(room.store, id, span) for id in machines)
        pieces = export_trend(points, format)
    else:
        pieces = export_events(_events(room.store, machine, span), format)
    name = f"{machine or 'plant'}-{what}.{format}"
    return StreamingResponse(
        pieces,
        media_type=_KINDS[format],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _points(store: Store, machine: str, span: Times) -> Iterator[TrendPoint]:
    """Day by day, so that no more than one is in memory."""
    begin = span.begin
    while begin < span.end:
        end = min(span.end, (math.floor(begin / _DAY) + 1) * _DAY)
        trend = store.trend(machine, begin, end, math.ceil(end - begin))
        values = zip(
            trend.time.tolist(),
            *(_or_none(part.tolist()) for part in (trend.low, trend.mean, trend.high)),
            trend.state,
            strict=True,
        )
        for time, low, mean, high, state in values:
            yield TrendPoint(machine, time, low, mean, high, state)
        begin = end


def _or_none(values: list[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def _events(store: Store, machine: str | None, span: Times) -> Iterator[Event]:
    """Newest first, page by page; a page begins with those that began as the last one did."""
    before: float | None = None
    told: set[str] = set()
    while True:
        found = store.events(
            machine=machine, begin=span.begin, end=span.end, before=before, limit=_EVENTS
        )
        new = [event for event in found if event.id not in told]
        yield from new
        if len(found) < _EVENTS or not new:
            return
        before = math.nextafter(found[-1].began, math.inf)
        told = {event.id for event in found}
