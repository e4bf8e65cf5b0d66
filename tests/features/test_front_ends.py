"""Front ends: what they compute, in a stream as from the whole clip, and stored exactly."""

from __future__ import annotations

import numpy as np
import pytest

from sounds import hum, write_clip
from ssdpt.config.settings import AudioConfig, FeatureConfig
from ssdpt.features.cache import FeatureSet, features_of
from ssdpt.features.front_end import centred_windows
from ssdpt.features.logmel import LogMel
from ssdpt.features.spectrogram import LinearSpectrogram
from ssdpt.features.waveform import Waveform
from ssdpt.types import Recording

RATE = 16000
FRONT_ENDS = [
    LogMel(FeatureConfig(n_mels=16), RATE),
    LinearSpectrogram(256, 128, 1e-12, RATE),
    Waveform(RATE),
]


@pytest.fixture(params=FRONT_ENDS, ids=lambda front_end: front_end.name)
def front_end(request):
    return request.param


@pytest.mark.parametrize("size", [1, 100, 4097])
def test_a_stream_gives_what_the_whole_clip_gives(front_end, size):
    samples = hum(0.4)
    blocks = [samples[first : first + size] for first in range(0, len(samples), size)]
    np.testing.assert_allclose(
        np.concatenate(list(front_end.stream(blocks))), front_end(samples), atol=1e-4
    )


def test_the_cache_holds_its_numbers_exactly(front_end, tmp_path, monkeypatch):
    monkeypatch.setenv("SSDPT_CACHE", str(tmp_path / "cache"))
    samples = hum(1.3)
    clip = Recording(write_clip(tmp_path / "a.wav", samples), "fan")
    for _ in range(2):  # made, then cached
        features = features_of([clip], AudioConfig(), front_end)
        assert features.frames.shape[1] == front_end.bins
        assert features.clip(0).dtype == np.float32
        from ssdpt.data import audio

        np.testing.assert_array_equal(features.clip(0), front_end(audio.read(clip.path)))


def test_frequencies_belong_to_the_bins(front_end):
    frequencies = front_end.frequencies
    assert len(frequencies) in {0, front_end.bins}
    assert (np.diff(frequencies) > 0).all()
    assert (frequencies <= RATE / 2).all()


def test_other_settings_are_distinguished():
    settings = [LinearSpectrogram(256, hop, 1e-12, RATE).settings for hop in (64, 128)]
    assert settings[0] != settings[1]


def test_a_tone_lies_in_its_bin():
    front_end = LinearSpectrogram(2048, 512, 1e-12, RATE)
    assert front_end.bins == 1024
    tone = np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE).astype(np.float32)
    frames = front_end(tone)
    assert frames.shape == (1 + RATE // 512, 1024)
    strongest = int(frames[10].argmax())
    assert front_end.frequencies[strongest] == pytest.approx(1000, abs=RATE / 2048)
    # A Hann window of 2048 samples has a sum of 1024: half of that for a tone of amplitude 1.
    assert frames[10, strongest] == pytest.approx(20 * np.log10(512), abs=1.5)


def test_silence_is_the_floor():
    frames = LinearSpectrogram(256, 128, 1e-10, RATE)(np.zeros(1000, np.float32))
    np.testing.assert_array_equal(frames, -100)


def test_samples_are_frames_of_one_value():
    samples = hum(0.01)
    frames = Waveform(RATE)(samples)
    np.testing.assert_array_equal(frames[:, 0], samples)
    assert Waveform(RATE).frame_seconds * RATE == 1


def test_windows_are_centred_and_none_is_missing():
    samples = np.arange(1, 11, dtype=np.float32)
    windows = [
        stretch[first : first + 4].tolist()
        for stretch in centred_windows([samples[:3], samples[3:]], 4, 2)
        for first in range(0, len(stretch) - 3, 2)
    ]
    padded = [0, 0, *samples.tolist(), 0, 0]
    assert windows == [padded[first : first + 4] for first in range(0, 11, 2)]


def test_sets_are_joined_end_to_end():
    def made(count, frames):
        return FeatureSet(
            tuple(Recording(f"{frames}-{n}.wav", "fan") for n in range(count)),
            np.arange(count * frames, dtype=np.float32)[:, None],
            np.arange(count + 1) * frames,
        )

    first, second = made(2, 3), made(3, 4)
    joined = FeatureSet.joined([first, second])
    assert joined.recordings == first.recordings + second.recordings
    for place in range(2):
        np.testing.assert_array_equal(joined.clip(place), first.clip(place))
    for place in range(3):
        np.testing.assert_array_equal(joined.clip(2 + place), second.clip(place))
