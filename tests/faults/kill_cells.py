"""kill -9 of `ssdpt ablate`: a finished cell is never lost, and never run a second time."""

from __future__ import annotations

from pathlib import Path

from faults import commands
from faults.experiment import Outcome
from faults.kill_command import KillCommand
from faults.oracle import check_names, names

_SETTINGS = (
    *("features.n_mels=32", "multiview.network.blocks=1", "multiview.network.frames=16"),
    *("multiview.network.feed_forward=8", "multiview.network.training.epochs=1"),
    *("multiview.network.training.hop=64", "multiview.network.hop=64"),
    "multiview.network.training.checkpoint_seconds=0.1",
)
_VARIANTS = ("no-density", "one-network", "without-steady")


class KillCells(KillCommand):
    """Tiny networks are trained once, and four variants of the recipe are scored with them."""

    name = "kill-cells"
    trials = 20

    def prepare(self, place: Path, number: int) -> None:
        self._finished: dict[str, int] = {}  # cells by name: inode

    def arguments(self, place: Path) -> list[str]:
        settings = [part for setting in _SETTINGS for part in ("--set", setting)]
        variants = [part for variant in _VARIANTS for part in ("--variant", variant)]
        recordings, out = str(commands.simulated() / "fan"), str(place / "out")
        return ["ablate", "--data", recordings, "--out", out, "--seeds", "1", *variants, *settings]

    def check(self, place: Path, outcome: Outcome) -> None:
        cells = place / "out" / "cells"
        for name, inode in self._finished.items():
            outcome.checked += 1
            if not (cells / name / "cell.json").exists():
                outcome.lost.append(f"cell {name}")
            elif (cells / name).stat().st_ino != inode:
                outcome.doubled.append(f"cell {name} was run a second time")
        for path in cells.glob("[0-9a-f]*"):
            self._finished[path.name] = path.stat().st_ino

    def check_done(self, place: Path, outcome: Outcome) -> None:
        self.check(place, outcome)
        table = "ablation.csv"
        found, wanted = ((one / "out" / table).read_text() for one in (place, self.undisturbed))
        outcome.expect(found == wanted, "another table than without kills")
        check_names(place / "out", names(self.undisturbed / "out"), outcome)
