"""Changes of events, posted to a URL."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from ssdpt.common.backoff import Backoff
from ssdpt.common.secret import read_secret
from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.messages import Event, EventChanged, EventDelivery, Message
from ssdpt.monitor.outputs.base import QUEUE_LIMIT, Refused, RetryingOutput
from ssdpt.monitor.outputs.context import OutputContext
from ssdpt.monitor.outputs.event_stages import EventStages
from ssdpt.monitor.outputs.http_request import check_reachable, send_request, server_of
from ssdpt.monitor.outputs.json_template import JsonTemplate
from ssdpt.sentences import Sentence

_TIMEOUT = 10.0  # seconds without an answer


class WebhookSettings(OutputSettings):
    """A URL that changes of events are posted to."""

    kind: Literal["webhook"] = "webhook"
    url: str = Field(
        pattern=r"^https?://", description="an address that begins with http:// or https://"
    )
    secret_file: Path | None = Field(
        None, description="file with the key that messages are signed with"
    )
    template: str | Mapping[str, Any] | None = Field(
        None, description="own JSON document with placeholders such as {{ event.message }}"
    )

    stages: tuple[Literal["alert", "alarm", "ended"], ...] = Field(
        (), description="post an event only when it reaches one of these; empty = every change"
    )

    @field_validator("template")
    @classmethod
    def _template_works(cls, value: str | Mapping[str, Any] | None) -> Any:
        if value is not None:
            JsonTemplate(value)  # renders examples; ValueError says what is wrong
        return value


class WebhookOutput(RetryingOutput):
    """POSTs JSON; every attempt to deliver one change has the same `X-Ssdpt-Delivery`.

    With a key, `X-Ssdpt-Signature` is sha256=HMAC-SHA256(key, body) in hexadecimal digits.
    """

    settings_class = WebhookSettings
    accepts = (EventChanged,)

    def __init__(
        self,
        settings: WebhookSettings,
        context: OutputContext | None = None,
        *,
        queue_limit: int = QUEUE_LIMIT,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        super().__init__(
            f"webhook {server_of('webhook', settings.url)}",
            context,
            queue_limit=queue_limit,
            pauses=pauses,
            sleep=sleep,
        )
        self._url = settings.url
        self._key = read_secret(settings.secret_file).encode() if settings.secret_file else None
        template = settings.template
        self._template = None if template is None else JsonTemplate(template)
        self._stages, self._told = settings.stages, EventStages("alert")

    def resume(self, events: Sequence[Event]) -> None:
        """The receiver has these."""
        for event in events:
            self._told.remember(event)

    def publish(self, message: Message) -> None:
        # Here, and not when it is sent: what nobody wants must not fill the queue.
        wanted = (
            not self._stages
            or not isinstance(message, EventChanged)
            or self._told.news(message.event) in self._stages
        )
        if wanted:
            super().publish(message)

    def probe(self, timeout: float) -> str:
        check_reachable(self._url, timeout)
        return Sentence("outputs.reachable")

    def test(self, timeout: float) -> str:
        machine = next(iter(self._context.machines), "test")
        event = Event(
            id="0" * 32,
            machine=machine,
            kind="signal",
            level="alert",
            began=time.time(),
            message=Sentence("outputs.test"),
        )
        status = self._post(EventChanged(event=event), timeout)
        return Sentence("outputs.answers", status=status)

    def send(self, message: Message) -> None:
        assert isinstance(message, EventChanged)
        self._post(message, _TIMEOUT)

    def _post(self, message: EventChanged, timeout: float) -> int:
        body = self._body(message)
        headers = {"Content-Type": "application/json", "X-Ssdpt-Delivery": message.delivery}
        if self._key is not None:
            signature = hmac.new(self._key, body, hashlib.sha256).hexdigest()
            headers["X-Ssdpt-Signature"] = f"sha256={signature}"
        return send_request(self._url, "POST", timeout, body, headers)

    def _body(self, message: EventChanged) -> bytes:
        if self._template is None:
            return EventDelivery.of(message).model_dump_json().encode()
        try:
            return self._template.render(message, self._context)
        except ValueError as error:
            raise Refused(Sentence("outputs.noJson", error=error)) from None
