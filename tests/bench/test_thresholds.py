"""`ssdpt bench thresholds` on a small scale: rates are counted on clips not used in training."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ssdpt.bench.thresholds import bench_thresholds
from ssdpt.cli.bench import app
from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError


@pytest.fixture(scope="module")
def clips_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("thresholds")


def bench(clips_folder, **changes):
    options = {"train": 12, "clips": 9, "sections": 2, "machines": ["valve"], "keep": clips_folder}
    config = load_config("fast", {"system": "gmm", "device": "cpu"})
    return bench_thresholds(config, **{**options, **changes}, reporter=SILENT)


def test_rates_of_unseen_clips(clips_folder):
    result = bench(clips_folder)
    json.dumps(result)
    measured = result["machines"]["valve"]
    assert (measured["system"], measured["calibration_clips"]) == ("gmm", 12)
    for rate, row in measured["rates"].items():
        assert row["rate"] * 9 == pytest.approx(round(row["rate"] * 9))
        assert row["ratio"] == pytest.approx(row["rate"] / float(rate))
        assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
        assert row["within"] == (0.5 <= row["ratio"] <= 2)
        assert result["within"][rate] == row["within"]
    assert len(list((clips_folder / "valve" / "train").iterdir())) == 12
    assert len(list((clips_folder / "valve" / "source_test").iterdir())) == 9


def test_kept_clips_are_used_again(clips_folder):
    before = {path: path.stat().st_mtime_ns for path in clips_folder.rglob("*.wav")}
    bench(clips_folder)
    assert {path: path.stat().st_mtime_ns for path in clips_folder.rglob("*.wav")} == before


def test_an_unknown_machine_is_rejected_before_any_clip_is_simulated(tmp_path):
    with pytest.raises(SsdptError, match="press: no such machine type"):
        bench(tmp_path, machines=["fan", "press"])
    assert not list(tmp_path.iterdir())


def test_the_command_prints_a_row_per_machine_and_a_conclusion_per_rate(clips_folder):
    options = ["--train", "12", "--clips", "9", "--sections", "2", "--machine", "valve"]
    result = CliRunner().invoke(app, ["thresholds", *options, "--keep", str(clips_folder)])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[-4].startswith("valve")
    assert [line.split(",")[0] for line in lines[-3:]] == ["at 1 %", "at 5 %", "at 10 %"]
