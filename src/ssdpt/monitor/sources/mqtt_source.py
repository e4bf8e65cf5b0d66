"""Snapshots that a sensor publishes to an MQTT broker."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import secrets
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings, SourceSettings
from ssdpt.monitor.mqtt_broker import BrokerSettings, MqttBroker, until_one_ends
from ssdpt.monitor.sources.base import SourceLost
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.snapshot import Snapshot, SnapshotSource, Unusable
from ssdpt.monitor.sources.snapshot_message import decode_snapshot
from ssdpt.sentences import Sentence, said

if TYPE_CHECKING:
    import aiomqtt

_POLL = 0.2  # seconds


class MqttSourceSettings(SourceSettings, BrokerSettings):
    """Snapshots that a sensor publishes to an MQTT broker."""

    kind: Literal["mqtt"] = "mqtt"
    topic: str = Field(
        pattern=r"^[^+#]+$", description="of this machine's snapshots alone, without + and #"
    )
    client_id: str = Field(
        "",
        description="a name of its own by which the broker keeps snapshots while the service is "
        "away; empty = none are kept",
    )
    max_silence: float | None = Field(
        None,
        gt=0,
        description="seconds without a snapshot after which the source is lost; empty = never",
    )

    arrives_in_files: ClassVar[bool] = True
    gives_stream: ClassVar[bool] = False
    gives_snapshots: ClassVar[bool] = True

    @property
    def reads_local_files(self) -> bool:
        return self.password_file is not None or self.ca_file is not None

    def for_trial(self) -> Self:
        # A broker lets in one client of a name: the second would push out the first.
        return self.model_copy(update={"client_id": ""})


class MqttSource(SnapshotSource):
    """Subscribes with QoS 1 on a thread of its own, and reconnects after waits that grow.

    A message is one snapshot: JSON (`SnapshotMessage`), or a WAV or FLAC file.
    """

    settings_class = MqttSourceSettings

    def __init__(
        self, settings: MqttSourceSettings, sensor: SensorSettings, clock: Clock = SYSTEM
    ) -> None:
        super().__init__(settings, sensor, clock)
        self._broker = MqttBroker(settings)
        self._topic = settings.topic
        # The same on every connection: the broker then drops an old one that it still holds.
        self._client_id = settings.client_id or f"ssdpt-{secrets.token_hex(6)}"
        self._kept_by_broker = bool(settings.client_id)
        self._received: queue.SimpleQueue[tuple[bytes, float]] = queue.SimpleQueue()
        self._backoff = Backoff()
        self._was_connected = False
        self._update_status(message=Sentence("sources.notConnectedYet"))

    def snapshots(self, stop: threading.Event) -> Iterator[Snapshot | Unusable]:
        receiver = threading.Thread(
            target=lambda: asyncio.run(self._receive(stop)), name="ssdpt-mqtt-source", daemon=True
        )
        receiver.start()
        while not stop.is_set():
            with contextlib.suppress(queue.Empty):
                content, arrived = self._received.get(timeout=_POLL)
                yield self._decode(content, arrived)
        receiver.join(2 * _POLL)
        self._update_status(connected=False, message=Sentence("sources.stopped"))

    def probe(self, timeout: float) -> str:
        async def subscribe() -> None:
            # Under another name, so that a service that runs keeps its connection.
            client_id = f"ssdpt-{secrets.token_hex(6)}"
            async with self._broker.client(client_id, timeout=timeout) as client:
                await client.subscribe(self._topic, qos=1)

        try:
            asyncio.run(subscribe())
        except self._broker.error as error:
            raise SourceLost(
                Sentence("sources.noConnection", name=self._broker.name, reason=error)
            ) from None
        return self._subscribed

    @property
    def _subscribed(self) -> str:
        return Sentence("sources.subscribed", name=self._broker.name, topics=self._topic)

    def _decode(self, content: bytes, arrived: float) -> Snapshot | Unusable:
        try:
            snapshot = decode_snapshot(content, self.sensor, arrived)
        except SsdptError as error:
            return Unusable(said(error))
        self._update_status(rate_in=snapshot.sample_rate, channels_in=len(snapshot.samples))
        return snapshot

    # -- The thread of the connection --------------------------------------------------------------

    async def _receive(self, stop: threading.Event) -> None:
        """Stay connected until `stop` is set."""
        while not stop.is_set():
            try:
                client = self._broker.client(
                    self._client_id, clean_session=not self._kept_by_broker
                )
                async with client:
                    await client.subscribe(self._topic, qos=1)
                    self._connected()
                    await until_one_ends(self._take(client), _stopped(stop))
                return
            except self._broker.error as error:
                reason = str(error)
            except Exception as error:  # such as a host name that is not valid
                reason = type(error).__name__
            wait = next(self._backoff)
            problem = Sentence("sources.noConnection", name=self._broker.name, reason=reason)
            message = Sentence("sources.retrying", problem=problem, seconds=round(wait, 1))
            self._update_status(connected=False, message=message)
            await _pause(stop, wait)

    async def _take(self, client: aiomqtt.Client) -> None:
        """Take messages; raises MqttError when the line breaks."""
        async for message in client.messages:
            self._backoff.reset()
            content = message.payload
            # What the broker has retained was measured before we came.
            if isinstance(content, bytes) and content and not message.retain:
                self._received.put((content, self.clock.wall()))

    def _connected(self) -> None:
        reconnects = self.status.reconnects + (1 if self._was_connected else 0)
        self._was_connected = True
        self._update_status(connected=True, message=self._subscribed, reconnects=reconnects)


async def _stopped(stop: threading.Event) -> None:
    while not stop.is_set():
        await asyncio.sleep(_POLL)


async def _pause(stop: threading.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(_stopped(stop), seconds)
