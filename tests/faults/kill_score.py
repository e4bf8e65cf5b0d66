"""kill -9 of `ssdpt score` with shards: finished ones stay, and each clip is scored once."""

from __future__ import annotations

from pathlib import Path

from faults import commands
from faults.experiment import Outcome
from faults.kill_command import KillCommand
from faults.oracle import check_names, content, names

_GOLDEN = Path(__file__).parents[1] / "golden" / "formats" / "5" / "ssdpt"


class KillScore(KillCommand):
    """The model is a network, and every window is scored: so it takes seconds."""

    name = "kill-score"
    codes = (0, 1)  # 1: some clips are anomalous

    def prepare(self, place: Path, number: int) -> None:
        self._finished: dict[str, tuple[int, bytes]] = {}  # by name: inode and content

    def arguments(self, place: Path) -> list[str]:
        recordings, out = str(commands.simulated() / "fan"), str(place / "out")
        return ["score", str(_GOLDEN), recordings, "--hop", "1", "--shard-size", "3", "--out", out]

    def check(self, place: Path, outcome: Outcome) -> None:
        for name, before in self._finished.items():
            path = place / "out" / name
            outcome.checked += 1
            if not path.exists():
                outcome.lost.append(f"shard {name}")
            else:
                same = (path.stat().st_ino, path.read_bytes()) == before
                outcome.expect(same, f"{name} was scored a second time")
        for path in (place / "out").glob("part-*"):
            self._finished[path.name] = path.stat().st_ino, path.read_bytes()

    def check_done(self, place: Path, outcome: Outcome) -> None:
        self.check(place, outcome)
        found, wanted = content(place / "out"), content(self.undisturbed / "out")
        outcome.expect(found == wanted, "other scores than without kills")
        check_names(place / "out", names(self.undisturbed / "out"), outcome)
