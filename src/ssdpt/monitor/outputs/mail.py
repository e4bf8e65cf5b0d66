"""Mails when events begin or end."""

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
from typing import Literal

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MailSettings
from ssdpt.monitor.messages import Event
from ssdpt.monitor.outputs.base import ROOM, Refused, RetryingOutput, TryAgain
from ssdpt.monitor.outputs.messages import EventChanged, Message
from ssdpt.monitor.outputs.secret import read_secret

_TIMEOUT = 20.0  # seconds without an answer
_HOUR = 3600.0  # seconds
_PATIENCE = 86400.0  # seconds that a server may put one mail off
_REMEMBERED = 10_000  # events
_LOG = logging.getLogger(__name__)

Stage = Literal["below", "began", "ended"]  # below: not of the level that is mailed


class MailOutput(RetryingOutput):
    """One mail when an event reaches the wanted level, and one when it is over.

    After `most_an_hour` mails within an hour the next one waits until the first of them is an
    hour old, and then tells everything that has happened meanwhile.
    """

    wants = (EventChanged,)

    def __init__(
        self,
        settings: MailSettings,
        titles: Mapping[str, str] | None = None,
        *,
        room: int = ROOM,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`titles`: names for people by machine; `clock`: seconds since 1970."""
        super().__init__(
            f"mail {settings.host}:{settings.port}", titles, room=room, pauses=pauses, sleep=sleep
        )
        self._settings = settings
        self._password = read_secret(settings.password_file) if settings.password_file else None
        if (self._password is not None) != bool(settings.user):
            raise SsdptError(f"{self.name}: user and password_file need each other")
        self._clock = clock
        self._stages: OrderedDict[str, Stage] = OrderedDict()  # by event, the oldest first
        self._mailed: deque[float] = deque(maxlen=settings.most_an_hour)  # when
        self._limited = False
        self._mail: EmailMessage | None = None  # on its way
        self._left: list[str] = []  # who has not got it yet

    def probe(self, timeout: float) -> str:
        with self._connected(timeout) as server:
            server.ehlo_or_helo_if_needed()
        return "says hello" if self._password is None else "takes the login"

    def send(self, message: Message) -> None:
        assert isinstance(message, EventChanged)
        if self._mail is None:
            self._mail = self._compose(message)
            self._left = list(self._settings.to)
        if self._mail is None:
            return
        try:
            self._post(self._mail)
        except Refused:
            self._mail = None
            raise
        self._mail = None
        self._mailed.append(self._clock())

    # -- What is news ----------------------------------------------------------------------------

    def _compose(self, message: EventChanged) -> EmailMessage | None:
        """The mail that tells this change, and those behind it if mails were too many."""
        if self._news(message.event) is None:
            self._note(message.event)
            return None
        wait = self._seconds_too_early()
        if wait > 0 and not self._closing.is_set():
            self._limited = True
            raise TryAgain(
                f"{self._settings.most_an_hour} mails went out within an hour; "
                "what happens meanwhile follows in one",
                after=wait,
            )
        changes = [message]
        if wait > 0 or self._limited:
            rest = self._outbox.take_rest()
            changes += [other for other in rest if isinstance(other, EventChanged)]
        self._limited = False
        told = []
        for change in changes:
            stage = self._news(change.event)
            self._note(change.event)
            if stage is not None:
                told.append((stage, change.event))
        return self._written(message, told)

    def _seconds_too_early(self) -> float:
        if len(self._mailed) < self._settings.most_an_hour:
            return 0.0
        return max(0.0, self._mailed[0] + _HOUR - self._clock())

    def _news(self, event: Event) -> Stage | None:
        """The stage that it has reached, where nobody was told that yet."""
        before, now = self._stages.get(event.id), self._stage(event)
        touched = event.acknowledged_at is not None or event.comments or event.label
        if before is None and touched:
            return None  # people knew it before this process began
        return None if now in ("below", before) else now

    def _stage(self, event: Event) -> Stage:
        if self._settings.level == "alarm" and event.level != "alarm":
            return "below"
        return "began" if event.ended is None else "ended"

    def _note(self, event: Event) -> None:
        self._stages[event.id] = self._stage(event)
        self._stages.move_to_end(event.id)
        if len(self._stages) > _REMEMBERED:
            self._stages.popitem(last=False)

    # -- How it is written -----------------------------------------------------------------------

    def _written(self, message: EventChanged, told: list[tuple[Stage, Event]]) -> EmailMessage:
        mail = EmailMessage()
        mail["From"] = self._settings.sender
        mail["To"] = ", ".join(self._settings.to)
        mail["Date"] = format_datetime(datetime.fromtimestamp(self._clock(), UTC))
        # The same for every attempt, and a thread for every event.
        mail["Message-ID"] = f"<{message.delivery}@ssdpt.invalid>"
        mail["References"] = f"<{message.event.id}@ssdpt.invalid>"
        mail["Auto-Submitted"] = "auto-generated"
        if len(told) == 1:
            mail["Subject"] = self._headline(*told[0])
        else:
            machines = len({event.machine for _, event in told})
            mail["Subject"] = f"{len(told)} messages from {machines} machine(s)"
        mail.set_content("\n\n".join(self._paragraph(*entry) for entry in told) + "\n")
        return mail

    def _headline(self, stage: Stage, event: Event) -> str:
        what = event.level.upper() if stage == "began" else f"Over ({event.level})"
        # One line: a name or a sentence with a line end would begin another header.
        return " ".join(f"{what}: {self._title(event.machine)}: {event.words}".split())

    def _paragraph(self, stage: Stage, event: Event) -> str:
        lines = [
            self._headline(stage, event),
            f"Machine: {' '.join(self._title(event.machine).split())} ({event.machine})",
            f"Began: {_moment(event.began)}",
        ]
        if event.ended is not None:
            lines.append(f"Ended: {_moment(event.ended)}")
        if event.peak is not None and event.threshold is not None:
            lines.append(f"Highest score: {event.peak:.3g} (limit {event.threshold:.3g})")
        lines.append(f"Event: {event.id}")
        return "\n".join(lines)

    # -- How it is sent --------------------------------------------------------------------------

    def _post(self, mail: EmailMessage) -> None:
        try:
            with self._connected(_TIMEOUT) as server:
                refused = server.send_message(mail, self._settings.sender, self._left)
        except smtplib.SMTPRecipientsRefused as error:
            refused = error.recipients
        except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
            if error.smtp_code >= 500:
                raise Refused(f"refuses the mail ({error.smtp_code})") from None
            raise TryAgain(f"puts the mail off ({error.smtp_code})", patience=_PATIENCE) from None
        never = sorted(name for name, (code, _) in refused.items() if code >= 500)
        if never:
            _LOG.warning("%s: takes no mail for %s", self.name, ", ".join(never))
        if set(never) >= set(self._left):
            raise Refused("takes mail for none of the addresses")
        self._left = [name for name in refused if name not in never]
        if self._left:
            raise TryAgain("puts off some of the addresses", patience=_PATIENCE)

    @contextlib.contextmanager
    def _connected(self, timeout: float) -> Iterator[smtplib.SMTP]:
        """A server that has let us in; what it says of a mail is raised as it is."""
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
                # However the goodbye goes: what the server has accepted is sent.
                with contextlib.suppress(OSError):
                    server.quit()
                server.close()
        except smtplib.SMTPAuthenticationError:
            raise TryAgain("refuses the user or the password") from None
        except smtplib.SMTPNotSupportedError:
            raise TryAgain("does not offer what is asked for; check tls and user") from None
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused, smtplib.SMTPDataError):
            raise
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise TryAgain(f"cannot be reached ({reason})") from None

    def _server(self, timeout: float) -> smtplib.SMTP:
        place = self._settings.host, self._settings.port
        if self._settings.tls == "tls":
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(*place, timeout=timeout, context=context)
        return smtplib.SMTP(*place, timeout=timeout)


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
