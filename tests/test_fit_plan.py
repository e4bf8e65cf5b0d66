"""What a fit says before it starts, and when it adds networks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from ssdpt.cli import app
from ssdpt.config.tree import load_config
from ssdpt.fleet import plan
from ssdpt.fleet.plan import plan_fit
from ssdpt.types import Recording


def recordings(clips, sections=2):
    return [
        Recording(Path(f"{section}-{number}.wav"), "fan", f"{section:02d}", split="train")
        for section in range(sections)
        for number in range(clips)
    ]


@pytest.fixture(params=["cpu", "cuda"])
def device(request, monkeypatch):
    monkeypatch.setattr(plan, "choose_device", lambda name: torch.device(request.param))
    return request.param


@pytest.fixture(autouse=True)
def lengths(monkeypatch):
    monkeypatch.setattr(plan, "_seconds", lambda recording: 10.0)
    monkeypatch.setattr(plan, "cores", lambda: 2)


@pytest.mark.parametrize(("clips", "sections"), [(50, 2), (499, 2), (500, 2), (900, 1)])
def test_networks_join_where_clips_ids_and_a_gpu_are_there(device, clips, sections):
    chosen = plan_fit(recordings(clips, sections), load_config(), choose=True)
    networks = clips >= plan.ENOUGH_CLIPS and sections > 1 and device == "cuda"
    assert chosen.config.system == ("multiview" if networks else "texture")
    assert f"{clips * sections} normal clips of {sections} machine ID" in chosen.message
    assert ("trained networks" in chosen.message) == networks


def test_what_a_person_has_chosen_stays(device):
    many = recordings(600)
    assert plan_fit(many, load_config(), choose=False).config.system == "texture"
    assert plan_fit(many, load_config("best"), choose=False).config.system == "multiview"


def test_a_long_training_is_announced_with_what_would_be_quick(device):
    message = plan_fit(recordings(150), load_config("best"), choose=False).message
    assert ("about 61 min on this CPU" if device == "cpu" else "on the GPU") in message
    assert plan.NETWORKS_BRING in message
    assert ("preset default, without them, takes about 20 s" in message) == (device == "cpu")


@pytest.mark.parametrize("preset", ["default", "best"])
@pytest.mark.parametrize("clips", [30, 60, 300, 800])
def test_what_clips_and_a_gpu_would_bring_has_an_amount(device, preset, clips):
    message = plan_fit(recordings(clips), load_config(preset), choose=preset == "default").message
    assert "-0.001 to +0.020 of the score with 60 to 110 clips" in message
    assert "+0.026 with 1,000" in message
    networks = "trained networks" in message
    assert ("they need --preset best and a GPU" in message) != networks
    if not networks:
        assert ("Record 60 clips per machine ID" in message) == (clips < 60)
        assert ("More clips bring little: +0.004 of the score" in message) == (clips >= 60)


def test_a_clip_that_is_missing_of_one_machine_id_asks_for_no_more(device):
    message = plan_fit(recordings(60)[1:], load_config(), choose=True).message
    assert "119 normal clips" in message
    assert "Record 60 clips" not in message


def test_one_machine_id_is_told_too(device):
    message = plan_fit(recordings(90, 1), load_config(), choose=True).message
    assert "More clips bring little: +0.006 of the score" in message
    assert "A GPU brings nothing: networks need two machine IDs" in message
    assert "-0.001" not in message


def test_the_figures_are_those_of_the_page_on_quality():
    text = (Path(__file__).parents[1] / "docs/explanation/quality.md").read_text("utf-8")
    text = " ".join(text.split())
    networks = text.split("## Networks ")[1].split(" ## ")[0]
    assert (
        "between -0.001 and +0.020 with 60 to 110 clips of each ID, +0.026 with 1,000" in networks
    )
    assert (plan.CLIPS_BRING_TOGETHER, plan.CLIPS_BRING_ALONE) == ("+0.004", "+0.006")
    assert "0.653 with 110 training clips instead of 60 (alone 0.649)" in text


def test_the_time_is_not_too_short(device):
    # 418 clips of seven machine IDs took 28.8 s on two cores that other programs used too.
    message = plan_fit(recordings(60, 7), load_config(), choose=True).message
    assert "420 normal clips of 7 machine IDs" in message
    assert "about 20 s" in message or "about 30 s" in message


def test_long_recordings_count_as_many_clips(device, monkeypatch):
    monkeypatch.setattr(plan, "_seconds", lambda recording: 600.0)
    assert plan_fit(recordings(10), load_config(), choose=True).message.startswith("1200 normal")


def test_anomalies_and_unreadable_files_do_not_count(device, monkeypatch):
    monkeypatch.setattr(plan, "_seconds", lambda recording: None)
    some = recordings(10)
    some += [replace(item, path=Path(f"x-{item.path}"), label="anomaly") for item in some]
    assert plan_fit(some, load_config(), choose=True).message.startswith("20 normal clips")


def test_the_command_says_it_first(fan, tmp_path):
    result = CliRunner().invoke(app, ["fit", str(fan), "--out", str(tmp_path / "model")])
    assert result.exit_code == 0, result.output
    first, *others = result.output.splitlines()
    assert "normal clips of 3 machine IDs: hand-made views, no training" in first
    done = [line for line in others if line.startswith("fitted 3 machine IDs in ")]
    assert len(done) == 1
    assert "s: hand-made views without networks, spread from the simulated plant" in done[0]


def test_another_system_is_named(detectors):
    said = plan.what_was_done({"fan": detectors["ae"]}, 12.3)
    assert said == "fitted 3 machine IDs in 12 s: system ae"
    networks = plan.what_was_done({"fan": detectors["multiview"]}, 200.0)
    assert networks.startswith("fitted 3 machine IDs in 3 min: hand-made views and networks, ")
