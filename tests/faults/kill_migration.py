"""kill -9 while a store of an earlier release is upgraded: the next start goes on with all rows."""

from __future__ import annotations

import lzma
import sqlite3
from contextlib import closing
from pathlib import Path

from store_data import BEGIN, event

from faults.experiment import Outcome
from faults.kill_command import KillCommand
from faults.oracle import check_names, names
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.schema import newest_revision

_STORE_0003 = Path(__file__).parents[1] / "monitor" / "store" / "store_0003.db.xz"
_ROWS = 300_000  # seconds of a machine: copying and changing them takes a while


class KillMigration(KillCommand):
    """`ssdpt user list` upgrades the store as every command does."""

    name = "kill-migration"
    trials = 25

    def prepare(self, place: Path, number: int) -> None:
        (place / "data").mkdir()
        store = place / "data" / "ssdpt.db"
        store.write_bytes(lzma.decompress(_STORE_0003.read_bytes()))
        with closing(sqlite3.connect(store)) as connection, connection:
            rows = ((7, round(1000 * (BEGIN + 864_000 + n)), n / 7) for n in range(_ROWS))
            connection.executemany(
                "INSERT INTO seconds (machine, time, state, level, smoothed) "
                "VALUES (?, ?, 30, -30.0, ?)",
                rows,
            )

    def arguments(self, place: Path) -> list[str]:
        return ["user", "list", "--data", str(place / "data")]

    def check(self, place: Path, outcome: Outcome) -> None:
        """Whole, and with all rows, whichever tables it has now."""
        with closing(sqlite3.connect(place / "data" / "ssdpt.db")) as connection:
            (state,) = connection.execute("PRAGMA integrity_check").fetchone()
            outcome.expect(state == "ok", f"SQLite says: {state}")
            (count,) = connection.execute(
                "SELECT count(*) FROM seconds WHERE machine = 7"
            ).fetchone()
            outcome.checked += 2
            if count != _ROWS:
                outcome.lost.append(f"{_ROWS - count} readings")
            (events,) = connection.execute("SELECT count(*) FROM events").fetchone()
            if events != 1:
                outcome.lost.append("an event")

    def check_done(self, place: Path, outcome: Outcome) -> None:
        self.check(place, outcome)
        data = place / "data"
        with Store.open(f"sqlite:///{data}/ssdpt.db", data, writer=True) as store:
            stored = store.event(event(0).id)
            outcome.expect(stored and stored.comments[0].text == "läuft\n", "a comment is lost")
            upgrade = store.last_upgrade()
            outcome.expect(upgrade and upgrade.from_tables == "0003", "no record of the upgrade")
        expected = names(self.undisturbed / "data")
        expected["ssdpt.db.lock"] = 1
        repeated = f"backups/before-tables-{newest_revision()}-#.db"
        check_names(data, expected, outcome, repeated)
