"""Every command and Python line of README.md runs, in order, in one folder.

The recordings are those of a tiny simulated pump, and preset `fast` is replaced by `tiny`.
At most five blocks are not run; each says why in a comment above it.
"""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ssdpt.config.tree
import ssdpt.detection.detector
from ssdpt.cli import app
from ssdpt.data.simulator import simulate
from ssdpt.data.simulator.clip import ClipName
from ssdpt.data.simulator.preset import preset_named
from ssdpt.data.simulator.simulation import SimulationJob, write_clips
from ssdpt.experiments.paper.parameter_counts import parameter_table

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
MOST_NOT_RUN = 5


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `reason` says why it is not run."""

    language: str
    code: str
    reason: str


BLOCKS = [
    Block(language, code, reason or "")
    for reason, language, code in re.findall(
        r"(?:<!-- not run: (.+?) -->\n)?^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE
    )
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with recordings as in the README."""
    simulate(tmp_path / "recordings", "tiny", machines=["pump"], workers=1)
    faulty = next((tmp_path / "recordings" / "pump" / "source_test").glob("*anomaly*"))
    shutil.copy(faulty, tmp_path / "today.wav")
    first_day = SimulationJob(tmp_path / "first-day", preset_named("tiny"), 0, ("pump",))
    normal = [ClipName("pump", 0, "source", "test", "normal", 10 + index) for index in range(5)]
    list(write_clips(first_day, normal, workers=1))
    load = ssdpt.config.tree.load_config

    def quick(preset: str = "best", overrides: dict[str, Any] | None = None) -> Any:
        if preset == "best":
            return load("tiny", {"system": "multiview", **(overrides or {})})
        return load("tiny" if preset == "fast" else preset, overrides)

    monkeypatch.setattr(ssdpt.config.tree, "load_config", quick)
    monkeypatch.setattr(ssdpt.detection.detector, "load_config", quick)
    monkeypatch.setenv("SSDPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_few_blocks_are_not_run() -> None:
    assert sum(bool(block.reason) for block in BLOCKS) <= MOST_NOT_RUN
    assert {block.language for block in BLOCKS} == {"sh", "python"}


def test_commands_and_python_run(folder: Path) -> None:
    ran = 0
    for block in BLOCKS:
        if block.reason:
            continue
        if block.language == "python":
            exec(compile(block.code, "README.md", "exec"), {})
            ran += 1
            continue
        for line in block.code.splitlines():
            program, *arguments = shlex.split(line, comments=True)
            assert program == "ssdpt", line
            result = CliRunner().invoke(app, arguments)
            # 1 is the answer of `score` to an anomalous clip.
            fine = {0, 1} if arguments[0] == "score" else {0}
            assert result.exit_code in fine, f"{line}\n{result.output}"
            ran += 1
    assert ran > 10
    assert (folder / "result" / "report.html").is_file()


def test_parameter_table_is_right() -> None:
    rows = re.findall(r"^\| (\d) \| (\d+) \| ([\d,]+) \| ([\d,]+) \|$", README, re.MULTILINE)
    numbers = [tuple(int(cell.replace(",", "")) for cell in row) for row in rows]
    assert numbers == [tuple(row.values()) for row in parameter_table()]


def test_python_use_is_three_lines() -> None:
    (python,) = [block for block in BLOCKS if block.language == "python"]
    assert len(list(filter(None, python.code.splitlines()))) == 3
