"""Changes of events, posted to a URL."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from ssdpt.common.backoff import Backoff
from ssdpt.common.secret import read_secret
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.messages import EventChanged, EventDelivery, Message
from ssdpt.monitor.outputs.base import QUEUE_LIMIT, Refused, RetryingOutput, TryAgain
from ssdpt.version import __version__

_TIMEOUT = 10.0  # seconds without an answer
_RETRYABLE = {408, 425, 429}  # of 4xx: the same message may be accepted later
_PATIENCE = 86400.0  # seconds; a receiver that fails at one message must not block all others
_MAX_WAIT = 3600.0  # seconds that a receiver may ask for


class WebhookSettings(OutputSettings):
    """A URL that every change of an event is posted to."""

    kind: Literal["webhook"] = "webhook"
    url: str = Field(
        pattern=r"^https?://", description="an address that begins with http:// or https://"
    )
    secret_file: Path | None = Field(
        None, description="file with the key that messages are signed with"
    )


class WebhookOutput(RetryingOutput):
    """POSTs JSON; every attempt to deliver one change has the same `X-Ssdpt-Delivery`.

    With a key, `X-Ssdpt-Signature` is sha256=HMAC-SHA256(key, body) in hexadecimal digits.
    """

    settings_class = WebhookSettings
    accepts = (EventChanged,)

    def __init__(
        self,
        settings: WebhookSettings,
        names: Mapping[str, str] | None = None,
        *,
        queue_limit: int = QUEUE_LIMIT,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        super().__init__(
            f"webhook {_server(settings.url)}",
            names,
            queue_limit=queue_limit,
            pauses=pauses,
            sleep=sleep,
        )
        self._url = settings.url
        self._key = read_secret(settings.secret_file).encode() if settings.secret_file else None
        self._opener = urllib.request.build_opener(_NoRedirect())

    def probe(self, timeout: float) -> str:
        url = urlsplit(self._url)
        secure = url.scheme == "https"
        connection_class = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connection_class(url.hostname or "", url.port, timeout=timeout)
        try:
            connection.connect()
        except OSError as error:
            raise _unreachable(error) from None
        finally:
            connection.close()
        return "reachable (nothing sent)"

    def send(self, message: Message) -> None:
        assert isinstance(message, EventChanged)
        body = EventDelivery.of(message).model_dump_json().encode()
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
            raise _unreachable(error) from None


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
    return TryAgain(f"cannot be reached ({str(reason) or type(reason).__name__})")


def _failure(error: urllib.error.HTTPError) -> TryAgain | Refused:
    """What an answer other than 2xx means for the message."""
    if error.code >= 500 or error.code in _RETRYABLE:
        wait = error.headers.get("Retry-After", "")
        after = min(float(wait), _MAX_WAIT) if wait.isascii() and wait.isdigit() else None
        return TryAgain(f"answers {error.code}", after=after, patience=_PATIENCE)
    if error.code < 400:
        return Refused(f"answers {error.code}, a redirection; set url to its target")
    return Refused(f"answers {error.code} and rejects the message")


def _server(url: str) -> str:
    """Scheme, host and port, without path and query: these often hold a token."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise SsdptError("webhook: url has no host; write https://host/path")
    if parts.username is not None or parts.password is not None:
        raise SsdptError(f"webhook {host}: user and password in url are not sent; use secret_file")
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")
