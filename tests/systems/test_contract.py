"""Every system fulfils the contract of base.py."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.systems import system_class, system_names
from ssdpt.systems.parts.network import TWO_SECTIONS
from ssdpt.types import Recording

pytestmark = pytest.mark.parametrize("name", system_names())

# A setting that changes the shape of what is learned.
OTHER_SHAPE = {
    "mnv2-lof": {"mnv2_lof.n_fft": 256},
    "wavenet-ensemble": {"wavenet.embedding": 16},
}


@pytest.fixture
def system(detectors, name):
    return detectors[name]._system


@pytest.fixture
def clip(fan):
    return sorted((fan / "source_test").glob("*normal*.wav"))[0]


@pytest.fixture
def frames(detectors, name, clip):
    return detectors[name].frames(clip)


def test_it_is_found_by_its_name(name):
    assert name in system_names()
    assert system_class(name).name == name


def test_saved_and_loaded_it_scores_the_same(detectors, models, name, clip):
    before, after = detectors[name].score(clip), Detector.load(models[name]).score(clip)
    assert after.value == before.value
    assert after.threshold == before.threshold
    np.testing.assert_array_equal(after.timeline.value, before.timeline.value)


def test_its_state_goes_through_plain_arrays_and_json(system, frames):
    import json

    description = json.loads(json.dumps(system.description()))
    back = type(system).restore(system.config, system.sections, system.arrays(), description)
    assert back.sections == system.sections == ("00", "01", "02")
    section = system.sections[0]
    assert back.score([frames], section).value == system.score([frames], section).value


def test_foreign_arrays_are_refused(system, name):
    other = load_config("tiny", OTHER_SHAPE.get(name, {"features.n_mels": 64}))
    with pytest.raises((KeyError, ValueError)):
        type(system).restore(other, system.sections, system.arrays(), system.description())
    with pytest.raises((KeyError, ValueError)):
        type(system).restore(system.config, system.sections, {}, system.description())


@pytest.mark.parametrize("size", [1, 7, 16, 100])
def test_blocks_of_frames_score_as_the_whole(system, frames, size):
    blocks = [frames[start : start + size] for start in range(0, len(frames), size)]
    whole, pieces = system.score([frames], "01"), system.score(blocks, "01")
    assert pieces.value == pytest.approx(whole.value, rel=1e-5, abs=1e-5)
    np.testing.assert_allclose(pieces.timeline.value, whole.timeline.value, rtol=1e-4, atol=1e-4)


def test_the_timeline_has_a_value_for_every_segment(system, frames, name):
    score = system.score([frames], "00")
    line = score.timeline
    assert len(line.start) == len(line.value) == len(next(iter(line.parts.values())))
    assert line.start[0] == 0
    assert line.start[-1] + line.duration <= (len(frames) + 1) * system.hop_seconds
    # Of an ensemble the timeline is the first member's, and another may have longer segments.
    by_second = name in {"texture", "multiview"}
    length = len(frames) / 10 if by_second else system.segment_frames
    longest = length * system.hop_seconds
    assert (
        line.duration <= longest
        if name.endswith("ensemble")
        else line.duration == pytest.approx(longest)
    )
    assert set(score.parts) == set(line.parts)
    assert np.isfinite(line.value).all()


def test_a_clip_shorter_than_a_segment_is_scored(system, frames):
    short = frames[: max(1, system.segment_frames // 3)]
    score = system.score([short], "00")
    assert np.isfinite(score.value)
    assert len(score.timeline.value) == 1


def test_scoring_leaves_no_trace(system, frames):
    """Neither mixup nor masks nor statistics: the same clip, the same score."""
    first = system.score([frames], "00").value
    system.score([frames + 20], "01")
    assert system.score([frames], "00").value == first


@pytest.mark.parametrize("count", [None, 3])
def test_the_map_is_over_frames_and_bins_and_not_negative(system, frames, count):
    frames = frames[:count]
    if not system.explains:
        with pytest.raises(SsdptError, match="cannot show where"):
            system.anomaly_map(frames, "00")
        return
    values = system.anomaly_map(frames, "00")
    assert values.shape == (len(frames), len(system.front_end.frequencies))
    assert values.dtype == np.float32
    assert (values >= 0).all()
    assert np.isfinite(values).all()


def test_the_map_shows_where_a_strange_tone_is(system, frames):
    if not system.explains:
        return
    changed = frames.copy()
    changed[100:130, 10:14] += 100
    heat = system.anomaly_map(changed, "00")
    # Twice as hot for most; networks of two epochs differ a little from computer to computer.
    assert heat[100:130, 10:14].mean() > 1.5 * heat.mean()


def test_an_unseen_section_is_scored_by_rule_and_says_so(detectors, name, clip):
    detector = detectors[name]
    scores = [detector.score(clip, section=section) for section in detector.sections]
    unknown = detector.score(clip, section="77")
    assert unknown.value == min(score.value for score in scores)
    assert any("ID 77 was not in training" in note for note in unknown.notes)
    assert not any("not in training" in note for note in scores[0].notes)


def test_one_seed_one_score_another_seed_another(fan, name, clip):
    def score(seed):
        changes = {"system": name, "seed": seed, "decision.cross_fit_below": 0}
        return Detector.fit(fan, config=load_config("tiny", changes)).score(clip).value

    assert score(1) == score(1)
    if name == "texture":  # draws nothing
        assert score(1) == score(2)
    elif name == "gmm" or system_class(name).has_network:
        assert score(1) != score(2)


def test_moving_to_the_device_it_is_on_changes_nothing(system, frames):
    before = system.score([frames], "00").value
    system.to(torch.device("cpu"))
    assert system.score([frames], "00").value == before


def test_refusal(name, tmp_path):
    config = load_config("tiny")
    one = [Recording(tmp_path / f"{n}.wav", "fan", "00") for n in range(3)]
    two = [*one, Recording(tmp_path / "x.wav", "fan", "01")]
    reason = system_class(name).refusal(one, config)
    assert (reason is not None) == (TWO_SECTIONS in system_class(name).needs)
    if reason is not None:
        assert "at least two" in reason
        assert system_class(system_class(name).fallback).refusal(one, config) is None
    assert system_class(name).refusal(two, config) is None


def test_an_unknown_system_is_named(name):
    with pytest.raises(SsdptError, match=f"there are {', '.join(system_names())}"):
        system_class(f"{name}-plus")
