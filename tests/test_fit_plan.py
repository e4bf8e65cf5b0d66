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
    assert "preset default without them takes seconds" in message


def test_many_clips_without_a_gpu_name_what_one_would_bring(monkeypatch):
    monkeypatch.setattr(plan, "choose_device", lambda name: torch.device("cpu"))
    message = plan_fit(recordings(800), load_config(), choose=True).message
    assert "no training, about 40 s" in message
    assert "on a GPU: --preset best" in message


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
    first, *_ = result.output.splitlines()
    assert "normal clips of 3 machine IDs: hand-made views, no training" in first
