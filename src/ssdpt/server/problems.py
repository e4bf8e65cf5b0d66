"""Errors as {"error": sentence} and a status."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from ssdpt.config.validation import plain_reason
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.server.schemas import ErrorReply

NO_MACHINE = "there is no such machine"
NO_EVENT = "there is no such event"
SENTENCES = {
    400: "the request is not valid",
    401: "please sign in, or send a token: Authorization: Bearer …",
    403: "you may not do this",
    404: "there is nothing at this address",
    405: "this address does not allow this method",
    413: "the body is too large",
    415: "this content type is not supported here",
    416: "the recording is shorter than the requested range",
    429: "too many attempts; try again later",
    500: "an internal error happened in ssdpt; see its log",
    503: "not available at the moment; try again later",
}
# Parts of a location that name where a value was, not the value.
_PLACES = ("body", "query", "path", "header")


def error_reply(
    status: int, sentence: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    """An error as a reply."""
    sentence = sentence or SENTENCES.get(status, SENTENCES[500 if status >= 500 else 400])
    # What a client sent may be part of the sentence, and need not be valid Unicode.
    reply = ErrorReply(error=sentence.encode("utf-8", "replace").decode())
    return JSONResponse(reply.model_dump(), status, headers=headers)


def add_error_handlers(app: FastAPI) -> None:
    """Register the reply to every kind of error."""

    @app.exception_handler(HTTPException)
    async def of_http(connection: HTTPConnection, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        # Starlette's own errors say no more than the status.
        ours = error.detail not in ("Not Found", "Method Not Allowed")
        headers = dict(error.headers) if error.headers else None
        return error_reply(error.status_code, error.detail if ours else "", headers)

    @app.exception_handler(WebSocketRequestValidationError)
    @app.exception_handler(RequestValidationError)
    async def of_validation(connection: HTTPConnection, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError | WebSocketRequestValidationError)
        return error_reply(422, _explain(error.errors()[0]))

    @app.exception_handler(UnknownMachine)
    async def of_machine(connection: HTTPConnection, error: Exception) -> JSONResponse:
        return error_reply(404, NO_MACHINE)

    @app.exception_handler(StoreUnavailable)
    async def of_store(connection: HTTPConnection, error: Exception) -> JSONResponse:
        return error_reply(503, str(error))

    @app.exception_handler(SsdptError)
    async def of_service(connection: HTTPConnection, error: Exception) -> JSONResponse:
        return error_reply(409, str(error))


def _explain(error: Any) -> str:
    """What is wrong with a value of a request."""
    if error["type"] == "json_invalid":
        return "the body is not valid JSON"
    location = [str(part) for part in error["loc"] if part not in _PLACES]
    return f"{'.'.join(location) or 'the body'}: {plain_reason(error)}"
