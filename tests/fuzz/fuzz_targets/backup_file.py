"""Backups as files."""

from __future__ import annotations

from pathlib import Path

from fuzz_oracle import Violation
from fuzz_target import FuzzTarget

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.backup import restore


class Target(FuzzTarget):
    """Restores a file into an empty data folder; one that is refused leaves nothing behind."""

    share = 5
    longest = 32768
    words = (b"about.json", b"ustar\x0000", b"tables/events.jsonl.gz", b"files/../", b"models/a/")

    def run(self, data: bytes) -> None:
        self.restore(self.write("backup.tar", data))

    def restore(self, backup: Path) -> None:
        data = self.empty("data")
        url = f"sqlite:///{data / 'ssdpt.db'}"
        try:
            restore(backup, url, data)
        except SsdptError:
            left = [path.name for path in data.iterdir() if not path.name.startswith("ssdpt.db")]
            if left:
                raise Violation(f"a refused backup leaves files: {left}") from None
            raise
        with Store.open(url, data) as store:
            self.read(store)

    def read(self, store: Store) -> None:
        """What a service reads of a restored store."""
        store.events(limit=20)
        store.users()
        store.actions()
        store.notes("fan-1")
        store.get_value("fan-1", "baseline")
        list(store.readings("fan-1", 0.0, 2e9))
