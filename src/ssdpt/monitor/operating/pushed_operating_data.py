"""Operating data that another program sends to the HTTP API."""

from __future__ import annotations

from typing import Literal

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import OperatingDataSettings
from ssdpt.monitor.operating.base import OperatingDataSource
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.sentences import Sentence, clauses


class PushedOperatingDataSettings(OperatingDataSettings):
    """Operating data that another program sends to the HTTP API."""

    kind: Literal["pushed"] = "pushed"


class PushedOperatingData(OperatingDataSource):
    """There is no connection: it counts as connected once something was sent."""

    settings_class = PushedOperatingDataSettings

    def __init__(self, settings: PushedOperatingDataSettings, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, clock)
        self._set_status(connected=False, message=Sentence("operating.waiting"))

    def start(self) -> None:
        """Nothing to start: values come by HTTP."""

    def ask_to_stop(self) -> None:
        """Nothing to stop."""

    def stop(self, timeout: float = 5.0) -> None:
        """Nothing to stop."""

    def probe(self, timeout: float) -> str:
        return Sentence("operating.waiting")

    def push(
        self,
        running: bool | None = None,
        speed_rpm: float | None = None,
        load_percent: float | None = None,
    ) -> None:
        """Take the values that are given; SsdptError where one is left out, the others count."""
        given = {"running": running, "speed_rpm": speed_rpm, "load_percent": load_percent}
        problems = [
            self._report(name, lambda value=value: value)  # type: ignore[misc]
            for name, value in given.items()
            if value is not None
        ]
        self._set_status(connected=True, message=Sentence("operating.arriving"))
        if any(problems):
            raise SsdptError(clauses(*problems))
