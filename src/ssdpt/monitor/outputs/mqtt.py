"""States, scores and events for an MQTT broker.

{prefix}/status            online or offline, retained; the broker says offline when we vanish
{prefix}/{machine}/state   JSON, retained, QoS 1
{prefix}/{machine}/score   JSON, one a second, QoS 0
{prefix}/{machine}/event   JSON, QoS 1; `delivery` tells a change from every other

Each message is sent when the broker has acknowledged the one before. Where the connection breaks
in between, the one that was not acknowledged is sent again and all others wait. The broker may
have had it already: then it comes twice with the same `delivery`, which receivers can drop.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import secrets
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MqttSettings
from ssdpt.monitor.outputs.base import ROOM, Output, TryAgain
from ssdpt.monitor.outputs.discovery import announcements
from ssdpt.monitor.outputs.messages import (
    EventChanged,
    MachineRemoved,
    Message,
    ReadingTaken,
    StateChanged,
    change_json,
    encoded,
)
from ssdpt.monitor.outputs.secret import read_secret

if TYPE_CHECKING:
    import aiomqtt

_KEEP_ALIVE = 30  # seconds; the broker gives a silent client up after 1.5 times this


class MqttOutput(Output):
    """One connection, kept by a thread and an event loop of its own."""

    wants = (StateChanged, EventChanged, ReadingTaken, MachineRemoved)

    def __init__(
        self,
        settings: MqttSettings,
        titles: Mapping[str, str] | None = None,
        *,
        room: int = ROOM,
        pauses: Callable[[], Iterator[float]] = Backoff,
    ) -> None:
        """`titles`: names for people by machine."""
        super().__init__(f"mqtt {settings.host}:{settings.port}", titles, room=room, pauses=pauses)
        self._aiomqtt = _aiomqtt()
        self._settings = settings
        self._password = read_secret(settings.password_file) if settings.password_file else None
        if self._password is not None and not settings.user:
            raise SsdptError(f"{self.name}: password_file needs user as well")
        self._tls = _tls(settings)
        self._listed = frozenset(self._titles)  # the machines that there are now
        self._renamed = False  # since they were last announced
        self._states: dict[str, bytes] = {}  # what the broker knows, by machine
        self._announced: dict[str, str] = {}  # titles by machine, on this connection
        self._contradict = False  # the broker says that we are offline
        # The same on every connection: the broker then drops one that it still believes in.
        self._identifier = f"ssdpt-{secrets.token_hex(6)}"
        self._loop: asyncio.AbstractEventLoop | None = None

    def probe(self, timeout: float) -> str:
        async def shake_hands() -> None:
            async with self._client(timeout=timeout):
                pass

        try:
            asyncio.run(shake_hands())
        except self._aiomqtt.MqttError as error:
            raise TryAgain(f"no connection ({error})") from None
        return "takes the connection"

    def rename(self, titles: Mapping[str, str]) -> None:
        with self._names:
            self._listed = frozenset(titles)
        super().rename(titles)
        self._renamed = True  # only now: whoever sees it finds the new titles
        self._wake()

    def publish(self, message: Message) -> None:
        if isinstance(message, MachineRemoved):
            # At once, not in its turn: it may be added again before the broker hears of this.
            with self._names:
                self._listed -= {message.machine}
        super().publish(message)

    # -- The thread ------------------------------------------------------------------------------

    def _work(self) -> None:
        asyncio.run(self._keep_connected())

    def _wake(self) -> None:
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        self._woken.set()
        if self._closing.is_set():
            self._hurry.set()
        if self._stopped.is_set():
            self._halt.set()

    async def _keep_connected(self) -> None:
        self._woken, self._hurry, self._halt = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._ring()  # for what came before there was a loop
        pauses = self._pauses()
        while not (self._stopped.is_set() or self._outbox.finished):
            try:
                will = self._aiomqtt.Will(self._topic("status"), "offline", qos=1, retain=True)
                async with self._client(will=will) as client:
                    await self._greet(client)
                    self._well("is connected")
                    pauses = self._pauses()
                    await self._converse(client)
                    return
            except self._aiomqtt.MqttError as error:
                self._troubled(f"no connection ({error})")
            except Exception as error:
                # E.g. a host name that cannot be one: whatever it is, events must not be lost.
                self._troubled(f"no connection ({type(error).__name__})")
            await self._pause(next(pauses))

    async def _pause(self, seconds: float) -> None:
        """Wait; whoever closes the output wants one more attempt at once."""
        event = self._halt if self._hurry.is_set() else self._hurry
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), seconds)

    def _client(self, **more: Any) -> aiomqtt.Client:
        # A new one for each connection: an old one would send again by itself what it had not
        # seen acknowledged, beside us.
        settings = self._settings
        return self._aiomqtt.Client(
            settings.host,
            settings.port,
            username=settings.user or None,
            password=self._password,
            identifier=self._identifier,
            keepalive=_KEEP_ALIVE,
            tls_context=self._tls,
            **more,
        )

    # -- One connection --------------------------------------------------------------------------

    async def _greet(self, client: aiomqtt.Client) -> None:
        """Tell a broker that may have forgotten everything what it keeps for late subscribers."""
        self._announced.clear()
        self._contradict = False
        await self._announce_all(client)
        for machine, state in self._states.items():
            await client.publish(self._topic(machine, "state"), state, qos=1, retain=True)
        await self._say(client, "online")
        await client.subscribe(self._topic("status"), qos=1)

    async def _converse(self, client: aiomqtt.Client) -> None:
        """Until the outbox is finished or the output stopped; MqttError when the line breaks."""
        tasks = [
            asyncio.create_task(work)
            for work in (self._speak(client), self._listen(client), self._halt.wait())
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        # An orderly end: the broker does not send the last will then.
        await self._say(client, "offline")

    async def _speak(self, client: aiomqtt.Client) -> None:
        while not self._outbox.finished:
            self._woken.clear()
            if self._contradict:
                self._contradict = False
                await self._say(client, "online")
            if self._renamed:
                await self._announce_all(client)
            message = self._outbox.take(timeout=0)
            if message is None:
                if not self._outbox.finished:
                    await self._woken.wait()
                continue
            await self._tell(client, message)
            self._delivered()
            await asyncio.sleep(0)  # sending at QoS 0 alone never lets others have their turn

    async def _listen(self, client: aiomqtt.Client) -> None:
        """Contradict an old last will: a broker can notice late that we were gone before.

        Ends with MqttError as soon as the line breaks, long before anything waits to be sent.
        """
        async for heard in client.messages:
            if heard.payload == b"offline":
                # Not said from here: waiting for the answer, it would miss the break. A broker
                # that shuts down sends our own will to us and then falls silent.
                self._contradict = True
                self._woken.set()

    async def _tell(self, client: aiomqtt.Client, message: Message) -> None:
        match message:
            case StateChanged(machine=machine):
                await self._announce(client, machine)
                content = {"state": message.state, "at": message.at, "score": message.score}
                state = encoded(content)
                await client.publish(self._topic(machine, "state"), state, qos=1, retain=True)
                self._states[machine] = state
            case EventChanged(event=event):
                # Announces nobody: people comment on events of machines that are gone.
                body = encoded(change_json(message))
                await client.publish(self._topic(event.machine, "event"), body, qos=1)
            case ReadingTaken(reading=reading):
                await self._announce(client, reading.machine)
                values = asdict(reading)
                del values["machine"], values["parts"]
                await client.publish(self._topic(reading.machine, "score"), encoded(values))
            case MachineRemoved(machine=machine):
                await self._forget(client, machine)

    async def _announce_all(self, client: aiomqtt.Client) -> None:
        self._renamed = False
        for machine in sorted(self._listed | self._states.keys()):
            await self._announce(client, machine)

    async def _announce(self, client: aiomqtt.Client, machine: str) -> None:
        title = self._title(machine)
        if self._settings.discovery and self._announced.get(machine) != title:
            for topic, content in announcements(self._settings.prefix, machine, title):
                await client.publish(topic, encoded(content), qos=1, retain=True)
            self._announced[machine] = title

    async def _forget(self, client: aiomqtt.Client, machine: str) -> None:
        """An empty retained message takes away the one that the broker keeps."""
        topics = [self._topic(machine, "state")]
        if self._settings.discovery:
            topics += [topic for topic, _ in announcements(self._settings.prefix, machine, "")]
        for topic in topics:
            await client.publish(topic, b"", qos=1, retain=True)
        self._announced.pop(machine, None)
        self._states.pop(machine, None)
        if machine in self._listed:
            self._renamed = True  # it was added again meanwhile

    async def _say(self, client: aiomqtt.Client, status: str) -> None:
        await client.publish(self._topic("status"), status, qos=1, retain=True)

    def _topic(self, *parts: str) -> str:
        return "/".join((self._settings.prefix, *parts))


def _tls(settings: MqttSettings) -> ssl.SSLContext | None:
    """Checks the broker's certificate and name; there is no way to leave that out."""
    if not settings.tls:
        if settings.ca_file is not None:
            raise SsdptError(f"mqtt {settings.host}: ca_file without tls; set tls: true")
        return None
    try:
        return ssl.create_default_context(cafile=settings.ca_file)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SsdptError(f"{settings.ca_file}: no certificate can be read ({reason})") from error


def _aiomqtt() -> Any:
    try:
        return importlib.import_module("aiomqtt")
    except ImportError as error:
        raise SsdptError(
            "the output mqtt needs the package aiomqtt; install it with: pip install 'ssdpt[serve]'"
        ) from error
