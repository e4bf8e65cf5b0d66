"""The service under test: one machine whose sound is sent to it, and people who use the page."""

from __future__ import annotations

import itertools
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import yaml
from monitor_service import Service

from faults.experiment import Outcome
from faults.ledger import View
from faults.stored_readings import check_stored_readings
from sounds import write_folder
from ssdpt.common.temporary import is_temporary
from ssdpt.monitor.config import STORE_FILE
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.engine import Database
from waiting import wait_until

MACHINE = "fan"
_COMMAND = str(Path(sys.executable).with_name("ssdpt"))
_PAGE = 1000  # events per request
_HOURS = 3600  # seconds per request of readings
_READY_SECONDS = 90.0


@cache
def fitted_model() -> Path:
    """A model of the hum that the sensor sends; fitted once, gone with this process."""
    import atexit
    import shutil
    import tempfile

    from ssdpt import Detector
    from ssdpt.config.tree import load_config

    folder = Path(tempfile.mkdtemp(prefix="faults-model-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    clips = write_folder(folder / "hum", clips=12, seconds=10.0)
    Detector.fit(clips, config=load_config("tiny", {"system": "gmm"})).save(folder / "model")
    return folder / "model"


def machine_settings(id: str = MACHINE, source: dict[str, Any] | None = None) -> dict[str, Any]:
    """A machine that is judged by the fitted model; its events are short and follow each other."""
    return {
        "id": id,
        "model": str(fitted_model()),
        "source": source or {"kind": "pushed", "max_silence": 20},
        "alarm": {"rejoin_within": 0, "smoothing": 2, "clear_after": 5},
    }


class Plant(Service, View):
    """`ssdpt serve` in a folder of its own."""

    def __init__(self, folder: Path, *, data: Path | None = None, **settings: Any) -> None:
        """`data`: its data folder, if not in `folder`; `settings` of the configuration file."""
        self.folder = folder
        config = {
            "machines": [machine_settings()],
            "retention": {"min_free_mb": 0, "pre_roll": 2, "post_roll": 2, "recent_minutes": 0},
            **settings,
        }
        (folder / "monitor.yaml").write_text(yaml.safe_dump(config))
        arguments = ("--config", folder / "monitor.yaml")
        super().__init__(_COMMAND, folder, *arguments, *(("--data", data) if data else ()))
        self.data = data or folder / "data"
        self._store = str(settings.get("store", "")) or f"sqlite:///{self.data / STORE_FILE}"
        self._client = httpx.Client(timeout=30.0)

    def wait_until_ready(self) -> None:
        """It answers, the store accepts data, and the sensor's seconds are judged again."""
        self.wait_until_listening()
        wait_until(lambda: self._says_ok("healthz"), "healthz is 200", timeout=_READY_SECONDS)
        wait_until(lambda: self._says_ok("readyz"), "readyz is 200", timeout=_READY_SECONDS)
        before = self.newest_reading()
        # Not only later ones: the clock may just have been set back.
        wait_until(
            lambda: self.newest_reading() not in (0.0, before),
            "readings go on",
            timeout=_READY_SECONDS,
        )

    def _says_ok(self, path: str) -> bool:
        assert self._process.poll() is None, self.log[-2000:]
        try:
            return self._client.get(self.address + path).status_code == 200
        except httpx.HTTPError:
            return False

    def newest_reading(self) -> float:
        """Time of the last judged second; 0: none since the start."""
        scores = self.ask("GET", f"v1/machines/{MACHINE}")["recent_scores"]
        return float(scores[-1][0]) if scores else 0.0

    def ask(self, method: str, path: str, **options: Any) -> Any:
        reply = self._client.request(method, self.address + path, **options)
        return reply.raise_for_status().json()

    def events(self) -> dict[str, dict[str, Any]]:
        events: dict[str, dict[str, Any]] = {}
        before: dict[str, float] = {}
        while True:
            page = self.ask("GET", "v1/events", params={"limit": _PAGE, **before})
            fresh = {event["id"]: event for event in page if event["id"] not in events}
            events |= fresh
            if len(page) < _PAGE or not fresh:
                return events
            before = {"before": page[-1]["began"] + 1e-3}

    def notes(self) -> list[str]:
        return [note["text"] for note in self.ask("GET", f"v1/machines/{MACHINE}/notes")]

    def readings(self, machine: str, first: float, last: float) -> dict[float, tuple[Any, ...]]:
        readings: dict[float, tuple[Any, ...]] = {}
        for begin in itertools.takewhile(
            lambda begin: begin <= last, itertools.count(first - 1, _HOURS)
        ):
            trend = self.ask(
                "GET",
                f"v1/machines/{machine}/trend",
                params={"begin": begin, "end": min(begin + _HOURS, last + 1), "points": _HOURS},
            )
            assert len(set(trend["time"])) == len(trend["time"]), "a trend has a second twice"
            rows = zip(trend["time"], trend["mean"], trend["state"], strict=True)
            readings |= {at: (mean, state) for at, mean, state in rows}
        return readings

    def roll_up(self) -> None:
        """As the service does every minute; from now on, older readings come late."""
        with Store.open(self._store, self.data) as store:
            store.roll_up(time.time())

    def check_stored_readings(self, outcome: Outcome) -> None:
        """Nothing is in the store twice, minutes and hours count what they are made of."""
        database = Database(self._store)
        try:
            check_stored_readings(database, outcome)
        finally:
            database.close()

    def check_files(self, outcome: Outcome) -> None:
        """No traceback in the log, no left-over file in the data folder, every model whole."""
        from ssdpt.detection.storage import read_model

        outcome.expect("Traceback" not in self.log, f"a traceback: {self.log[-3000:]}")
        models = self.data / "models"
        for folder in models.iterdir() if models.is_dir() else ():
            if not is_temporary(folder.name):
                outcome.checked += 1
                read_model(folder)  # raises where it is not whole
        try:  # the service may just be writing one
            wait_until(lambda: not self._left_over(), timeout=10.0)
        except AssertionError:
            outcome.wrong += [f"left over: {name}" for name in self._left_over()]

    def _left_over(self) -> list[str]:
        return [str(path) for path in self.data.rglob(".*") if is_temporary(path.name)]

    def alive(self) -> bool:
        return self._process.poll() is None
