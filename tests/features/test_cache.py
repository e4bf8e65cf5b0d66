"""The cache: computed once, memory-mapped, made again when anything changed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sounds import hum, write_clip
from ssdpt.config.settings import AudioConfig, FeatureConfig
from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.features import cache
from ssdpt.features.cache import FeatureSet, cache_folder, features_of
from ssdpt.features.logmel import LogMel
from ssdpt.features.spectrogram import LinearSpectrogram
from ssdpt.types import Clip, Recording

AUDIO = AudioConfig()
BINS = LogMel(FeatureConfig(n_mels=16), AUDIO.sample_rate)


@pytest.fixture
def clips(tmp_path, monkeypatch):
    monkeypatch.setenv("SSDPT_CACHE", str(tmp_path / "cache"))
    return [
        Recording(write_clip(tmp_path / f"{n}.wav", hum(1 + n / 10, seed=n)), "fan", f"0{n % 2}")
        for n in range(4)
    ]


@pytest.fixture
def computed(monkeypatch):
    """How often features were computed."""
    calls = []
    compute = cache._compute
    monkeypatch.setattr(cache, "_compute", lambda *a: (calls.append(1), compute(*a)))
    return calls


def test_holds_what_the_front_end_gives(clips):
    features = features_of(clips, AUDIO, BINS)
    assert len(features) == 4
    assert isinstance(features.frames, np.memmap)
    for number, clip in enumerate(clips):
        np.testing.assert_array_equal(features.clip(number), BINS(audio.read(clip.path)))


def test_computes_once(clips, computed):
    first = features_of(clips, AUDIO, BINS)
    again = features_of(clips, AUDIO, BINS)
    assert len(computed) == 1
    np.testing.assert_array_equal(first.frames, again.frames)


def test_computes_again_when_something_changed(clips, computed):
    features_of(clips, AUDIO, BINS)
    features_of(clips, AUDIO, LogMel(FeatureConfig(n_mels=8), AUDIO.sample_rate))
    features_of(clips[:3], AUDIO, BINS)
    write_clip(clips[0].path, hum(3, seed=9))
    features_of(clips, AUDIO, BINS)
    assert len(computed) == 4


def test_a_damaged_cache_is_made_again(clips, computed):
    whole = np.array(features_of(clips, AUDIO, BINS).frames)
    (folder,) = cache_folder().iterdir()
    for damage in ("index", "frames", "missing"):
        if damage == "index":
            (folder / "index.json").write_text("{")
        elif damage == "frames":
            (folder / "frames.bin").write_bytes(b"")
        else:
            (folder / "frames.bin").unlink()
        np.testing.assert_array_equal(features_of(clips, AUDIO, BINS).frames, whole)
    assert len(computed) == 4


def test_the_unreadable_is_named_and_the_others_go_on(clips, tmp_path):
    broken = Recording(tmp_path / "broken.wav", "fan")
    broken.path.write_bytes(b"not sound")
    features = features_of([clips[0], broken, clips[1]], AUDIO, BINS)
    assert [recording.path.name for recording in features.recordings] == ["0.wav", "1.wav"]
    ((left_out, reason),) = features.failures
    assert left_out is broken
    assert "broken.wav" in reason
    alone = features_of([broken], AUDIO, BINS)
    assert len(alone) == 0
    assert alone.frames.shape == (0, 16)


def test_the_oldest_entries_go(clips, monkeypatch):
    features_of(clips, AUDIO, BINS)
    (old,) = cache_folder().iterdir()
    os.utime(old / "index.json", (1, 1))
    features_of(clips[:2], AUDIO, BINS)
    monkeypatch.setenv("SSDPT_CACHE_GB", "0")
    features_of(clips[:1], AUDIO, BINS)
    (kept,) = cache_folder().iterdir()
    assert kept != old
    monkeypatch.setenv("SSDPT_CACHE_GB", "much")
    with pytest.raises(SsdptError, match="SSDPT_CACHE_GB"):
        features_of(clips[1:], AUDIO, BINS)


def test_where_it_lies(monkeypatch, tmp_path):
    monkeypatch.delenv("SSDPT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "ssdpt" / "features"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "ssdpt" / "features"


def test_long_recordings_are_cut_without_copying():
    recordings = tuple(Recording(path, "fan") for path in map(Path, "abc"))
    frames = np.arange(149 + 150 + 1000, dtype=np.float32)[:, None]
    whole = FeatureSet(recordings, frames, np.array([0, 149, 299, 1299]))
    cut = whole.cut(100)
    assert [recording.path.name for recording in cut.recordings] == ["a", "b", "b", *["c"] * 10]
    assert cut.frames is whole.frames
    _, lengths = cut.all().spans()
    assert lengths.tolist() == [149, 75, 75, *[100] * 10]
    assert np.shares_memory(cut.clip(3), frames)


def test_views_choose_clips():
    recordings = tuple(Recording(Path(name), "fan") for name in "abcd")
    view = FeatureSet(recordings, np.zeros((8, 1), np.float32), np.array([0, 2, 4, 6, 8])).all()
    assert [r.path.name for r in view.without([1, 2]).recordings] == ["a", "d"]
    assert [r.path.name for r in view.without([0]).only([0, 2]).recordings] == ["b", "d"]
    first, lengths = view.only([3]).spans()
    assert (first.tolist(), lengths.tolist()) == ([6], [2])
    assert [len(frames) for _, frames in view.clips()] == [2] * 4
    assert len(view.source.subset([1])) == 1


def test_long_recordings_are_streamed_into_the_same_numbers(clips, monkeypatch):
    whole = features_of(clips, AUDIO, BINS)
    monkeypatch.setattr(cache, "_LONG_SECONDS", 1.15)
    monkeypatch.setattr(cache, "_FORMAT", -1)
    streamed = features_of(clips, AUDIO, BINS)
    np.testing.assert_array_equal(streamed.offsets, whole.offsets)
    np.testing.assert_array_equal(streamed.frames, whole.frames)


def test_a_long_recording_that_breaks_midway_leaves_nothing(clips, monkeypatch):
    honest = cache._frame_blocks

    def breaks_off(reader, *rest):
        yield from honest(reader, *rest)
        if reader.path == clips[1].path:
            raise SsdptError(f"{reader.path}: cut short")

    monkeypatch.setattr(cache, "_LONG_SECONDS", 0.0)
    monkeypatch.setattr(cache, "_frame_blocks", breaks_off)
    features = features_of(clips, AUDIO, BINS)
    assert [reason for _, reason in features.failures] == [f"{clips[1].path}: cut short"]
    assert len(features) == 3
    for place, number in enumerate((0, 2, 3)):
        np.testing.assert_array_equal(features.clip(place), BINS(audio.read(clips[number].path)))
    assert features.offsets[-1] == len(features.frames)


def test_clips_in_memory_have_the_features_of_their_files_and_leave_none(clips):
    sounds = [Clip(audio.read(item.path), 16000) for item in clips]
    in_memory = [
        Recording.of_clip(clip, "fan", f"clip-{number}") for number, clip in enumerate(sounds)
    ]
    silent = Recording.of_clip(Clip(np.zeros(100), 16000, name="silent"), "fan")
    features = features_of([*in_memory[:2], silent, *in_memory[2:]], AUDIO, BINS)
    assert not cache_folder().exists()
    expected = features_of(clips, AUDIO, BINS)
    np.testing.assert_array_equal(features.frames, expected.frames)
    np.testing.assert_array_equal(features.offsets, expected.offsets)
    assert features.recordings == tuple(in_memory)
    assert [reason.split(":")[0] for _, reason in features.failures] == ["silent"]
    for front_end in (BINS, LinearSpectrogram(512, 256, 1e-10, 16000)):
        assert features_of(in_memory, AUDIO, front_end).frames.dtype == front_end.storage


@pytest.mark.skipif(os.name != "posix", reason="file names are text there")
def test_a_file_name_that_is_no_text(clips, tmp_path):
    not_utf8 = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.wav"))
    clips[0].path.rename(not_utf8)
    features = features_of([Recording(not_utf8, "fan")], AUDIO, BINS)
    assert features.failures == ()


def test_several_at_once_compute_it_once(clips, computed):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        sets = list(pool.map(lambda _: features_of(clips, AUDIO, BINS), range(8)))
    assert computed == [1]
    for other in sets[1:]:
        np.testing.assert_array_equal(other.frames, sets[0].frames)
    assert not list(cache_folder().glob("*.lock"))
