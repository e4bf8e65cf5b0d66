"""Changes of events, posted to an address."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import IO, Any
from urllib.parse import urlsplit

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import WebhookSettings
from ssdpt.monitor.outputs.base import ROOM, Refused, RetryingOutput, TryAgain
from ssdpt.monitor.outputs.messages import EventChanged, Message, change_json, encoded
from ssdpt.monitor.outputs.secret import read_secret
from ssdpt.version import __version__

_TIMEOUT = 10.0  # seconds without an answer
_LATER = {408, 425, 429}  # of 4xx: not now, but the same message may be wanted later
_PATIENCE = 86400.0  # seconds; a receiver that fails at one message must not hold up all others
_LONGEST_WAIT = 3600.0  # seconds that a receiver may ask for


class WebhookOutput(RetryingOutput):
    """POSTs JSON; every attempt of one change has the same `X-Ssdpt-Delivery`.

    With a key, `X-Ssdpt-Signature` is sha256=HMAC-SHA256(key, body) in hexadecimal digits.
    """

    wants = (EventChanged,)

    def __init__(
        self,
        settings: WebhookSettings,
        *,
        room: int = ROOM,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        super().__init__(f"webhook {_place(settings.url)}", room=room, pauses=pauses, sleep=sleep)
        self._url = settings.url
        self._key = read_secret(settings.secret_file).encode() if settings.secret_file else None
        self._opener = urllib.request.build_opener(_NoRedirect())

    def probe(self, timeout: float) -> str:
        place = urlsplit(self._url)
        secure = place.scheme == "https"
        connection = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        line = connection(place.hostname or "", place.port, timeout=timeout)
        try:
            line.connect()
        except OSError as error:
            raise _unreached(error) from None
        finally:
            line.close()
        return "takes the connection; nothing was posted"

    def send(self, message: Message) -> None:
        assert isinstance(message, EventChanged)
        body = encoded(change_json(message))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"ssdpt/{__version__}",
            "X-Ssdpt-Delivery": message.delivery,
        }
        if self._key is not None:
            signature = hmac.new(self._key, body, hashlib.sha256).hexdigest()
            headers["X-Ssdpt-Signature"] = f"sha256={signature}"
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            self._opener.open(request, timeout=_TIMEOUT).close()
        except urllib.error.HTTPError as error:
            with error:
                raise _failure(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise _unreached(error) from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected POST would become a GET, or take the event to someone else."""

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


def _unreached(error: Exception) -> TryAgain:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return TryAgain(f"cannot be reached ({str(reason) or type(reason).__name__})")


def _failure(error: urllib.error.HTTPError) -> TryAgain | Refused:
    """What an answer other than 2xx means for the message."""
    if error.code >= 500 or error.code in _LATER:
        wait = error.headers.get("Retry-After", "")
        after = min(float(wait), _LONGEST_WAIT) if wait.isascii() and wait.isdigit() else None
        return TryAgain(f"answers {error.code}", after=after, patience=_PATIENCE)
    if error.code < 400:
        return Refused(f"answers {error.code}, a redirection; set url to where it leads")
    return Refused(f"answers {error.code} and does not want the message")


def _place(url: str) -> str:
    """Where it is, without path and query: these often hold a token."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise SsdptError("webhook: url names no host; write https://host/path")
    if parts.username is not None or parts.password is not None:
        raise SsdptError(
            f"webhook {host}: url holds a user or password, which is not sent; use secret_file"
        )
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")
