"""One address that Apprise sends to: a chat, a phone, a mailbox.

Apprise blocks, gives only true or false, and writes the reason to its log. Here each attempt runs
in a thread of its own, which is given up if it hangs, and the log becomes a sentence of ours. Its
own words are never shown: they hold parts of the address, which is a secret.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.messages import Message, Notification
from ssdpt.monitor.outputs.base import Refused, RetryingOutput, TryAgain
from ssdpt.monitor.outputs.mail_probe import MailServer
from ssdpt.sentences import Sentence

_LIMIT = 30.0  # seconds for one attempt, longer than the limits of the services below
_SOCKET_LIMIT = 15.0  # seconds without an answer; Apprise's own 4 s are short for mail servers
_ABANDON_AFTER = 600.0  # seconds after which an attempt that hangs is repeated
_PATIENCE = 86400.0  # seconds; a service that fails at one message must not block all others
_KINDS = {"info": "info", "alert": "warning", "alarm": "failure", "over": "success"}
_HTTP = re.compile(r"\berror=(\d{3})(?:\d\d)?\b")  # ntfy adds two digits of its own
_SMTP = re.compile(r"\((\d{3}), b['\"]")
_WRONG_LOGIN_HTTP, _RETRYABLE_HTTP = {401, 403}, {408, 425, 429}
_WRONG_LOGIN_SMTP = {530, 534, 535, 538}
# Other reasons that people can do something about: what the log says, and what we say.
_REASONS = (
    ("STARTTLS extension not supported", Sentence("outputs.noStarttls")),
    ("AUTH extension not supported", Sentence("outputs.noSigningIn")),
    ("CERTIFICATE_VERIFY_FAILED", Sentence("outputs.notTrusted")),
    ("timed out", Sentence("outputs.silent")),
    ("refused", Sentence("outputs.connectionRefused")),
    ("onnection error", Sentence("outputs.unreachableAtAll")),
)


class AppriseAddress(RetryingOutput):
    """Delivers notifications to one address, in order, until each is accepted or refused."""

    settings_class = OutputSettings  # it has none of its own: `notify` makes it
    accepts = (Notification,)

    def __init__(
        self,
        url: str,
        *,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
        limit: float = _LIMIT,
    ) -> None:
        """`limit`: seconds for one attempt. SsdptError where the address is not understood."""
        self._url, self._limit = url, limit
        super().__init__(_label(_service(url)), pauses=pauses, sleep=sleep)
        self._attempt: _Attempt | None = None

    def probe(self, timeout: float) -> str:
        service = _service(self._url)
        server = _server(service)
        if server is not None and hasattr(service, "smtp_host"):
            mode, login = str(service.secure_mode), (service.user or "", service.password or "")
            return MailServer(*server, mode, *login, service.verify_certificate).probe(timeout)
        if server is None:
            return Sentence("outputs.addressUnderstood")
        try:
            socket.create_connection(server, timeout).close()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise TryAgain(Sentence("outputs.unreachable", reason=reason)) from None
        return Sentence("outputs.reachable")

    def send(self, message: Message) -> None:
        assert isinstance(message, Notification)
        attempt = self._attempt
        if attempt is None or attempt.age > _ABANDON_AFTER:
            attempt = self._attempt = _Attempt(self._url, message)
        attempt.wait(self._limit)  # TryAgain: it goes on, and may yet succeed
        self._attempt = None
        attempt.raise_failure()

    def send_beside(self, message: Notification, timeout: float) -> str:
        """Send a message beside the queue, once. TryAgain or Refused: why it was not accepted."""
        attempt = _Attempt(self._url, message)
        attempt.wait(timeout)
        attempt.raise_failure()
        return Sentence("outputs.accepted")


class _Attempt:
    """One message on its way, in a thread of its own."""

    def __init__(self, url: str, message: Notification) -> None:
        self._url, self._message = url, message
        self._began = time.monotonic()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="notification", daemon=True)
        self._thread.start()

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def wait(self, seconds: float) -> None:
        """TryAgain where it is not over after so many seconds."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            raise TryAgain(Sentence("outputs.noAnswer", seconds=seconds))

    def raise_failure(self) -> None:
        """TryAgain or Refused where it was not accepted."""
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            try:
                _deliver(self._url, self._message)
            except Refused:
                if not self._message.attachments:
                    raise
                # Many servers take no files, or only small ones; the words matter more.
                _deliver(self._url, self._message.model_copy(update={"attachments": ()}))
        except (TryAgain, Refused) as error:
            self._failure = error
        except Exception as error:
            # A fault of the library; its text may hold a secret.
            reason = Sentence("outputs.notSent", error=type(error).__name__)
            self._failure = TryAgain(reason, patience=_PATIENCE)


def _deliver(url: str, message: Notification) -> None:
    """TryAgain or Refused where it was not accepted."""
    apprise = _apprise()
    service = _service(url)
    files = apprise.AppriseAttachment(asset=service.asset)
    memory = importlib.import_module("apprise.attachment.memory").AttachMemory
    for file in message.attachments:
        files.add(memory(content=file.content, name=file.name, mimetype=file.media_type))
    with _LOG_LINES.of_this_thread() as lines:
        accepted = service.notify(
            body=message.text,
            title=message.title,
            notify_type=apprise.NotifyType(_KINDS[message.urgency]),
            attach=files if message.attachments else None,
            body_format=apprise.NotifyFormat.TEXT,
        )
    if not accepted:
        raise _failure(lines)


def _failure(lines: list[str]) -> TryAgain | Refused:
    """What the log of an attempt means for the message."""
    log = "\n".join(lines)
    if match := _HTTP.search(log):
        code = int(match[1])
        if code in _WRONG_LOGIN_HTTP:
            return TryAgain(Sentence("outputs.wrongToken", status=code), patience=_PATIENCE)
        if 400 <= code < 500 and code not in _RETRYABLE_HTTP:
            return Refused(Sentence("outputs.rejects", status=code))
        return TryAgain(Sentence("outputs.answers", status=code), patience=_PATIENCE)
    if match := _SMTP.search(log):
        code = int(match[1])
        if code in _WRONG_LOGIN_SMTP:
            return TryAgain(Sentence("outputs.wrongLogin", status=code), patience=_PATIENCE)
        if code >= 500:
            return Refused(Sentence("outputs.rejectsMail", status=code))
        return TryAgain(Sentence("outputs.defersMail", status=code), patience=_PATIENCE)
    for words, sentence in _REASONS:
        if words in log:
            return TryAgain(sentence)
    return TryAgain(Sentence("outputs.notAccepted"), patience=_PATIENCE)


class _LogLines(logging.Filter):
    """Takes what Apprise writes, by thread. Nothing of it reaches the log of the service."""

    def __init__(self) -> None:
        super().__init__()
        self._local = threading.local()

    @contextlib.contextmanager
    def of_this_thread(self) -> Iterator[list[str]]:
        """A list that fills."""
        lines: list[str] = []
        self._local.lines = lines
        try:
            yield lines
        finally:
            self._local.lines = None

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep a line for whoever reads the log of this thread, and let none pass."""
        lines = getattr(self._local, "lines", None)
        if lines is not None:
            lines.append(record.getMessage())
        return False


_LOG_LINES = _LogLines()


def _service(url: str) -> Any:
    """Apprise's object for an address; one for each attempt, since it is not made for threads."""
    service = _apprise().Apprise.instantiate(url, asset=_asset())
    if service is None:
        scheme = url.partition("://")[0] if "://" in url else ""
        shown = f"{scheme}://…" if re.fullmatch(r"[A-Za-z0-9]{1,20}", scheme) else "without scheme"
        raise SsdptError(Sentence("outputs.notUnderstood", address=shown))
    for name in ("socket_connect_timeout", "socket_read_timeout"):
        setattr(service, name, max(getattr(service, name), _SOCKET_LIMIT))
    if hasattr(service, "smtp_host"):
        # Nobody's mailbox shall answer that it is on holiday.
        service.headers.setdefault("Auto-Submitted", "auto-generated")
    if "format=" not in url:
        # Mails would be HTML otherwise.
        service.notify_format = _apprise().NotifyFormat.TEXT
    return service


def _label(service: Any) -> str:
    """What people know it by, without secrets: for many services the host is a token."""
    server = _server(service)
    name = str(service.service_name)
    if server is None:
        return name
    host, port = server
    return f"{name} {host}:{port}"


def _server(service: Any) -> tuple[str, int] | None:
    """Host and port; None for services that have one address for everyone."""
    host = getattr(service, "smtp_host", "") or service.host or ""
    of_its_own = any("{host}" in template for template in service.templates)
    is_host = "." in host or ":" in host or host == "localhost"
    if not of_its_own or not is_host:
        return None
    return host, service.port or (443 if service.secure else 80)


@cache
def _asset() -> Any:
    return _apprise().AppriseAsset(
        app_id="ssdpt",
        app_desc="ssdpt",
        app_url="",
        image_url_mask="",  # no icons from the internet
        image_url_logo="",
        storage_mode="memory",
    )


@cache
def _apprise() -> Any:
    try:
        apprise = importlib.import_module("apprise")
    except ImportError as error:
        raise SsdptError(Sentence("outputs.needsApprise")) from error
    # It logs addresses, which hold passwords: only we read them.
    log = logging.getLogger("apprise")
    log.setLevel(logging.DEBUG)
    log.addFilter(_LOG_LINES)
    logging.getLogger("urllib3").setLevel(logging.WARNING)  # below, it logs paths
    with warnings.catch_warnings():
        # It loads all services with the first address, some with parts that Python will drop.
        warnings.simplefilter("ignore", DeprecationWarning)
        apprise.Apprise.instantiate("json://localhost")
    return apprise
