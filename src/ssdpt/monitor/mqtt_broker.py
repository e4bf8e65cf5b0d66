"""How an MQTT broker is reached: settings and connections, for the source and the output."""

from __future__ import annotations

import asyncio
import importlib
import ssl
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ssdpt.common.secret import read_secret
from ssdpt.config.settings import Settings
from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence

if TYPE_CHECKING:
    import aiomqtt

_KEEP_ALIVE = 30  # seconds; the broker drops a silent client after 1.5 times this


class BrokerSettings(Settings):
    """Where the broker is, and how to sign in."""

    host: str = Field("localhost", description="the broker")
    port: int = Field(1883, ge=1, le=65535)
    user: str = Field("", description="to sign in; empty = without signing in")
    password_file: Path | None = Field(None, description="file with the password")
    tls: bool = Field(False, description="encrypt the connection")
    ca_file: Path | None = Field(
        None, description="certificate authority of the broker; empty = those of the system"
    )


class MqttBroker:
    """Opens connections to one broker; secrets are read once."""

    def __init__(self, settings: BrokerSettings) -> None:
        """SsdptError where the settings cannot work."""
        self.name = f"mqtt {settings.host}:{settings.port}"
        self._aiomqtt = _aiomqtt()
        self._settings = settings
        self._password = read_secret(settings.password_file) if settings.password_file else None
        if self._password is not None and not settings.user:
            raise SsdptError(Sentence("sources.brokerUser", name=self.name))
        self._tls = _tls_context(settings)

    @property
    def signs_in(self) -> bool:
        return self._password is not None

    @property
    def error(self) -> type[Exception]:
        """What is raised when a connection cannot be made, or breaks."""
        mqtt_error: type[Exception] = self._aiomqtt.MqttError
        return mqtt_error

    def will(self, topic: str, payload: str) -> Any:
        """What the broker says when we vanish."""
        return self._aiomqtt.Will(topic, payload, qos=1, retain=True)

    def client(self, identifier: str, **more: Any) -> aiomqtt.Client:
        """One connection, to be used with `async with`.

        A new one for each: an old one would send what was not acknowledged by itself, beside us.
        """
        settings = self._settings
        client: aiomqtt.Client = self._aiomqtt.Client(
            settings.host,
            settings.port,
            username=settings.user or None,
            password=self._password,
            identifier=identifier,
            keepalive=_KEEP_ALIVE,
            tls_context=self._tls,
            **more,
        )
        return client


async def until_one_ends(*work: Coroutine[Any, Any, object]) -> None:
    """Do all of this on one connection until the first ends; raises what that one raises.

    The others are cancelled.
    """
    tasks = [asyncio.create_task(one) for one in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tls_context(settings: BrokerSettings) -> ssl.SSLContext | None:
    """Checks the broker's certificate and name; this cannot be switched off."""
    if not settings.tls:
        if settings.ca_file is not None:
            raise SsdptError(Sentence("sources.brokerTls", host=settings.host))
        return None
    try:
        return ssl.create_default_context(cafile=settings.ca_file)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SsdptError(
            Sentence("sources.brokerCertificate", file=settings.ca_file, reason=reason)
        ) from error


def _aiomqtt() -> Any:
    try:
        return importlib.import_module("aiomqtt")
    except ImportError as error:
        raise SsdptError(Sentence("sources.needsAiomqtt")) from error
