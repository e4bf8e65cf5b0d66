"""kill -9 of `ssdpt fit`: resumed, it ends in the same model, and none is ever half-written."""

from __future__ import annotations

from pathlib import Path

from faults import commands
from faults.experiment import Outcome
from faults.kill_command import KillCommand
from faults.oracle import check_names, content, names
from ssdpt.detection.storage import read_model

_GOLDEN = Path(__file__).parents[1] / "golden" / "formats" / "5" / "ssdpt"
_SETTINGS = (
    *("ssdpt.training.hop=4", "ssdpt.training.checkpoint_seconds=0.1", "ssdpt.training.epochs=2"),
    "decision.cross_fit_below=0",
)


class KillFit(KillCommand):
    """Every second round there is an older model in the place of the new one."""

    name = "kill-fit"

    def prepare(self, place: Path, number: int) -> None:
        (place / "out").mkdir()
        if number % 2:
            (place / "out" / "model").mkdir()
            for name, data in content(_GOLDEN).items():
                (place / "out" / "model" / name).write_bytes(data)

    def arguments(self, place: Path) -> list[str]:
        settings = [part for setting in _SETTINGS for part in ("--set", setting)]
        recordings, out = str(commands.simulated() / "fan"), str(place / "out" / "model")
        return ["fit", recordings, "--out", out, "--preset", "tiny", *settings, "--resume"]

    def check(self, place: Path, outcome: Outcome) -> None:
        model = place / "out" / "model"
        if model.exists():
            outcome.checked += 1
            read_model(model)  # raises where it is not whole
            whole = [content(_GOLDEN), self._result(self.undisturbed)]
            found = self._result(place)
            outcome.expect(found in whole, "the model is neither the old one nor the new one")

    def check_done(self, place: Path, outcome: Outcome) -> None:
        outcome.checked += 1
        found = self._result(place)
        outcome.expect(found == self._result(self.undisturbed), "it ended in another model")
        for folder in ("out", "cache"):
            check_names(place / folder, names(self.undisturbed / folder), outcome)

    @staticmethod
    def _result(place: Path) -> dict[str, bytes]:
        """All files but the log, which holds computing times, and what quotes it."""
        files = content(place / "out" / "model")
        if files.keys() == content(_GOLDEN).keys() and files == content(_GOLDEN):
            return files
        return {name: files[name] for name in ("model.safetensors", "calibration.json")}
