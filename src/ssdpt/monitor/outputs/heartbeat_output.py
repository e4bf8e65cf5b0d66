"""A sign of life to a web address, for a service that raises an alarm when it stays away.

Such as healthchecks.io, Uptime Kuma or a dead man's switch of one's own. It is sent only while
machines are really monitored, so that a service that hangs is noticed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from pydantic import Field

from ssdpt.common.backoff import Backoff
from ssdpt.monitor.config import OutputSettings
from ssdpt.monitor.outputs.base import QUEUE_LIMIT, Output, Refused, TryAgain
from ssdpt.monitor.outputs.context import OutputContext
from ssdpt.monitor.outputs.http_request import check_reachable, send_request, server_of
from ssdpt.sentences import Sentence, said

_TIMEOUT = 10.0  # seconds without an answer


class HeartbeatSettings(OutputSettings):
    """A web address that is called again and again while machines are monitored."""

    kind: Literal["heartbeat"] = "heartbeat"
    url: str = Field(
        repr=False,
        pattern=r"^https?://",
        description="an address that begins with http:// or https://",
    )
    every: float = Field(60.0, ge=5, le=86400, description="seconds from one call to the next")
    method: Literal["GET", "POST"] = "GET"


class HeartbeatOutput(Output):
    """Calls the address; after a failure sooner again."""

    settings_class = HeartbeatSettings
    accepts = ()

    def __init__(
        self,
        settings: HeartbeatSettings,
        context: OutputContext | None = None,
        *,
        queue_limit: int = QUEUE_LIMIT,
        pauses: Callable[[], Iterator[float]] = Backoff,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`sleep` waits for some seconds; by default it ends when the output is closed."""
        super().__init__(
            f"heartbeat {server_of('heartbeat', settings.url)}",
            context,
            queue_limit=queue_limit,
            pauses=pauses,
        )
        self._settings, self._url = settings, settings.url
        self._sleep = sleep or self._closing.wait

    def probe(self, timeout: float) -> str:
        check_reachable(self._url, timeout)
        return Sentence("outputs.reachable")

    def test(self, timeout: float) -> str:
        return Sentence("outputs.answers", status=self._call(timeout))

    def beat(self) -> bool:
        """Call the address once, unless nothing is monitored; whether it answered."""
        problem = self._context.problem()
        if problem:
            self._set_unhealthy(Sentence("outputs.noSignOfLife", problem=problem))
            return False
        try:
            self._call(_TIMEOUT)
        except (TryAgain, Refused) as error:
            self._set_unhealthy(said(error))
            return False
        self._count_delivered(1)
        self._set_healthy(Sentence("outputs.working"))
        return True

    def _call(self, timeout: float) -> int:
        body = b"" if self._settings.method == "POST" else None
        return send_request(self._url, self._settings.method, timeout, body)

    def _run(self) -> None:
        pauses = self._pauses()
        while not self._closing.is_set():
            pause = self._settings.every
            if self.beat():
                pauses = self._pauses()
            else:
                pause = min(pause, next(pauses))
            self._sleep(pause)

    def _wake(self) -> None:
        """Closing wakes the thread itself."""
