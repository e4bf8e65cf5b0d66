"""Notifications for people, by Apprise: ntfy, Telegram, Teams, Signal, mail and many more."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote

from pydantic import Field, model_validator

from ssdpt.common.backoff import Backoff
from ssdpt.common.secret import read_secret, read_secrets
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.messages import (
    Event,
    EventChanged,
    EventLevel,
    Message,
    Notification,
    ServiceStarted,
    ServiceStopped,
    WeeklyReport,
)
from ssdpt.monitor.outputs.apprise_address import AppriseAddress
from ssdpt.monitor.outputs.base import QUEUE_LIMIT, Output, OutputStatus, Refused, TryAgain
from ssdpt.monitor.outputs.context import OutputContext
from ssdpt.monitor.outputs.digest import Digest, DigestRules, News
from ssdpt.monitor.outputs.event_stages import EventStages
from ssdpt.monitor.outputs.notification_text import NotificationText
from ssdpt.monitor.outputs.quiet_hours import QuietHours, QuietPeriod
from ssdpt.monitor.outputs.reminders import Reminders
from ssdpt.monitor.report.notification import report_notification
from ssdpt.sentences import Sentence, clauses, said

_LONGEST_WAIT = 60.0  # seconds; the clock of the computer may be set
_MINUTE = 60.0  # seconds
_PASSWORD = "{password}"  # in an address


class NotifySettings(OutputSettings):
    """Messages to people when events begin, get worse and end."""

    kind: Literal["notify"] = "notify"
    urls: tuple[str, ...] = Field((), repr=False, description="addresses of Apprise")
    urls_file: Path | None = Field(None, description="file with more, one per line")
    password_file: Path | None = Field(
        None, description="file with the password that replaces {password} in the addresses"
    )
    groups: tuple[str, ...] = Field(
        (), description="groups of machines that it is for; empty = all machines"
    )
    level: EventLevel = Field("alarm", description="alert = tells of alerts as well")
    quiet_hours: tuple[QuietPeriod, ...] = Field(
        (), description="when people are not disturbed; what came then is told when they end"
    )
    alarms_pass: bool = Field(False, description="true = alarms are told in quiet hours too")
    cooldown: float = Field(
        0.0, ge=0, description="seconds between two messages about the same machine"
    )
    group_within: float = Field(
        10.0, ge=0, le=3600, description="seconds to wait, so that many machines make one message"
    )
    wait_for_picture: float = Field(
        30.0, ge=0, le=300, description="seconds to wait for an event's picture; 0 = no waiting"
    )
    remind_after: float = Field(
        0.0, ge=0, description="minutes between reminders of unacknowledged alarms; 0 = none"
    )
    max_per_hour: int = Field(
        10, ge=1, description="messages; then more are joined in one later, but alarms do not wait"
    )
    link: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="address of the page for links; empty = public_url of the configuration",
    )
    service: bool = Field(True, description="also tell when monitoring stops and starts again")
    report: bool = Field(True, description="also send the weekly report, as PDF where it can")

    @model_validator(mode="after")
    def _has_addresses(self) -> Self:
        if not self.urls and self.urls_file is None:
            raise ValueError(Sentence("outputs.noAddresses"))
        return self


class NotifyOutput(Output):
    """Gathers news as its rules say; every address is served by a thread of its own."""

    settings_class = NotifySettings
    accepts = (EventChanged, ServiceStarted, ServiceStopped, Notification, WeeklyReport)

    def __init__(
        self,
        settings: NotifySettings,
        context: OutputContext | None = None,
        *,
        queue_limit: int = QUEUE_LIMIT,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.time,
        limit: float | None = None,
    ) -> None:
        """`clock`: seconds since 1970; `limit`: seconds for one attempt."""
        self._settings, self._clock = settings, clock
        more = {} if limit is None else {"limit": limit}
        self._addresses = [
            AppriseAddress(url, pauses=pauses, sleep=sleep, **more) for url in _urls(settings)
        ]
        labels = list(dict.fromkeys(address.name for address in self._addresses))
        super().__init__(
            f"notify {', '.join(labels)}", context, queue_limit=queue_limit, pauses=pauses
        )
        self.groups = settings.groups
        self._stages = EventStages(settings.level)
        self._remind_after = settings.remind_after * _MINUTE
        self._reminders = Reminders(self._remind_after)
        self._digest = Digest(self._rules(), self._quiet_hours())
        self._context_changed = True
        self._adopt_context()

    def start(self) -> None:
        for address in self._addresses:
            address.start()
        super().start()

    def probe(self, timeout: float) -> str:
        return self._on_all(lambda address: address.probe(timeout))

    def test(self, timeout: float) -> str:
        notification = self._text.test(self._clock())
        return self._on_all(lambda address: address.send_beside(notification, timeout))

    def resume(self, events: Sequence[Event]) -> None:
        """People know these, unless they came in the quiet hours that still last."""
        now = self._clock()
        quiet_since = self._digest.quiet.begin(now)
        for event in filter(self._is_for_us, events):
            stage = self._stages.stage(event)
            self._stages.remember(event)
            came = event.ended if event.ended is not None and event.is_over else event.began
            handled = event.acknowledged is not None
            if stage != "below" and not handled and quiet_since <= came < now:
                self._digest.add(stage, event, now)
            self._resume_reminder(event, now)

    def update(self, context: OutputContext) -> None:
        super().update(context)
        self._context_changed = True
        self._wake()

    def close(self, timeout: float = 5.0) -> None:
        end = time.monotonic() + timeout
        super().close(timeout)
        left = max(0.0, end - time.monotonic())
        closing = [threading.Thread(target=each.close, args=(left,)) for each in self._addresses]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    @property
    def status(self) -> OutputStatus:
        own, each = super().status, [address.status for address in self._addresses]
        failing = [
            Sentence("common.of", name=address.name, what=status.message)
            for address, status in zip(self._addresses, each, strict=True)
            if not status.healthy
        ]
        times = [status.last_success for status in each if status.last_success is not None]
        now = self._clock()
        quiet_until = self._digest.quiet.end(now)
        message = own.message
        if own.healthy and (failing or times) and not self._closing.is_set():
            message = clauses(*dict.fromkeys(failing)) or Sentence("outputs.working")
        return OutputStatus(
            message=message,
            healthy=own.healthy and not failing,
            queued=own.queued + len(self._digest) + sum(status.queued for status in each),
            sent=sum(status.sent for status in each),
            failed=own.failed + sum(status.failed for status in each),
            dropped=own.dropped,
            last_success=max(times, default=None),
            quiet_until=quiet_until if now < quiet_until < math.inf else None,
        )

    # -- The thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        while not (self._stopped.is_set() or self._outbox.finished):
            self.process()
            self._outbox.wait(self._seconds_to_wait())
        self.process()
        # Only what waits for the end of quiet hours is left to the next run of the service.
        now = self._clock()
        self._tell(self._digest.flush(now), now)

    def _wake(self) -> None:
        self._outbox.wake()

    def process(self) -> None:
        """Take what has come, and tell what is due."""
        while (message := self._outbox.take(timeout=0)) is not None:
            try:
                self._take(message)
            except Exception as error:
                # A fault of ours must not stop the messages behind it; its text may hold a secret.
                self._give_up(Sentence("outputs.notCreated", error=type(error).__name__))
            else:
                self._outbox.done()
        now = self._clock()
        self._adopt_context()
        for event in self._reminders.due(now):
            self._digest.add("reminder", event, now)
        self._tell(self._digest.due(now), now)

    def _take(self, message: Message) -> None:
        self._adopt_context()
        match message:
            case EventChanged(event=event) if self._is_for_us(event):
                self._take_event(event)
            case ServiceStopped() if self._settings.service:
                self._send(self._text.service_stopped(message))
            case ServiceStarted() if self._settings.service:
                self._send(self._text.service_started(message))
            case WeeklyReport() if self._settings.report:
                self._send(report_notification(message))
            case Notification():
                self._send(message)

    def _take_event(self, event: Event) -> None:
        now = self._clock()
        self._digest.refresh(event)
        if event.acknowledged is not None:
            self._digest.drop_reminder(event.id)
        stage = self._stages.news(event)
        if stage is not None and stage != "below":
            self._digest.add(stage, event, now)
        if stage is not None or self._reminders.waits(event.id):
            self._reminders.update(event, self._digest.quiet.end(now) if event.is_over else now)

    def _resume_reminder(self, event: Event, now: float) -> None:
        """As if the output had been there; a last reminder that was due before now is not given."""
        if not event.is_over:
            self._reminders.update(event, event.began)
        elif (told := self._digest.quiet.end(event.ended or now)) + self._remind_after > now:
            self._reminders.update(event, told)

    def _tell(self, news: list[News], now: float) -> None:
        if not news:
            return
        try:
            self._send(self._text.of(news, now))
        except Exception as error:
            # A fault of ours must not keep the news behind it; its text may hold a secret.
            self._set_unhealthy(Sentence("outputs.notCreated", error=type(error).__name__))
            self._failed += len(news)
        self._digest.told(news, now)

    def _send(self, notification: Notification) -> None:
        for address in self._addresses:
            address.publish(notification)

    def _seconds_to_wait(self) -> float:
        now = self._clock()
        times = [self._digest.next_time(now), self._reminders.next_time()]
        waits = [at - now for at in times if at is not None]
        return max(0.0, min([*waits, _LONGEST_WAIT]))

    # -- What it is told with --------------------------------------------------------------------

    def _is_for_us(self, event: Event) -> bool:
        return not self.groups or self._context.label(event.machine).group in self.groups

    def _adopt_context(self) -> None:
        if self._context_changed:
            self._context_changed = False
            self._text = NotificationText(self._own_context())
            self._digest.rules, self._digest.quiet = self._rules(), self._quiet_hours()

    def _own_context(self) -> OutputContext:
        if not self._settings.link:
            return self._context
        return self._context.with_link(self._settings.link)

    def _rules(self) -> DigestRules:
        settings = self._settings
        return DigestRules(
            group_within=settings.group_within,
            cooldown=settings.cooldown,
            wait_for_picture=settings.wait_for_picture if self._context.has_pictures else 0.0,
            max_per_hour=settings.max_per_hour,
            alarms_pass=settings.alarms_pass,
        )

    def _quiet_hours(self) -> QuietHours:
        return QuietHours(self._settings.quiet_hours, self._context.timezone)

    def _on_all(self, ask: Callable[[AppriseAddress], str]) -> str:
        """Ask all addresses at once; TryAgain with all answers where one of them failed."""
        answers: list[tuple[str, bool]] = [("", False)] * len(self._addresses)

        def work(number: int, address: AppriseAddress) -> None:
            try:
                answers[number] = ask(address), True
            except (TryAgain, Refused) as error:
                answers[number] = said(error), False
            except Exception as error:  # its text may hold a secret
                answers[number] = Sentence("outputs.notTried", error=type(error).__name__), False

        threads = [
            threading.Thread(target=work, args=item, daemon=True)
            for item in enumerate(self._addresses)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(answers) == 1:
            message = answers[0][0]
        else:
            message = clauses(
                *(
                    Sentence("common.of", name=address.name, what=text)
                    for address, (text, _) in zip(self._addresses, answers, strict=True)
                )
            )
        if not all(ok for _, ok in answers):
            raise TryAgain(message)
        return message


def _urls(settings: NotifySettings) -> list[str]:
    urls = list(settings.urls)
    if settings.urls_file is not None:
        urls += read_secrets(settings.urls_file)
    asked = any(_PASSWORD in url for url in urls)
    if asked != (settings.password_file is not None):
        raise SsdptError(Sentence("outputs.passwordPlaceholder"))
    if settings.password_file is None:
        return urls
    password = quote(read_secret(settings.password_file), safe="")
    return [url.replace(_PASSWORD, password) for url in urls]
