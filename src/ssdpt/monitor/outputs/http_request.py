"""Requests to other programs' web addresses, and what their answers mean for a message."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import IO, Any, Literal
from urllib.parse import urlsplit

from ssdpt.errors import SsdptError
from ssdpt.monitor.outputs.base import Refused, TryAgain
from ssdpt.sentences import Sentence
from ssdpt.version import __version__

_RETRYABLE = {408, 425, 429}  # of 4xx: the same message may be accepted later
_PATIENCE = 86400.0  # seconds; a receiver that fails at one message must not block all others
_MAX_WAIT = 3600.0  # seconds that a receiver may ask for


def send_request(
    url: str,
    method: Literal["GET", "POST"],
    timeout: float,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> int:
    """Send it once; gives the status of the answer, 2xx.

    TryAgain or Refused: why it was not accepted, without the address. `timeout`: seconds without
    an answer.
    """
    headers = {"User-Agent": f"ssdpt/{__version__}", **(headers or {})}
    request = urllib.request.Request(url, body, headers, method=method)
    try:
        with urllib.request.build_opener(_NoRedirect()).open(request, timeout=timeout) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            raise _failure(error) from None
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(error) from None


def check_reachable(url: str, timeout: float) -> None:
    """Connect and send nothing. TryAgain: why it did not work."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    connection_class = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = connection_class(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.connect()
    except OSError as error:
        raise _unreachable(error) from None
    finally:
        connection.close()


def server_of(kind: str, url: str) -> str:
    """Scheme, host and port, without path and query: these often hold a token."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise SsdptError(Sentence("outputs.noHost", kind=kind))
    if parts.username is not None or parts.password is not None:
        raise SsdptError(Sentence("outputs.passwordInUrl", kind=kind, host=host))
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected POST would become a GET, or send the event to someone else."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> None:
        return None


def _unreachable(error: Exception) -> TryAgain:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return TryAgain(Sentence("outputs.unreachable", reason=words))


def _failure(error: urllib.error.HTTPError) -> TryAgain | Refused:
    """What an answer other than 2xx means for the message."""
    if error.code >= 500 or error.code in _RETRYABLE:
        wait = error.headers.get("Retry-After", "")
        after = min(float(wait), _MAX_WAIT) if wait.isascii() and wait.isdigit() else None
        answers = Sentence("outputs.answers", status=error.code)
        return TryAgain(answers, after=after, patience=_PATIENCE)
    if error.code < 400:
        return Refused(Sentence("outputs.redirects", status=error.code))
    return Refused(Sentence("outputs.rejects", status=error.code))
