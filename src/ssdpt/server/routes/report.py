"""The weekly report, for the page and as a PDF file."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import WeeklyReport
from ssdpt.monitor.report.pdf import report_pdf
from ssdpt.monitor.week import Week
from ssdpt.sentences import said
from ssdpt.server.auth import Viewer
from ssdpt.server.context import AppContext, Context

router = APIRouter(prefix="/v1", tags=["report"])

WeekQuery = Annotated[
    str | None,
    Query(max_length=20, description="Such as 2026-W46; by default the present week."),
]


@router.get("/report")
def report(user: Viewer, context: Context, week: WeekQuery = None) -> WeeklyReport:
    """Events, machines that get worse, hours listened and false alerts of a week."""
    return _report(context, week)


@router.get(
    "/report.pdf",
    response_class=Response,
    responses={200: {"content": {"application/pdf": {}}, "description": "A file."}},
)
def pdf(user: Viewer, context: Context, week: WeekQuery = None) -> Response:
    """The weekly report as a file to print, in the language of the plant."""
    made = _report(context, week)
    return Response(
        report_pdf(made),
        media_type="application/pdf",
        headers={"Content-Disposition": f'inline; filename="report-{made.week}.pdf"'},
    )


def _report(context: AppContext, week: str | None) -> WeeklyReport:
    try:
        wanted = None if week is None else Week.parse(week)
    except SsdptError as error:
        raise HTTPException(422, said(error)) from error
    return context.service.weekly_report(wanted)
