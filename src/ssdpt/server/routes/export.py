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
from ssdpt.server.auth import Viewer
from ssdpt.server.context import Context
from ssdpt.server.ids import existing_machine
from ssdpt.server.time_range import TimeRange, TimeRangeQuery

router = APIRouter(prefix="/v1", tags=["export"])

_DAY = 86400.0
_EVENTS_PER_QUERY = 1000
_MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/x-parquet",
}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}}, "description": "A file."}},
)
def export(
    user: Viewer,
    context: Context,
    time_range: TimeRangeQuery,
    machine: Annotated[
        str | None, Query(description="Id of one machine; all machines if it is left out.")
    ] = None,
    what: Annotated[Literal["scores", "events"], Query()] = "scores",
    format: Annotated[Format, Query()] = "csv",
) -> StreamingResponse:
    """Scores at the stored resolution, or events; by default of the last hour."""
    if machine is not None:
        existing_machine(context, machine)
    machines = [machine] if machine is not None else context.service.machine_ids()
    if what == "scores":
        points = itertools.chain.from_iterable(
            _points(context.store, id, time_range) for id in machines
        )
        pieces = export_trend(points, format)
    else:
        pieces = export_events(_events(context.store, machine, time_range), format)
    name = f"{machine or 'all'}-{what}.{format}"
    return StreamingResponse(
        pieces,
        media_type=_MEDIA_TYPES[format],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _points(store: Store, machine: str, time_range: TimeRange) -> Iterator[TrendPoint]:
    """The scores day by day, so that only one day is in memory."""
    begin = time_range.begin
    while begin < time_range.end:
        end = min(time_range.end, (math.floor(begin / _DAY) + 1) * _DAY)
        trend = store.trend(machine, begin, end, math.ceil(end - begin))
        values = zip(
            trend.time.tolist(),
            *(_or_none(part.tolist()) for part in (trend.low, trend.mean, trend.high)),
            trend.state,
            trend.alert_seconds.tolist(),
            trend.alarm_seconds.tolist(),
            strict=True,
        )
        for point in values:
            yield TrendPoint(machine, *point)
        begin = end


def _or_none(values: list[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def _events(store: Store, machine: str | None, time_range: TimeRange) -> Iterator[Event]:
    """The events, newest first, page by page.

    A page repeats the events that began when the last one of the page before did.
    """
    before: float | None = None
    previous: set[str] = set()
    while True:
        page = store.events(
            machine=machine,
            begin=time_range.begin,
            end=time_range.end,
            before=before,
            limit=_EVENTS_PER_QUERY,
        )
        new = [event for event in page if event.id not in previous]
        yield from new
        if len(page) < _EVENTS_PER_QUERY or not new:
            return
        before = math.nextafter(page[-1].began, math.inf)
        previous = {event.id for event in page}
