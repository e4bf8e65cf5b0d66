"""States, scores and events for an MQTT broker.

{prefix}/status            online or offline, retained; the broker sends offline when we vanish
{prefix}/{machine}/state   StateChanged as JSON, retained, QoS 1
{prefix}/{machine}/score   Reading without its parts as JSON, once a second, QoS 0
{prefix}/{machine}/event   EventDelivery as JSON, QoS 1
{prefix}/test              the word test, when someone sends a test on the page

A message is sent after the broker has acknowledged the one before. Where the connection breaks in
between, the message that was not acknowledged is sent again. The broker may have received it
before: then it arrives twice with the same `delivery`, and receivers can drop the second one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ssdpt.common.backoff import Backoff
from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.messages import (
    EventChanged,
    EventDelivery,
    MachineRemoved,
    Message,
    ReadingTaken,
    StateChanged,
)
from ssdpt.monitor.mqtt_broker import BrokerSettings, MqttBroker, until_one_ends
from ssdpt.monitor.outputs.base import QUEUE_LIMIT, Output, TryAgain
from ssdpt.monitor.outputs.context import OutputContext
from ssdpt.monitor.outputs.home_assistant import discovery_messages
from ssdpt.sentences import Sentence

if TYPE_CHECKING:
    import aiomqtt


class MqttSettings(OutputSettings, BrokerSettings):
    """An MQTT broker that states, scores and events are published to."""

    kind: Literal["mqtt"] = "mqtt"
    prefix: str = Field(
        "ssdpt",
        pattern=r"^[^+#\s]+$",
        description="first part of all topics, without spaces, + and #",
    )
    discovery: bool = Field(True, description="let Home Assistant find the machines")


class MqttOutput(Output):
    """One connection, held by a thread with an event loop of its own."""

    settings_class = MqttSettings
    accepts = (StateChanged, EventChanged, ReadingTaken, MachineRemoved)

    def __init__(
        self,
        settings: MqttSettings,
        context: OutputContext | None = None,
        *,
        queue_limit: int = QUEUE_LIMIT,
        pauses: Callable[[], Iterator[float]] = Backoff,
    ) -> None:
        self._broker = MqttBroker(settings)
        super().__init__(self._broker.name, context, queue_limit=queue_limit, pauses=pauses)
        self._settings = settings
        self._machines = frozenset(self._context.machines)  # those that exist now
        self._renamed = False  # since they were last announced
        self._states: dict[str, str] = {}  # retained by the broker, by machine
        self._announced: dict[str, str] = {}  # names by machine, on this connection
        self._reported_offline = False  # the broker has sent our last will
        # The same on every connection: the broker then drops an old one that it still holds.
        self._identifier = f"ssdpt-{secrets.token_hex(6)}"
        self._loop: asyncio.AbstractEventLoop | None = None

    def probe(self, timeout: float) -> str:
        async def connect() -> None:
            async with self._client(timeout=timeout):
                pass

        try:
            asyncio.run(connect())
        except self._broker.error as error:
            raise TryAgain(Sentence("outputs.noConnection", reason=error)) from None
        if self._broker.signs_in:
            return Sentence("outputs.signedIn")
        return Sentence("outputs.reachable")

    def test(self, timeout: float) -> str:
        topic = self._topic("test")

        async def publish() -> None:
            # Under a name of its own: the broker would end the connection that is in use.
            name = f"ssdpt-test-{secrets.token_hex(6)}"
            async with self._broker.client(name, timeout=timeout) as client:
                await client.publish(topic, "test", qos=1, timeout=timeout)

        try:
            asyncio.run(publish())
        except self._broker.error as error:
            raise TryAgain(Sentence("outputs.noConnection", reason=error)) from None
        return Sentence("outputs.acknowledged", topic=topic)

    def update(self, context: OutputContext) -> None:
        with self._context_lock:
            self._machines = frozenset(context.machines)
        super().update(context)
        self._renamed = True  # only now: whoever reads it finds the new names
        self._wake()

    def publish(self, message: Message) -> None:
        if isinstance(message, MachineRemoved):
            # At once, not in its turn: it may be added again before the message is sent.
            with self._context_lock:
                self._machines -= {message.machine}
        super().publish(message)

    # -- The thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.run(self._stay_connected())

    def _wake(self) -> None:
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._set_events)

    def _set_events(self) -> None:
        self._changed.set()
        if self._closing.is_set():
            self._closing_here.set()
        if self._stopped.is_set():
            self._stopped_here.set()

    async def _stay_connected(self) -> None:
        # Twins of the thread's events that the event loop can wait for.
        self._changed = asyncio.Event()
        self._closing_here = asyncio.Event()
        self._stopped_here = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._set_events()  # for what changed before there was a loop
        pauses = self._pauses()
        while not (self._stopped.is_set() or self._outbox.finished):
            try:
                will = self._broker.will(self._topic("status"), "offline")
                async with self._client(will=will) as client:
                    await self._publish_retained(client)
                    self._set_healthy(Sentence("outputs.connected"))
                    pauses = self._pauses()
                    await self._use(client)
                    return
            except self._broker.error as error:
                self._set_unhealthy(Sentence("outputs.noConnection", reason=error))
            except Exception as error:
                # E.g. a host name that is not valid: whatever it is, events must not be lost.
                self._set_unhealthy(Sentence("outputs.noConnection", reason=type(error).__name__))
            await self._pause(next(pauses))

    async def _pause(self, seconds: float) -> None:
        """Wait; after closing there is one more attempt at once."""
        event = self._stopped_here if self._closing_here.is_set() else self._closing_here
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), seconds)

    def _client(self, **more: Any) -> aiomqtt.Client:
        return self._broker.client(self._identifier, **more)

    # -- One connection --------------------------------------------------------------------------

    async def _publish_retained(self, client: aiomqtt.Client) -> None:
        """Publish all retained messages: the broker may have lost them."""
        self._announced.clear()
        self._reported_offline = False
        await self._announce_all(client)
        for machine, state in self._states.items():
            await client.publish(self._topic(machine, "state"), state, qos=1, retain=True)
        await self._publish_status(client, "online")
        await client.subscribe(self._topic("status"), qos=1)

    async def _use(self, client: aiomqtt.Client) -> None:
        """Until the outbox is finished or the output stopped; MqttError when the line breaks."""
        await until_one_ends(
            self._send_all(client), self._receive(client), self._stopped_here.wait()
        )
        # After an orderly end the broker does not send the last will.
        await self._publish_status(client, "offline")

    async def _send_all(self, client: aiomqtt.Client) -> None:
        while not self._outbox.finished:
            self._changed.clear()
            if self._reported_offline:
                self._reported_offline = False
                await self._publish_status(client, "online")
            if self._renamed:
                await self._announce_all(client)
            message = self._outbox.take(timeout=0)
            if message is None:
                if not self._outbox.finished:
                    await self._changed.wait()
                continue
            await self._send(client, message)
            self._delivered()
            await asyncio.sleep(0)  # publishing at QoS 0 alone never lets other tasks run

    async def _receive(self, client: aiomqtt.Client) -> None:
        """Correct an old last will: a broker can notice late that a connection was lost.

        Ends with MqttError as soon as the line breaks, long before anything waits to be sent.
        """
        async for received in client.messages:
            if received.payload == b"offline":
                # Not sent from here: while it waits for the acknowledgement, it would not notice
                # a break. A broker that shuts down sends us our own will and then nothing more.
                self._reported_offline = True
                self._changed.set()

    async def _send(self, client: aiomqtt.Client, message: Message) -> None:
        match message:
            case StateChanged(machine=machine):
                await self._announce(client, machine)
                state = message.model_dump_json()
                await client.publish(self._topic(machine, "state"), state, qos=1, retain=True)
                self._states[machine] = state
            case EventChanged(event=event):
                # The machine is not announced: people comment on events of removed machines.
                body = EventDelivery.of(message).model_dump_json()
                await client.publish(self._topic(event.machine, "event"), body, qos=1)
            case ReadingTaken(reading=reading):
                await self._announce(client, reading.machine)
                body = reading.model_dump_json(exclude={"parts"})
                await client.publish(self._topic(reading.machine, "score"), body)
            case MachineRemoved(machine=machine):
                await self._remove(client, machine)

    async def _announce_all(self, client: aiomqtt.Client) -> None:
        self._renamed = False
        for machine in sorted(self._machines | self._states.keys()):
            await self._announce(client, machine)

    async def _announce(self, client: aiomqtt.Client, machine: str) -> None:
        name = self._name_of(machine)
        if self._settings.discovery and self._announced.get(machine) != name:
            for topic, content in discovery_messages(self._settings.prefix, machine, name):
                await client.publish(topic, json.dumps(content), qos=1, retain=True)
            self._announced[machine] = name

    async def _remove(self, client: aiomqtt.Client, machine: str) -> None:
        """An empty retained message deletes the one that the broker holds."""
        topics = [self._topic(machine, "state")]
        if self._settings.discovery:
            topics += [topic for topic, _ in discovery_messages(self._settings.prefix, machine, "")]
        for topic in topics:
            await client.publish(topic, b"", qos=1, retain=True)
        self._announced.pop(machine, None)
        self._states.pop(machine, None)
        if machine in self._machines:
            self._renamed = True  # it was added again meanwhile

    async def _publish_status(self, client: aiomqtt.Client, status: str) -> None:
        await client.publish(self._topic("status"), status, qos=1, retain=True)

    def _topic(self, *parts: str) -> str:
        return "/".join((self._settings.prefix, *parts))
