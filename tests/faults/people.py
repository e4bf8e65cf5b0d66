"""Clients of the service that go on through every fault: people at the page, and a sensor."""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Self

import httpx
import numpy as np

from faults.ledger import Ledger
from faults.plant import MACHINE, Plant
from sounds import RATE, hum

_PIECE = 1.0  # seconds of sound per request
_BEHIND = 3600.0  # seconds by which the sensor's recordings are late at first
_NORMAL, _UNUSUAL = 20, 15  # seconds of each, in turn


class Client(ABC):
    """A thread that asks the service again and again; failures are part of the experiment."""

    pause = 0.1  # seconds at most between two requests

    def __init__(self, plant: Plant, ledger: Ledger, seed: str) -> None:
        self.plant, self.ledger = plant, ledger
        self.random = random.Random(seed)
        self.client = httpx.Client(timeout=30.0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.bug: BaseException | None = None
        self.refused = 0  # requests that were answered with an error

    def start(self) -> None:
        self._thread.start()

    def ask_to_stop(self) -> None:
        self._stop.set()

    def join(self) -> None:
        self._thread.join(60)
        self.client.close()
        if self.bug is not None:
            raise self.bug

    def _run(self) -> None:
        try:
            while not self._stop.wait(self.random.uniform(0, self.pause)):
                if not self.plant.address:
                    continue  # it has never answered yet
                # Refused, cut or answered with an error: nothing was acknowledged.
                with contextlib.suppress(httpx.HTTPError):
                    self.act()
        except BaseException as error:
            self.bug = error

    @abstractmethod
    def act(self) -> None:
        """One request or a few."""

    def ask(self, method: str, path: str, **options: Any) -> Any:
        reply = self.client.request(method, self.plant.address + path, **options)
        self.refused += reply.is_error
        return reply.raise_for_status().json()


class Person(Client):
    """Acknowledges, labels and comments events, and writes notes; each text is unique."""

    def __init__(self, plant: Plant, ledger: Ledger, seed: str) -> None:
        super().__init__(plant, ledger, seed)
        self._name, self._texts = seed, itertools.count(1)
        self._labelled: set[str] = set()

    def act(self) -> None:
        events = self.ask("GET", "v1/events", params={"limit": 100})
        self.ledger.saw_events([event["id"] for event in events])
        for event in self.random.sample(events, min(5, len(events))):
            self._write(event)
        text = self._text()
        with self.ledger.writing("note", "", text):
            body = {"at": time.time(), "kind": "other", "text": text}
            self.ask("POST", f"v1/machines/{MACHINE}/notes", json=body)

    def _write(self, event: dict[str, Any]) -> None:
        id, text = event["id"], self._text()
        what = self.random.choice(("acknowledgement", "comment", "label"))
        if what == "acknowledgement" and event["acknowledged"] is None:
            with self.ledger.writing("acknowledgement", id, text):
                self.ask("POST", f"v1/events/{id}/acknowledge", json={"comment": ""})
        elif what == "label":
            label = self.random.choice(("normal", "fault", "fault", ""))
            with self.ledger.writing("label", id, label):
                self.ask("POST", f"v1/events/{id}/label", json={"label": label})
        else:
            with self.ledger.writing("comment", id, text):
                self.ask("POST", f"v1/events/{id}/comment", json={"text": text})

    def _text(self) -> str:
        return f"{self._name} {next(self._texts)}"


class Reader(Client):
    """Looks at the last scores: what it has seen must stay."""

    pause = 0.5

    def act(self) -> None:
        scores = self.ask("GET", f"v1/machines/{MACHINE}")["recent_scores"]
        if not scores:
            return
        end = scores[-1][0]
        trend = self.ask(
            "GET",
            f"v1/machines/{MACHINE}/trend",
            params={"begin": end - 120, "end": end + 1, "points": 121},
        )
        rows = zip(trend["time"], trend["mean"], trend["state"], strict=True)
        if trend["seconds_per_point"] == 1:
            self.ledger.saw_readings(MACHINE, {at: (mean, state) for at, mean, state in rows})


class Sensor(Client):
    """Sends recordings of the last hour faster than they were made, then as they are made.

    Its machine hums, and now and then it whines: these are the events.
    """

    def __init__(self, plant: Plant, ledger: Ledger, seed: str) -> None:
        super().__init__(plant, ledger, seed)
        self.began = self._time = time.time() - _BEHIND  # of the next piece
        self._second = 0
        sound = hum(10.0, seed=5)
        whine = 0.3 * np.sin(2 * np.pi * 3000 * np.arange(len(sound)) / RATE)
        self._sounds = {False: sound, True: (sound + whine).astype(np.float32)}

    def act(self) -> None:
        if self._time + _PIECE > time.time():
            return
        unusual = self._second % (_NORMAL + _UNUSUAL) >= _NORMAL
        begin = self._second % 9 * RATE
        piece = self._sounds[unusual][begin : begin + round(_PIECE * RATE)]
        self.ask(
            "POST",
            f"v1/machines/{MACHINE}/audio",
            params=self.when(),
            content=np.clip(piece * 32768, -32768, 32767).astype(">i2").tobytes(),
            headers={"Content-Type": f"audio/L16;rate={RATE};channels=1"},
        )
        self._time += _PIECE
        self._second += 1

    def when(self) -> dict[str, float]:
        """What it says about the time of the next piece."""
        return {"time": self._time}


class LiveSensor(Sensor):
    """Sends sound as it is made, without a time: that of the service's clock counts."""

    def __init__(self, plant: Plant, ledger: Ledger, seed: str) -> None:
        super().__init__(plant, ledger, seed)
        self.began = self._time = time.time()

    def when(self) -> dict[str, float]:
        return {}


class Everyone:
    """Two people, a reader and a sensor."""

    def __init__(self, plant: Plant, seed: str, sensor: type[Sensor] = Sensor) -> None:
        self.ledger = Ledger()
        people = [Person(plant, self.ledger, f"{name} {seed}") for name in ("Ada", "Bo")]
        self._sensor = sensor(plant, self.ledger, f"sensor {seed}")
        reader = Reader(plant, self.ledger, f"reader {seed}")
        self._clients: list[Client] = [*people, reader, self._sensor]

    @property
    def refused(self) -> int:
        """Requests that were answered with an error."""
        return sum(client.refused for client in self._clients)

    @property
    def sensor_began(self) -> float:
        """Time of the first sound."""
        return self._sensor.began

    def __enter__(self) -> Self:
        for client in self._clients:
            client.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for client in self._clients:
            client.ask_to_stop()
        for client in self._clients:
            client.join()
