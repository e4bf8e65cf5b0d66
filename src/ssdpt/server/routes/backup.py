"""A backup to download."""

from __future__ import annotations

import itertools
import time
from datetime import datetime
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from ssdpt.monitor.store import backup_size, stream_backup
from ssdpt.server.auth import Admin
from ssdpt.server.context import Context
from ssdpt.server.schemas import BackupSize

router = APIRouter(prefix="/v1/backup", tags=["backup"])


@router.get(
    "",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-tar": {}}, "description": "A .tar file."}},
)
def backup(user: Admin, context: Context) -> StreamingResponse:
    """Scores, events, users, recordings, learned models and the machines added on the page.

    Made while it is sent; `ssdpt history restore FILE` reads it.
    """
    pieces = stream_backup(context.store)
    first = next(pieces)  # what fails at once is an error with a sentence, not a broken file
    context.log(user, "downloaded", "a backup")
    zone = ZoneInfo(context.service.status().timezone)
    now = datetime.fromtimestamp(time.time(), zone)
    return StreamingResponse(
        itertools.chain([first], pieces),
        media_type="application/x-tar",
        headers={
            "Content-Disposition": f'attachment; filename="ssdpt-{now:%Y-%m-%d-%H%M}.tar"',
            "Content-Encoding": "identity",  # recordings and tables are compressed already
        },
    )


@router.get("/size")
def size(user: Admin, context: Context) -> BackupSize:
    """About how large a backup would be now."""
    return BackupSize(bytes=backup_size(context.store))
