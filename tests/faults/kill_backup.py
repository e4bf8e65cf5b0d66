"""kill -9 of `ssdpt history backup`: the backup of before, or a whole new one."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from store_data import BEGIN, event, fill, readings

from faults.experiment import Outcome
from faults.kill_command import KillCommand
from faults.oracle import check_names, names
from ssdpt.monitor.store import Store, back_up, restore

_SECONDS = 40_000  # rows: writing them takes a while
_EVENTS = 50


class KillBackup(KillCommand):
    """Whatever the moment, what lies there can be restored with all its rows."""

    name = "kill-backup"
    trials = 25

    def prepare(self, place: Path, number: int) -> None:
        data = place / "data"
        with Store.open(f"sqlite:///{data}/ssdpt.db", data) as store:
            fill(store)
            scores = random.Random(number)
            store.add_readings(
                readings("fan-1", BEGIN + 86400, [scores.random() for _ in range(_SECONDS)])
            )
            for one in range(1, _EVENTS):
                store.save_event(event(one))
            back_up(store, _backup(place))

    def arguments(self, place: Path) -> list[str]:
        out, data = str(_backup(place)), str(place / "data")
        return ["history", "backup", out, "--data", data, "--replace"]

    def check(self, place: Path, outcome: Outcome) -> None:
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            url, data = f"sqlite:///{folder}/ssdpt.db", Path(folder)
            restore(_backup(place), url, data)
            with Store.open(url, data) as store:
                found = {one.id for one in store.events(limit=2 * _EVENTS)}
                wanted = {event(one).id for one in range(_EVENTS)}
                outcome.checked += len(wanted)
                outcome.lost += [f"event {id} of the backup" for id in wanted - found]
                trend = store.trend("fan-1", BEGIN + 86400, BEGIN + 86400 + _SECONDS, _SECONDS)
                outcome.expect(len(trend.time) == _SECONDS, "readings of the backup are missing")

    def check_done(self, place: Path, outcome: Outcome) -> None:
        self.check(place, outcome)
        check_names(place / "backups", names(self.undisturbed / "backups"), outcome)


def _backup(place: Path) -> Path:
    return place / "backups" / "backup.tar"
