"""Recordings as data sets of PyTorch."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import soundfile
import torch
from torch.utils.data import DataLoader

from ssdpt import Clip, ClipDataset, Detector, Recording, SegmentDataset, load_config, read_layout
from ssdpt.data.audio import read
from ssdpt.errors import SsdptError
from ssdpt.features.cache import cache_folder
from ssdpt.features.segments import segments_of_clip
from ssdpt.features.texture import TextureFrames

TINY = load_config("tiny")  # 32 mel bins


@pytest.fixture(scope="module")
def recordings(simulated):
    chosen = [item for item in read_layout(simulated).recordings if item.split == "train"]
    return chosen[::4]


@pytest.fixture(scope="module")
def detector(fan):
    return Detector.fit(fan, config=load_config("tiny", {"system": "gmm"}))


def test_items_are_log_mels_in_the_order_of_the_recordings(recordings, detector):
    clips = ClipDataset(recordings, config=TINY)
    assert len(clips) == len(recordings)
    assert clips.recordings == tuple(recordings)
    for number in (0, 3, -1):
        values, labels = clips[number]
        assert values.dtype == torch.float32
        assert values.shape[1] == 32
        np.testing.assert_array_equal(values.numpy(), detector.frames(recordings[number]))
        recording = clips.recordings[labels.recording]
        assert recording is recordings[number]
        assert (labels.machine, labels.section) == (recording.machine, recording.section)
        assert labels.attributes == recording.attribute_text
        assert clips.classes[labels.target] == (recording.machine, recording.section)


def test_segments_are_those_that_networks_are_trained_with(recordings):
    clips = ClipDataset(recordings[:3], config=TINY)
    segments = SegmentDataset(recordings[:3], config=TINY, length=16, hop=7)
    expected = [segments_of_clip(values, 16, 7) for values, _ in clips]
    assert len(segments) == sum(map(len, expected))
    np.testing.assert_array_equal(
        torch.stack([values for values, _ in segments]).numpy(), torch.cat(expected).numpy()
    )
    starts = [labels.start for _, labels in segments if labels.recording == 1]
    seconds = 7 * TINY.features.hop_length / TINY.audio.sample_rate
    np.testing.assert_allclose(starts, np.arange(len(expected[1])) * seconds)


def test_samples_are_those_of_the_file(recordings):
    samples, rate = soundfile.read(recordings[0].path, dtype="float32")
    values, _ = ClipDataset(recordings[:1], config=TINY, values="samples")[0]
    np.testing.assert_array_equal(values.numpy(), samples)
    segments = SegmentDataset(
        recordings[:1], config=TINY, values="samples", length=rate, hop=rate // 2
    )
    values, labels = segments[3]
    np.testing.assert_array_equal(values.numpy(), samples[3 * rate // 2 :][:rate])
    assert labels.start == pytest.approx(1.5)


def test_with_a_detector_its_own_frames_come(recordings, detector):
    values, _ = ClipDataset(recordings[:1], config=detector, values=detector.front_end)[0]
    np.testing.assert_array_equal(values.numpy(), detector.frames(recordings[0]))


def test_a_front_end_that_is_stored_more_coarsely_gives_float32(recordings):
    front_end = TextureFrames(TINY.features, TINY.audio.sample_rate)
    values, _ = ClipDataset(recordings[:1], config=TINY, values=front_end)[0]
    assert values.dtype == torch.float32
    frames = front_end(read(recordings[0], front_end.sample_rate))
    np.testing.assert_allclose(values.numpy(), frames, atol=0.07)  # dB


@pytest.mark.parametrize("context", ["fork", pytest.param("spawn", marks=pytest.mark.full)])
def test_workers_give_the_same_batches_in_the_same_order(recordings, context):
    segments = SegmentDataset(recordings, config=TINY, length=16, hop=64)
    alone = list(DataLoader(segments, batch_size=32))
    shared = list(
        DataLoader(segments, batch_size=32, num_workers=2, multiprocessing_context=context)
    )
    assert len(alone) == len(shared) == -(-len(segments) // 32)
    for (values, labels), (others, their_labels) in zip(alone, shared, strict=True):
        assert torch.equal(values, others)
        assert torch.equal(labels.target, their_labels.target)
        assert labels.section == their_labels.section


def test_a_batch_has_a_field_for_every_label(recordings):
    loader = DataLoader(SegmentDataset(recordings, config=TINY), batch_size=8, shuffle=True)
    values, labels = next(iter(loader))
    assert values.shape == (8, 64, 32)
    assert labels.target.dtype == torch.int64
    assert labels.target.shape == labels.start.shape == (8,)
    assert set(labels.machine) <= {"fan", "valve"}


def test_a_pickled_data_set_is_small_and_reads_the_same_cache(recordings):
    segments = SegmentDataset(recordings, config=TINY, length=16, hop=64)
    entries = set(cache_folder().iterdir())
    text = pickle.dumps(segments)
    assert len(text) < segments._features.frames.nbytes / 2
    again = pickle.loads(text)
    assert torch.equal(again[5][0], segments[5][0])
    assert set(cache_folder().iterdir()) == entries


def test_an_item_may_be_changed(recordings):
    clips = ClipDataset(recordings[:1], config=TINY)
    first = clips[0][0].clone()
    clips[0][0].zero_()
    assert torch.equal(clips[0][0], first)


def test_classes_are_made_of_the_names_asked_for(recordings):
    by_machine = ClipDataset(recordings, config=TINY, classes=["machine"])
    assert by_machine.classes == (("fan",), ("valve",))
    fine = ClipDataset(recordings, config=TINY, classes=["section", "attributes"])
    assert len(fine.classes) > 3


def test_whether_a_clip_is_normal_is_not_among_the_labels(simulated):
    path = next((simulated / "fan" / "source_test").glob("*anomaly*"))
    _, labels = ClipDataset(path, config=TINY)[0]
    assert not {"anomaly", "normal", True} & set(labels)


def test_clips_in_memory_and_short_ones():
    noise = np.random.default_rng(0).normal(0, 0.1, 16000).astype(np.float32)
    recording = Recording.of_clip(Clip(noise, 16000), "fan")
    segments = SegmentDataset([recording], config=TINY, length=64, hop=8)
    assert len(segments) == 1  # a second is half a segment: it is repeated
    values, _ = segments[0]
    assert values.shape == (64, 32)
    assert torch.equal(values[:32], values[32:])
    assert torch.equal(pickle.loads(pickle.dumps(segments))[0][0], values)


def test_units_and_rates_are_those_of_the_recordings():
    shaking = np.random.default_rng(0).normal(0, 0.1, 8000).astype(np.float32)
    recording = Recording.of_clip(Clip(shaking, 4000, unit="g", full_scale=2.0), "fan")
    (values, _) = ClipDataset([recording], values="samples")[0]
    np.testing.assert_allclose(values.numpy(), shaking, rtol=1e-6)


def test_what_cannot_be_read_is_left_out_and_named(recordings, tmp_path):
    (tmp_path / "bad.wav").write_bytes(b"RIFF")
    bad = replace(recordings[0], path=tmp_path / "bad.wav")
    clips = ClipDataset([bad, *recordings[:2]], config=TINY)
    assert len(clips) == 2
    assert [item for item, _ in clips.failures] == [bad]
    with pytest.raises(SsdptError, match=r"none of the recordings can be read: .*bad\.wav"):
        ClipDataset([bad], config=TINY)


def test_wrong_arguments_are_sentences(recordings):
    with pytest.raises(IndexError):
        ClipDataset(recordings[:1], config=TINY)[1]
    with pytest.raises(SsdptError, match="give log-mel, samples or a front end"):
        ClipDataset(recordings[:1], values="mfcc")
    with pytest.raises(SsdptError, match="length 0 and hop 1"):
        SegmentDataset(recordings[:1], config=TINY, length=0, hop=1)
