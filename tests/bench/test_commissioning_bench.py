"""`ssdpt bench commissioning` on the smallest plant."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ssdpt.bench.commissioning import bench_commissioning
from ssdpt.cli.bench import app
from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config
from ssdpt.data.simulator.clip import ClipName
from ssdpt.data.simulator.preset import preset_named
from ssdpt.data.simulator.simulation import SimulationJob, write_clips


@pytest.fixture(scope="module")
def fan_with_test_clips(tmp_path_factory):
    """One section: eight clips to fit on, eight normal and two faulty ones to judge."""
    job = SimulationJob(tmp_path_factory.mktemp("plant"), preset_named("tiny"), 0, ("fan",))
    kinds = [("train", "normal", 8), ("test", "normal", 8), ("test", "anomaly", 2)]
    names = [
        ClipName("fan", 0, "source", split, label, index)
        for split, label, count in kinds
        for index in range(count)
    ]
    list(write_clips(job, names, workers=1))
    return job.out / "fan"


@pytest.mark.parametrize("together", [False, True])
def test_the_first_clips_commission_and_the_others_are_counted(fan_with_test_clips, together):
    result = bench_commissioning(
        load_config("tiny", {"system": "texture"}),
        [fan_with_test_clips],
        seeds=1,
        clips=5,
        together=together,
        reporter=SILENT,
    )
    json.dumps(result)
    assert [row["rate"] for row in result["rows"]] == [0.1, 0.01]
    for row in result["rows"]:
        assert (row["normals"], row["anomalies"]) == (3, 2)  # five of eight commission
    total = result["totals"]["0.1"]
    assert total["after"] == result["rows"][0]["after"]
    for when in ("before", "after"):
        assert result["totals"]["0.01"][when]["anomalies"] <= total[when]["anomalies"]


def test_a_fault_among_the_clips_is_not_judged(fan_with_test_clips):
    result = bench_commissioning(
        load_config("tiny", {"system": "texture"}),
        [fan_with_test_clips],
        seeds=1,
        clips=6,
        faulty=1,
        drawn=True,
        reporter=SILENT,
    )
    assert {(row["normals"], row["anomalies"]) for row in result["rows"]} == {(2, 1)}


def test_the_command_prints_every_section_and_a_total(fan_with_test_clips):
    options = ["--preset", "tiny", "--clips", "5", "--seeds", "2"]
    result = CliRunner().invoke(app, ["commissioning", str(fan_with_test_clips), *options])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert sum("/fan" in line and "10 %" in line for line in lines) == 2
    assert lines[-2].startswith("all")
    assert "of 3" in lines[-1]
