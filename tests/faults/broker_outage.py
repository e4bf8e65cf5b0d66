"""The MQTT broker is stopped or frozen for a while."""

from __future__ import annotations

import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from faults.experiment import Outcome
from faults.plant import MACHINE
from faults.service_experiment import ServiceExperiment
from receivers import Broker, Subscriber
from waiting import wait_until


class BrokerOutage(ServiceExperiment):
    """Events wait for the broker; each reaches a subscriber, and none twice."""

    name = "broker-outage"
    trials = 12

    def prepare(self, folder: Path, stack: ExitStack) -> dict[str, Any]:
        (folder / "broker").mkdir()
        self._broker = stack.enter_context(Broker(folder / "broker"))
        topic = f"faults/{MACHINE}/event"
        self._subscriber = stack.enter_context(Subscriber(self._broker.port, topic))
        self._topic = topic
        output = {"kind": "mqtt", "host": "127.0.0.1", "port": self._broker.port}
        return {"outputs": [{**output, "prefix": "faults", "discovery": False}]}

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        before = self._told()
        frozen = number % 2 == 0
        self._broker.freeze() if frozen else self._broker.stop()
        try:
            self.hold(random.uniform(1, 12), outcome)
        finally:
            self._broker.thaw() if frozen else self._broker.start()
        # The next event proves that all before it have been sent: they come in order.
        wait_until(lambda: self._told() - before, "a new event reaches the subscriber", timeout=120)
        shown = self.plant.events().values()
        owed = {event["id"] for event in shown if event["ended"] is not None}
        outcome.checked += len(owed)
        try:
            wait_until(lambda: owed <= self._told(), timeout=60)
        except AssertionError:
            outcome.lost += [f"message about event {id}" for id in owed - self._told()]
        outcome.doubled += self._doubled()

    def _told(self) -> set[str]:
        """Ids of events that have reached the subscriber."""
        return {one["id"] for one in self._subscriber.contents(self._topic)}

    def _doubled(self) -> list[str]:
        """Changes that came as two deliveries; the same delivery may come twice."""
        changes: dict[tuple[str, int], set[str]] = {}
        for one in self._subscriber.contents(self._topic):
            changes.setdefault((one["id"], one["change"]), set()).add(one["delivery"])
        return [f"change {change} of {id}" for (id, change), n in changes.items() if len(n) > 1]
