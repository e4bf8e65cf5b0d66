"""Whatever goes wrong, as {"error": sentence} and a status."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.server.json_response import Json

NO_MACHINE = "there is no such machine"
SENTENCES = {
    400: "the request cannot be understood",
    401: "log in first, or send a token: Authorization: Bearer …",
    403: "this is not allowed for you",
    404: "there is nothing at this address",
    405: "this address does not know that method",
    413: "the body is too large",
    415: "this kind of content is not understood here",
    416: "the recording does not reach so far",
    429: "too many attempts; try again later",
    500: "something went wrong inside ssdpt; its log says what",
    503: "this is not available at the moment",
}


def problem(status: int, sentence: str = "", headers: dict[str, str] | None = None) -> Json:
    """An error reply."""
    words = sentence or SENTENCES.get(status, SENTENCES[500 if status >= 500 else 400])
    return Json({"error": words}, status, headers=headers)


def handle_problems(app: FastAPI) -> None:
    """Register what is answered to every kind of error."""

    @app.exception_handler(HTTPException)
    async def of_http(connection: HTTPConnection, error: Exception) -> Json:
        assert isinstance(error, HTTPException)
        # Without words of ours the detail is only the status's own phrase.
        ours = error.status_code not in (404, 405) or error.detail not in (
            *("Not Found", "Method Not Allowed"),
        )
        headers = dict(error.headers) if error.headers else None
        return problem(error.status_code, error.detail if ours else "", headers)

    @app.exception_handler(WebSocketRequestValidationError)
    @app.exception_handler(RequestValidationError)
    async def of_values(connection: HTTPConnection, error: Exception) -> Json:
        assert isinstance(error, RequestValidationError | WebSocketRequestValidationError)
        return problem(422, _first(list(error.errors())))

    @app.exception_handler(UnknownMachine)
    async def of_machine(connection: HTTPConnection, error: Exception) -> Json:
        return problem(404, NO_MACHINE)

    @app.exception_handler(StoreUnavailable)
    async def of_store(connection: HTTPConnection, error: Exception) -> Json:
        return problem(503, str(error))

    @app.exception_handler(SsdptError)
    async def of_request(connection: HTTPConnection, error: Exception) -> Json:
        return problem(409, str(error))


def _first(errors: list[Any]) -> str:
    """What is wrong with the first value that is; never the value itself."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    if first["type"] == "json_invalid":
        return "the body is no valid JSON"
    reason = str(first["msg"]).removeprefix("Value error, ")
    return f"{where or 'the body'}: {reason}"
