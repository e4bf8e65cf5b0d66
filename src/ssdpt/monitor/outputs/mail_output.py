"""Mails when events begin and end."""

from __future__ import annotations

import contextlib
import logging
import smtplib
import ssl
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from ssdpt.common.backoff import Backoff
from ssdpt.common.secret import read_secret
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import OutputSettings, Port
from ssdpt.monitor.messages import Event, EventChanged, EventLevel, Message
from ssdpt.monitor.outputs.base import QUEUE_LIMIT, Refused, RetryingOutput, TryAgain

_TIMEOUT = 20.0  # seconds without an answer
_HOUR = 3600.0  # seconds
_PATIENCE = 86400.0  # seconds that a server may defer one mail
_MAX_EVENTS = 10_000  # whose stage is remembered
_LOG = logging.getLogger(__name__)

Stage = Literal["below", "alert", "alarm", "ended"]  # below: not of the level that is mailed


class MailSettings(OutputSettings):
    """Mails when an event begins and ends."""

    kind: Literal["mail"] = "mail"
    host: str = Field(description="the mail server")
    port: Port = 587
    tls: Literal["starttls", "tls", "none"] = Field("starttls", description="how it is encrypted")
    user: str = Field("", description="to sign in; empty = without signing in")
    password_file: Path | None = Field(None, description="file with the password")
    sender: str = Field(description="the address that mails come from")
    to: tuple[str, ...] = Field(min_length=1, description="the addresses that mails go to")
    level: EventLevel = Field("alarm", description="alert = mails about alerts as well")
    max_per_hour: int = Field(10, ge=1, description="mails; more events are joined in one mail")


class MailOutput(RetryingOutput):
    """One mail when an event reaches a level that is mailed, and one when it is over for good.

    An event whose cause comes and goes is not mailed again for every episode.

    After `max_per_hour` mails within an hour, the next one waits until the first of them is an hour
    old. It then reports all events since.
    """

    settings_class = MailSettings
    accepts = (EventChanged,)

    def __init__(
        self,
        settings: MailSettings,
        names: Mapping[str, str] | None = None,
        *,
        queue_limit: int = QUEUE_LIMIT,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`names`: of the machines, for people; `clock`: seconds since 1970."""
        super().__init__(
            f"mail {settings.host}:{settings.port}",
            names,
            queue_limit=queue_limit,
            pauses=pauses,
            sleep=sleep,
        )
        self._settings = settings
        self._password = read_secret(settings.password_file) if settings.password_file else None
        if (self._password is not None) != bool(settings.user):
            raise SsdptError(f"{self.name}: set both user and password_file, or none")
        self._clock = clock
        self._stages: OrderedDict[str, Stage] = OrderedDict()  # by event, the oldest first
        self._mail_times: deque[float] = deque(maxlen=settings.max_per_hour)
        self._limited = False
        self._mail: EmailMessage | None = None  # being sent
        self._recipients: list[str] = []  # who has not received it yet

    def probe(self, timeout: float) -> str:
        with self._connected(timeout) as server:
            server.ehlo_or_helo_if_needed()
        return "reachable (nothing sent)" if self._password is None else "signed in (nothing sent)"

    def send(self, message: Message) -> None:
        assert isinstance(message, EventChanged)
        if self._mail is None:
            self._mail = self._compose(message)
            self._recipients = list(self._settings.to)
        if self._mail is None:
            return
        try:
            self._post(self._mail)
        except Refused:
            self._mail = None
            raise
        self._mail = None
        self._mail_times.append(self._clock())

    # -- Which events are mailed -----------------------------------------------------------------

    def _compose(self, message: EventChanged) -> EmailMessage | None:
        """The mail about this change, and about those behind it if there were too many mails."""
        if self._new_stage(message.event) is None:
            self._remember(message.event)
            return None
        wait = self._seconds_to_wait()
        if wait > 0 and not self._closing.is_set():
            self._limited = True
            raise TryAgain(
                f"{self._settings.max_per_hour} mails sent within an hour; "
                "further events follow in one mail",
                after=wait,
            )
        changes = [message]
        if wait > 0 or self._limited:
            rest = self._outbox.take_rest()
            changes += [other for other in rest if isinstance(other, EventChanged)]
        self._limited = False
        entries = []
        for change in changes:
            stage = self._new_stage(change.event)
            self._remember(change.event)
            if stage is not None:
                entries.append((stage, change.event))
        return self._written(message, entries)

    def _seconds_to_wait(self) -> float:
        if len(self._mail_times) < self._settings.max_per_hour:
            return 0.0
        return max(0.0, self._mail_times[0] + _HOUR - self._clock())

    def _new_stage(self, event: Event) -> Stage | None:
        """The stage that it has reached; None where that was mailed before."""
        before, now = self._stages.get(event.id), self._stage(event)
        handled = event.acknowledged is not None or event.comments or event.label
        if before is None and handled:
            return None  # people knew it before this process started
        return None if now in ("below", before) else now

    def _stage(self, event: Event) -> Stage:
        if self._settings.level == "alarm" and event.level != "alarm":
            return "below"
        return event.level if event.ended is None or event.may_continue else "ended"

    def _remember(self, event: Event) -> None:
        self._stages[event.id] = self._stage(event)
        self._stages.move_to_end(event.id)
        if len(self._stages) > _MAX_EVENTS:
            self._stages.popitem(last=False)

    # -- The text --------------------------------------------------------------------------------

    def _written(self, message: EventChanged, entries: list[tuple[Stage, Event]]) -> EmailMessage:
        mail = EmailMessage()
        mail["From"] = self._settings.sender
        mail["To"] = ", ".join(self._settings.to)
        mail["Date"] = format_datetime(datetime.fromtimestamp(self._clock(), UTC))
        # The same for every attempt, and a thread for every event.
        mail["Message-ID"] = f"<{message.delivery}@ssdpt.invalid>"
        mail["References"] = f"<{message.event.id}@ssdpt.invalid>"
        mail["Auto-Submitted"] = "auto-generated"
        if len(entries) == 1:
            mail["Subject"] = self._headline(*entries[0])
        else:
            machines = len({event.machine for _, event in entries})
            mail["Subject"] = f"{len(entries)} messages from {machines} machine(s)"
        mail.set_content("\n\n".join(self._paragraph(*entry) for entry in entries) + "\n")
        return mail

    def _headline(self, stage: Stage, event: Event) -> str:
        what = f"Over ({event.level})" if stage == "ended" else event.level.upper()
        # The most important finding is short enough for a subject; all of them follow in the text.
        cause = event.findings[0].text if event.findings else event.message
        # One line: a line break in a name or message would start another header.
        return " ".join(f"{what}: {self._name_of(event.machine)}: {cause}".split())

    def _paragraph(self, stage: Stage, event: Event) -> str:
        lines = [
            self._headline(stage, event),
            f"Machine: {' '.join(self._name_of(event.machine).split())} ({event.machine})",
            f"Began: {_utc(event.began)}",
        ]
        if event.ended is not None:
            lines.append(f"Ended: {_utc(event.ended)}")
        if len(event.episodes) > 1:
            lines.append(f"Came and went: {len(event.episodes)} times")
        if event.peak is not None and event.threshold is not None:
            lines.append(f"Highest score: {event.peak:.3g} (threshold {event.threshold:.3g})")
        if event.findings:
            lines.append("What has changed against the normal sound:")
            lines += [f"- {finding.text}" for finding in event.findings]
        lines.append(f"Event: {event.id}")
        return "\n".join(lines)

    # -- Sending ---------------------------------------------------------------------------------

    def _post(self, mail: EmailMessage) -> None:
        try:
            with self._connected(_TIMEOUT) as server:
                refused = server.send_message(mail, self._settings.sender, self._recipients)
        except smtplib.SMTPRecipientsRefused as error:
            refused = error.recipients
        except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
            if error.smtp_code >= 500:
                raise Refused(f"rejects the mail ({error.smtp_code})") from None
            raise TryAgain(f"defers the mail ({error.smtp_code})", patience=_PATIENCE) from None
        rejected = sorted(name for name, (code, _) in refused.items() if code >= 500)
        if rejected:
            _LOG.warning("%s: rejects mail for %s", self.name, ", ".join(rejected))
        if set(rejected) >= set(self._recipients):
            raise Refused("rejects mail for all addresses")
        self._recipients = [name for name in refused if name not in rejected]
        if self._recipients:
            raise TryAgain("defers mail for some addresses", patience=_PATIENCE)

    @contextlib.contextmanager
    def _connected(self, timeout: float) -> Iterator[smtplib.SMTP]:
        """A server that we are signed in to; errors about a mail are raised as they are."""
        settings = self._settings
        try:
            server = self._server(timeout)
            try:
                if settings.tls == "starttls":
                    server.starttls(context=ssl.create_default_context())
                if self._password is not None:
                    server.login(settings.user, self._password)
                yield server
            finally:
                # A failure here does not matter: what the server has accepted is sent.
                with contextlib.suppress(OSError):
                    server.quit()
                server.close()
        except smtplib.SMTPAuthenticationError:
            raise TryAgain("rejects user or password") from None
        except smtplib.SMTPNotSupportedError:
            raise TryAgain("does not support these settings; check tls and user") from None
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused, smtplib.SMTPDataError):
            raise
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise TryAgain(f"cannot be reached ({reason})") from None

    def _server(self, timeout: float) -> smtplib.SMTP:
        address = self._settings.host, self._settings.port
        if self._settings.tls == "tls":
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(*address, timeout=timeout, context=context)
        return smtplib.SMTP(*address, timeout=timeout)


def _utc(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
