"""Errors as {"error": sentence} and a status."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from ssdpt.config.validation import plain_reason
from ssdpt.errors import SsdptError, one_line
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.service.trials import UnknownTrial
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.sentences import Sentence, said
from ssdpt.server.schemas import ErrorReply

NO_MACHINE = Sentence("machines.unknown")
NO_EVENT = Sentence("api.noEvent")
NO_TRIAL = Sentence("api.trialOver")
SENTENCES = {
    400: Sentence("api.invalid"),
    401: Sentence("api.signIn"),
    403: Sentence("api.forbidden"),
    404: Sentence("api.nothingHere"),
    405: Sentence("api.wrongMethod"),
    413: Sentence("api.tooLarge"),
    415: Sentence("api.unsupportedContent"),
    416: Sentence("api.wrongRange"),
    429: Sentence("api.tooManyAttempts"),
    500: Sentence("api.internal"),
    503: Sentence("api.unavailable"),
}
_NO_JSON = Sentence("api.bodyNotJson")
_NOT_TEXT = "There was an error parsing the body"  # FastAPI's, of JSON that is not UTF-8
# Parts of a location that name where a value was, not the value.
_PLACES = ("body", "query", "path", "header")
_LOG = logging.getLogger(__name__)


def error_reply(
    status: int, sentence: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    """An error as a reply."""
    sentence = sentence or SENTENCES.get(status, SENTENCES[500 if status >= 500 else 400])
    # What a client sent may be part of the sentence: long, of several lines, or no valid Unicode.
    reply = ErrorReply(error=one_line(sentence))
    return JSONResponse(reply.model_dump(), status, headers=headers)


def add_error_handlers(app: FastAPI) -> None:
    """Register the reply to every kind of error."""

    @app.exception_handler(HTTPException)
    async def of_http(connection: HTTPConnection, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if error.detail == _NOT_TEXT:
            return error_reply(422, _NO_JSON)
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

    @app.exception_handler(UnknownTrial)
    async def of_trial(connection: HTTPConnection, error: Exception) -> JSONResponse:
        return error_reply(404, NO_TRIAL)

    @app.exception_handler(StoreUnavailable)
    async def of_store(connection: HTTPConnection, error: Exception) -> JSONResponse:
        return error_reply(503, said(error))

    @app.exception_handler(MemoryError)
    async def of_memory(connection: HTTPConnection, error: Exception) -> JSONResponse:
        """As in a full container: this request fails, monitoring goes on."""
        _LOG.warning("a request was refused, there is too little memory: %s", error)
        return error_reply(503)

    @app.exception_handler(SsdptError)
    async def of_service(connection: HTTPConnection, error: Exception) -> JSONResponse:
        return error_reply(409, said(error))


def _explain(error: Any) -> str:
    """What is wrong with a value of a request."""
    if error["type"] == "json_invalid":
        return _NO_JSON
    location = ".".join(str(part) for part in error["loc"] if part not in _PLACES)
    name = location or Sentence("api.theBody")
    return Sentence("common.of", name=name, what=plain_reason(error))
