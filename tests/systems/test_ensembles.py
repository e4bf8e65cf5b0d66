"""Ensembles are their members' z-scores, averaged."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from ssdpt.common.progress import Reporter, Task
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureSet
from ssdpt.systems.base import FitContext
from ssdpt.systems.ssdpt.ensemble import SsdptEnsemble
from ssdpt.systems.ssdpt.system import Ssdpt
from ssdpt.types import Recording

CLIPS, FRAMES, BINS = 8, 80, 32
MEMBERS = [{"blocks": 1, "frames": 16}, {"blocks": 2, "frames": 32, "mask": "none"}]


@pytest.fixture(scope="module")
def clips():
    rng = np.random.default_rng(0)
    recordings = tuple(Recording(Path(f"{n}.wav"), "fan", f"0{n % 2}") for n in range(CLIPS))
    frames = rng.normal(-40, 8, (CLIPS * FRAMES, BINS)).astype(np.float32)
    return FeatureSet(recordings, frames, np.arange(CLIPS + 1) * FRAMES).all()


def settings(**changes):
    return load_config(
        "tiny",
        {
            "system": "ssdpt-ensemble",
            "ssdpt_ensemble.members": MEMBERS,
            "ssdpt.hop": 4,
            "ssdpt.training.batch_size": 8,
            **changes,
        },
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def ensemble(clips, place):
    return SsdptEnsemble.fit(clips, settings(), FitContext(place, "x"))


@pytest.fixture
def sound():
    return np.random.default_rng(9).normal(-40, 8, (FRAMES, BINS)).astype(np.float32)


def test_the_score_is_the_mean_of_the_members_z_scores(ensemble, sound):
    score = ensemble.score([sound], "01")
    assert list(score.parts) == ["member-1", "member-2"]
    assert score.value == pytest.approx(np.mean(list(score.parts.values())))
    for number, member in enumerate(ensemble.members):
        scale = ensemble.scales[number]["01"]
        expected = (member.score([sound], "01").value - scale.mean) / scale.sd
        assert score.parts[f"member-{number + 1}"] == pytest.approx(expected)


def test_normal_training_clips_of_each_section_set_the_scale(ensemble, clips):
    for section in ensemble.sections:
        own = [frames for item, frames in clips.clips() if item.section == section]
        parts = [ensemble.score([frames], section).parts for frames in own]
        for name in ("member-1", "member-2"):
            z = np.array([part[name] for part in parts])
            assert z.mean() == pytest.approx(0, abs=1e-6)
            assert z.std() == pytest.approx(1, rel=1e-6)


def test_a_scale_takes_a_hundred_clips_of_a_section(clips, ensemble, monkeypatch):
    """Here two, so that the test is short: the first and the last of four."""
    from ssdpt.systems.parts import ensemble as module

    monkeypatch.setattr(module, "spread_evenly", lambda count: [0, count - 1])
    member = ensemble.members[0]
    scales = module._scales(member, clips, "scale", Reporter())
    values = [member.score([clips.source.clip(n)], "00").value for n in (0, 6)]
    assert scales["00"].mean == pytest.approx(np.mean(values))


def test_a_member_is_what_it_would_be_alone(ensemble, clips, sound, tmp_path):
    for number, own in enumerate(SsdptEnsemble.member_configs(settings())):
        alone = Ssdpt.fit(clips, own, FitContext(tmp_path / str(number), "x"))
        member = ensemble.members[number]
        assert member.score([sound], "00").value == alone.score([sound], "00").value


def test_members_are_laid_over_the_settings_of_ssdpt():
    first, second = SsdptEnsemble.member_configs(settings(**{"ssdpt.beta": 0.5}))
    assert (first.ssdpt.frames, first.ssdpt.mask.kind) == (16, "patch")
    assert (second.ssdpt.blocks, second.ssdpt.frames, second.ssdpt.mask.kind) == (2, 32, "none")
    assert first.ssdpt.beta == second.ssdpt.beta == 0.5
    assert first.ssdpt.training == settings().ssdpt.training


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ({"frames": 20}, r"member 2 of ssdpt-ensemble: .*frames \(20\) must be a multiple of"),
        ({"frames": 8}, "member 2 of ssdpt-ensemble: .*a patch mask is longer than a segment"),
    ],
)
def test_a_member_that_does_not_fit_is_named_before_anything_is_computed(member, message):
    changes = {"ssdpt_ensemble.members": [{"frames": 16}, member], "ssdpt.mask.patch_size": 10}
    with pytest.raises(SsdptError, match=message):
        SsdptEnsemble.front_end_of(settings(**changes))


def test_the_timeline_is_the_first_members(ensemble, sound):
    score = ensemble.score([sound], "00")
    first = ensemble.members[0].score([sound], "00")
    line = score.timeline
    assert set(line.parts) == set(score.parts)
    np.testing.assert_array_equal(line.start, first.timeline.start)
    assert line.duration == first.timeline.duration
    assert line.parts["member-1"].mean() == pytest.approx(score.parts["member-1"], rel=1e-4)
    assert line.parts["member-2"].shape == line.value.shape
    np.testing.assert_allclose(line.value, np.mean(list(line.parts.values()), axis=0), rtol=1e-5)
    assert ensemble.segment_frames == 32  # the longest member's


def test_every_member_listens_once_for_all_sections(ensemble, sound):
    asked = []

    def frames():
        asked.append(1)
        yield sound[:30]
        yield sound[30:]

    score_as = ensemble.score_sections(frames)
    assert len(asked) == 2
    for section in ensemble.sections:
        assert score_as(section).value == ensemble.score([sound], section).value
    assert len(asked) == 2


@pytest.mark.parametrize("in_memory", [1 << 20, 100])  # bytes
def test_blocks_that_come_only_once(ensemble, sound, in_memory, monkeypatch):
    monkeypatch.setattr("ssdpt.systems.parts.ensemble._IN_MEMORY", in_memory)
    once = (sound[first : first + 9] for first in range(0, FRAMES, 9))
    assert ensemble.score(once, "00").value == ensemble.score([sound], "00").value


def test_several_clips_together(ensemble, sound):
    scores = ensemble.score_many([sound, sound[:40], sound[:5]])
    for frames, score_as in zip([sound, sound[:40], sound[:5]], scores, strict=True):
        assert score_as("01").value == pytest.approx(ensemble.score([frames], "01").value)


def test_the_state_of_every_member_comes_back(ensemble, sound):
    arrays = ensemble.arrays()
    assert {name.split("/")[0] for name in arrays} == {"member-1", "member-2", "scales"}
    description = json.loads(json.dumps(ensemble.description()))
    back = SsdptEnsemble.restore(settings(), ("00", "01"), arrays, description)
    assert back.score([sound], "01").value == ensemble.score([sound], "01").value
    assert back.scales == ensemble.scales


def test_foreign_arrays_are_refused(ensemble):
    arrays, description = ensemble.arrays(), ensemble.description()

    def restore(config=None, sections=("00", "01"), changed=None, described=None):
        given = arrays if changed is None else changed
        own = described or description
        SsdptEnsemble.restore(config or settings(), sections, given, own)

    restore()
    fewer = {name: value for name, value in arrays.items() if not name.startswith("member-2")}
    one = {**description, "members": description["members"][:1]}
    more = {**arrays, "member-3/classifier.weight": np.zeros(1)}
    foreign = {**arrays, "member-1/other": np.zeros(1)}
    for changes in (
        {"changed": {}},
        {"changed": fewer},
        {"changed": more},
        {"changed": foreign},
        {"described": one},
        {"sections": ("00", "01", "02")},
        {"config": settings(**{"ssdpt_ensemble.members": MEMBERS[:1]})},
        {"config": settings(**{"ssdpt_ensemble.members": MEMBERS[::-1]})},
    ):
        with pytest.raises((KeyError, ValueError)):
            restore(**changes)


def test_the_map_is_the_mean_of_maps_of_one_level(ensemble, sound):
    maps = [member.anomaly_map(sound, "00") for member in ensemble.members]
    expected = np.mean([one / one.mean() for one in maps], axis=0)
    anomaly_map = ensemble.anomaly_map(sound, "00")
    assert anomaly_map.dtype == np.float32
    np.testing.assert_allclose(anomaly_map, expected, rtol=1e-4, atol=1e-5)
    assert anomaly_map.mean() == pytest.approx(1, rel=1e-4)


def test_a_member_that_finds_nothing_odd_leaves_the_map_to_the_others(ensemble, sound, monkeypatch):
    nothing = np.zeros_like(sound)
    monkeypatch.setattr(ensemble.members[1], "anomaly_map", lambda *_: nothing)
    anomaly_map = ensemble.anomaly_map(sound, "00")
    assert np.isfinite(anomaly_map).all()
    assert anomaly_map.mean() == pytest.approx(0.5, rel=1e-4)


def test_parameters_are_those_of_all_members(ensemble):
    counted = [member.description()["parameters"] for member in ensemble.members]
    assert ensemble.description()["parameters"] == sum(counted)
    assert SsdptEnsemble.parameter_count(settings(), 2) == sum(counted)


def test_all_members_move(ensemble):
    back = SsdptEnsemble.restore(
        settings(), ensemble.sections, ensemble.arrays(), ensemble.description()
    )
    assert not back.on_gpu
    back.to(torch.device("meta"))
    assert {member.device.type for member in back.members} == {"meta"}
    assert back.on_gpu


class Watcher(Reporter):
    """Keeps the names of tasks, and stops the work when one of them begins."""

    def __init__(self, stop_at=""):
        self.stop_at = stop_at
        self.names, self.totals, self.first_steps = [], {}, {}

    @contextmanager
    def task(self, description, total=None):
        if self.stop_at and description.startswith(self.stop_at):
            raise KeyboardInterrupt
        self.names.append(description)
        self.totals[description] = total
        watcher = self

        class Steps(Task):
            def advance(self, steps=1, note=""):
                watcher.first_steps.setdefault(description, steps)

        yield Steps()


def test_progress_names_the_member(clips, tmp_path):
    watcher = Watcher()
    context = FitContext(tmp_path, "x", reporter=watcher)
    SsdptEnsemble.fit(clips, settings(), context)
    names = [f"{prefix}member {n} of 2" for n in (1, 2) for prefix in ("", "scale of ")]
    assert watcher.names == names
    folded = Watcher()
    SsdptEnsemble.fit(clips, settings(), replace(context, name="fold 1 of 4", reporter=folded))
    assert folded.names[0] == "fold 1 of 4, member 1 of 2"


def test_an_interrupted_ensemble_goes_on_at_its_member(clips, ensemble, sound, tmp_path):
    context = FitContext(tmp_path, "x", reporter=Watcher(stop_at="member 2"))
    with pytest.raises(KeyboardInterrupt):
        SsdptEnsemble.fit(clips, settings(), context)
    watcher = Watcher()
    resumed = SsdptEnsemble.fit(clips, settings(), replace(context, resume=True, reporter=watcher))
    assert watcher.first_steps["member 1 of 2"] == watcher.totals["member 1 of 2"]
    assert watcher.first_steps["member 2 of 2"] < watcher.totals["member 2 of 2"]
    assert resumed.score([sound], "00").value == ensemble.score([sound], "00").value


def test_a_checkpoint_of_another_member_is_refused(clips, tmp_path):
    context = FitContext(tmp_path, "x")
    SsdptEnsemble.fit(clips, settings(), context)
    (tmp_path / "member-2" / "checkpoint.safetensors").replace(
        tmp_path / "member-1" / "checkpoint.safetensors"
    )
    with pytest.raises(SsdptError, match="other settings"):
        SsdptEnsemble.fit(clips, settings(), replace(context, resume=True))


def test_the_log_tells_of_all_members(ensemble, place):
    log = [json.loads(line) for line in (place / "training.jsonl").read_text().splitlines()]
    epochs = settings().ssdpt.training.epochs
    wanted = [(member, epoch) for member in (1, 2) for epoch in range(1, epochs + 1)]
    assert [(line["member"], line["epoch"]) for line in log] == wanted


def test_of_several_members_none_reports_after_an_epoch(clips, tmp_path):
    calls = []
    context = FitContext(tmp_path, "x", after_epoch=lambda *arguments: calls.append(arguments))
    SsdptEnsemble.fit(clips, settings(), context)
    assert calls == []
    alone = settings(**{"ssdpt_ensemble.members": MEMBERS[:1]})
    SsdptEnsemble.fit(clips, alone, replace(context, work=tmp_path / "one"))
    assert [(type(system), epoch) for system, epoch in calls] == [(Ssdpt, 1), (Ssdpt, 2)]


# In a process of its own: what earlier tests left in memory would hide the growth.
SCRIPT = """
import re
from pathlib import Path
import numpy as np
import torch
from ssdpt.config.tree import load_config
from ssdpt.scoring.fusion import Scale
from ssdpt.systems.wavenet.system import WaveNetEnsemble, WaveNetSystem, _build

torch.set_num_threads(1)
config = load_config("tiny", {"system": "wavenet-ensemble"})
members = [
    WaveNetSystem(own, ("00", "01"), _build(own, 2).eval())
    for own in WaveNetEnsemble.member_configs(config)
]
scales = [{"00": Scale(0.0, 1.0), "01": Scale(0.0, 1.0)}] * 2
system = WaveNetEnsemble(config, members, scales)
rng = np.random.default_rng(0)

def ten_seconds(count):
    for _ in range(count):
        yield rng.standard_normal((160_000, 1), np.float32)

def peak_megabytes():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

system.score(ten_seconds(150), "00")  # 96 MB of samples
before = peak_megabytes()
system.score(ten_seconds(600), "00")  # 384 MB
print(peak_megabytes() - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").is_file(), reason="reads the peak of memory from /proc of Linux"
)
@pytest.mark.full
def test_hours_of_samples_that_come_only_once_take_constant_memory():
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert float(answer.stdout) < 60
