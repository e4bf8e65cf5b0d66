"""Completion in shells: names of presets, systems and topics, and folders of models."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssdpt.cli import app
from ssdpt.cli.completion import MODEL_FILES, model_folders
from ssdpt.config.tree import preset_names
from ssdpt.detection.storage import CALIBRATION
from ssdpt.fleet.fleet import INDEX
from ssdpt.help import topics
from ssdpt.runtime.manifest import MANIFEST
from ssdpt.systems import system_names


def completed(line: str) -> list[str]:
    """What bash offers at the end of a line."""
    words = line.split(" ")
    environment = {
        "_SSDPT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    return CliRunner().invoke(app, [], env=environment, prog_name="ssdpt").output.split()


def test_names_are_completed() -> None:
    assert completed("ssdpt fit recordings --preset ") == [*preset_names()]
    assert completed("ssdpt fit recordings --system g") == ["gmm"]
    assert set(completed("ssdpt fit --system ")) == set(system_names())
    assert completed("ssdpt help thr") == ["thresholds"]
    assert set(completed("ssdpt help ")) == set(topics())
    assert {"score", "serve", "systems"} <= set(completed("ssdpt s"))


def test_model_folders_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(MODEL_FILES) == {CALIBRATION, MANIFEST, INDEX}
    for name, file in zip(("model", "models/fan", "more"), MODEL_FILES, strict=True):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / file).touch()
    (tmp_path / "mounted").mkdir()
    monkeypatch.chdir(tmp_path)
    for command in ("score", "info", "compare", "evaluate"):
        assert completed(f"ssdpt {command} mo") == ["model", "more"]
    assert completed("ssdpt score models/") == ["models/fan"]
    assert completed(f"ssdpt score {tmp_path}/more") == [f"{tmp_path}/more"]
    assert completed("ssdpt score x") == []
    assert model_folders("absent/x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_calls_ssdpt(shell: str) -> None:
    environment = {"_SSDPT_COMPLETE": f"source_{shell}"}
    script = CliRunner().invoke(app, [], env=environment, prog_name="ssdpt").output
    assert f"_SSDPT_COMPLETE=complete_{shell}" in script
