"""Operating data that a control system publishes to an MQTT broker."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from ssdpt.config.settings import Settings
from ssdpt.monitor.config import OperatingDataSettings
from ssdpt.monitor.mqtt_broker import BrokerSettings, MqttBroker
from ssdpt.monitor.operating.base import ConnectedOperatingData
from ssdpt.monitor.operating.reported_value import (
    NoValue,
    ReportedNumber,
    ReportedRunState,
    shown,
)
from ssdpt.monitor.sources.base import SourceLost
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.sentences import Sentence

_LONGEST_MESSAGE = 1_000_000  # bytes; a longer one is no operating data


class _InMessage(Settings):
    """Where in the messages of the broker a value is."""

    topic: str = Field(pattern=r"^[^+#]+$", description="of the messages, without + and #")
    pointer: str = Field(
        "",
        pattern=r"^(/.*)?$",
        description="where in a JSON message the value is, such as /data/speed; empty = the "
        "message is the value",
    )


class MqttNumber(ReportedNumber, _InMessage):
    """A number in the messages of a topic."""


class MqttRunState(ReportedRunState, _InMessage):
    """The run state in the messages of a topic."""


class MqttOperatingDataSettings(OperatingDataSettings, BrokerSettings):
    """Operating data that a control system publishes to an MQTT broker."""

    kind: Literal["mqtt"] = "mqtt"
    running: MqttRunState | None = Field(None, description="whether the machine runs")
    speed_rpm: MqttNumber | None = Field(None, description="revolutions of the shaft per minute")
    load_percent: MqttNumber | None = Field(None, description="of its rated load")

    @model_validator(mode="after")
    def _names_a_value(self) -> Self:
        if not (self.running or self.speed_rpm or self.load_percent):
            raise ValueError(Sentence("operating.noTopic"))
        return self

    @property
    def reads_local_files(self) -> bool:
        return self.password_file is not None or self.ca_file is not None


class MqttOperatingData(ConnectedOperatingData):
    """Subscribes to the topics of its values. What the broker has retained counts as of now."""

    settings_class = MqttOperatingDataSettings

    def __init__(self, settings: MqttOperatingDataSettings, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, clock)
        self._broker = MqttBroker(settings)
        self._client_id = f"ssdpt-{secrets.token_hex(6)}"
        places: dict[str, MqttRunState | MqttNumber | None] = {
            "running": settings.running,
            "speed_rpm": settings.speed_rpm,
            "load_percent": settings.load_percent,
        }
        self._places = {name: place for name, place in places.items() if place is not None}
        self._topics = sorted({place.topic for place in self._places.values()})

    @property
    def peer(self) -> str:
        return self._broker.name

    @property
    def _subscribed(self) -> str:
        return Sentence("sources.subscribed", name=self.peer, topics=self._topics)

    async def _receive(self, connected: Callable[[str], None]) -> None:
        async with self._broker.client(self._client_id) as client:
            for topic in self._topics:
                await client.subscribe(topic, qos=1)
            connected(self._subscribed)
            async for message in client.messages:
                if isinstance(message.payload, bytes):
                    self.take(str(message.topic), message.payload)

    def take(self, topic: str, content: bytes) -> None:
        """Take the values of one message."""
        for name, place in self._places.items():
            if place.topic == topic:
                self._report(name, lambda place=place: place.read(_value(content, place.pointer)))  # type: ignore[misc]

    def probe(self, timeout: float) -> str:
        async def subscribe() -> None:
            client_id = f"ssdpt-{secrets.token_hex(6)}"
            async with self._broker.client(client_id, timeout=timeout) as client:
                for topic in self._topics:
                    await client.subscribe(topic, qos=1)

        try:
            asyncio.run(subscribe())
        except self._broker.error as error:
            raise SourceLost(
                Sentence("sources.noConnection", name=self.peer, reason=error)
            ) from None
        return self._subscribed


def _value(content: bytes, pointer: str) -> Any:
    """What a message holds at a JSON pointer (RFC 6901)."""
    if len(content) > _LONGEST_MESSAGE:
        raise NoValue(Sentence("operating.messageTooLong", bytes=len(content)))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise NoValue(Sentence("operating.notText")) from None
    if not pointer:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return text if isinstance(value, dict | list) else value
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise NoValue(Sentence("operating.notJson", sent=shown(text), pointer=pointer)) from None
    for part in pointer[1:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise NoValue(Sentence("operating.noPointer", sent=shown(text), pointer=pointer))
    return value
