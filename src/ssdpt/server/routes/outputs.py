"""Outputs: how they are doing, and test messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.exceptions import HTTPException

from ssdpt.monitor.messages import OutputInfo, OutputTest
from ssdpt.monitor.service.outputs import UnknownOutput
from ssdpt.sentences import Sentence
from ssdpt.server.auth import Admin, Viewer
from ssdpt.server.context import Context

router = APIRouter(prefix="/v1/outputs", tags=["outputs"])


@router.get("")
def outputs(user: Viewer, context: Context) -> list[OutputInfo]:
    """All outputs in the order of the configuration, and how they are doing."""
    return context.service.outputs()


@router.post("/{number}/test")
def test_output(
    user: Admin, number: Annotated[int, Path(ge=1, lt=2**31)], context: Context
) -> OutputTest:
    """Send a test message by an output, and wait at most 16 seconds for the receiver's answer."""
    try:
        result = context.service.test_output(number)
    except UnknownOutput:
        raise HTTPException(404, Sentence("api.noOutput", number=number)) from None
    context.log(user, "sent a test by output", str(number))
    return result
