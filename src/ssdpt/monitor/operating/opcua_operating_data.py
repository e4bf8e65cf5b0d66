"""Operating data of a control system that speaks OPC UA."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from ssdpt.common.secret import read_secret
from ssdpt.config.settings import Settings
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import OperatingDataSettings
from ssdpt.monitor.operating.base import ConnectedOperatingData
from ssdpt.monitor.operating.reported_value import ReportedNumber, ReportedRunState
from ssdpt.monitor.sources.base import SourceLost
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.sentences import Sentence

_TIMEOUT = 5.0  # seconds for an answer of the server
_PERIOD = 500.0  # milliseconds between reports of changes
_READ_EVERY = 5.0  # seconds, at most: a server reports changes only, and a hung one nothing


class _AtNode(Settings):
    """The node of a value."""

    node: str = Field(
        pattern=r"^(ns=\d+;)?[isgb]=.+$",
        description="the id of its node, such as ns=2;s=Pump1.Speed or ns=3;i=1004",
    )


class OpcuaNumber(ReportedNumber, _AtNode):
    """A number of a node."""


class OpcuaRunState(ReportedRunState, _AtNode):
    """The run state of a node."""


class OpcuaOperatingDataSettings(OperatingDataSettings):
    """Operating data of a control system that speaks OPC UA."""

    kind: Literal["opcua"] = "opcua"
    endpoint: str = Field(
        pattern=r"^opc\.tcp://\S+$", description="of the server, such as opc.tcp://plc-7:4840"
    )
    user: str = Field("", description="to sign in; empty = anonymous")
    password_file: Path | None = Field(None, description="file with the password")
    running: OpcuaRunState | None = Field(None, description="whether the machine runs")
    speed_rpm: OpcuaNumber | None = Field(None, description="revolutions of the shaft per minute")
    load_percent: OpcuaNumber | None = Field(None, description="of its rated load")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not (self.running or self.speed_rpm or self.load_percent):
            raise ValueError(Sentence("operating.noNode"))
        if "@" in self.endpoint:
            raise ValueError(Sentence("operating.userInEndpoint"))
        if self.password_file is not None and not self.user:
            raise ValueError(Sentence("operating.passwordNeedsUser"))
        return self

    @property
    def reads_local_files(self) -> bool:
        return self.password_file is not None


class OpcuaOperatingData(ConnectedOperatingData):
    """Subscribes to changes of its nodes, and reads them every few seconds.

    Reading proves that the server is alive and that a value that does not change is still true.
    """

    settings_class = OpcuaOperatingDataSettings

    def __init__(self, settings: OpcuaOperatingDataSettings, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, clock)
        self._asyncua = _asyncua()
        self._endpoint, self._user = settings.endpoint, settings.user
        self._password = read_secret(settings.password_file) if settings.password_file else None
        places: dict[str, OpcuaRunState | OpcuaNumber | None] = {
            "running": settings.running,
            "speed_rpm": settings.speed_rpm,
            "load_percent": settings.load_percent,
        }
        self._places = {name: place for name, place in places.items() if place is not None}
        oldest = settings.max_age or _READ_EVERY
        self._read_every = min(_READ_EVERY, oldest / 3)

    @property
    def peer(self) -> str:
        return f"opcua {self._endpoint.removeprefix('opc.tcp://')}"

    async def _receive(self, connected: Callable[[str], None]) -> None:
        async with self._session() as client:
            nodes = {name: client.get_node(place.node) for name, place in self._places.items()}
            names = {node.nodeid: name for name, node in nodes.items()}
            await self._read(nodes)
            changes = _Changes(lambda node, value: self._take(names[node.nodeid], value))
            subscription = await client.create_subscription(_PERIOD, changes)
            await subscription.subscribe_data_change(list(nodes.values()))
            connected(self._described)
            while True:
                await asyncio.sleep(self._read_every)
                await self._read(nodes)

    @contextlib.asynccontextmanager
    async def _session(self) -> Any:
        client = self._asyncua.Client(self._endpoint, timeout=_TIMEOUT)
        if self._user:
            client.set_user(self._user)
            client.set_password(self._password or "")
        await asyncio.wait_for(client.connect(), 2 * _TIMEOUT)
        try:
            yield client
        finally:
            # A server that hangs does not answer this either.
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.disconnect(), 1.0)

    async def _read(self, nodes: dict[str, Any]) -> None:
        for name, node in nodes.items():
            reading = node.read_data_value(raise_on_bad_status=False)
            self._take(name, await asyncio.wait_for(reading, _TIMEOUT))

    def _take(self, name: str, value: Any) -> None:
        """A value with its status: the server says by it whether the value can be trusted."""
        status = value.StatusCode
        # Without a status a value is good, by the standard.
        if status is not None and not status.is_good():
            if status.name in ("BadNodeIdUnknown", "BadNodeIdInvalid", "BadNotReadable"):
                raise SourceLost(
                    Sentence("common.of", name=self._places[name].node, what=status.name)
                )
            node = self._places[name].node
            self._distrust(name, Sentence("operating.distrusted", node=node, status=status.name))
            return
        sent = None if value.Value is None else value.Value.Value
        self._report(name, lambda: self._places[name].read(sent))

    def probe(self, timeout: float) -> str:
        async def read_once() -> None:
            async with self._session() as client:
                nodes = {name: client.get_node(one.node) for name, one in self._places.items()}
                await self._read(nodes)

        try:
            asyncio.run(asyncio.wait_for(read_once(), timeout))
        except Exception as error:
            reason = self._reason(error)
            raise SourceLost(
                Sentence("sources.noConnection", name=self.peer, reason=reason)
            ) from None
        return self._described

    @property
    def _described(self) -> str:
        nodes = [place.node for place in self._places.values()]
        return Sentence("operating.reading", name=self.peer, nodes=nodes)

    def _reason(self, error: Exception) -> str:
        # Without their long explanations: what a person can act on is the name.
        if isinstance(error, self._asyncua.ua.UaStatusCodeError):
            return str(type(error).__name__)
        if isinstance(error, TimeoutError):
            return Sentence("sources.noAnswer")
        return super()._reason(error)


class _Changes:
    """What asyncua calls when a value has changed."""

    def __init__(self, take: Callable[[Any, Any], None]) -> None:
        self._take = take

    def datachange_notification(self, node: Any, value: object, data: Any) -> None:
        self._take(node, data.monitored_item.Value)


def _asyncua() -> Any:
    try:
        asyncua = importlib.import_module("asyncua")
    except ImportError as error:
        raise SsdptError(Sentence("operating.needsAsyncua")) from error
    # What goes wrong is said in the status; its log repeats it with tracebacks.
    logging.getLogger("asyncua").setLevel(logging.CRITICAL)
    return asyncua
