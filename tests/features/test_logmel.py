"""The log-mel front end: the values of librosa, for any block size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sounds import RATE, hum
from ssdpt.config.settings import FeatureConfig
from ssdpt.features.logmel import LogMel, mel_edges, mel_filters, mel_frequencies

PAPER = FeatureConfig()


def librosa_logmel(samples, config, rate=RATE):
    import librosa

    power = librosa.feature.melspectrogram(
        y=samples,
        sr=rate,
        n_fft=config.n_fft,
        hop_length=config.hop_length,
        n_mels=config.n_mels,
        fmin=config.f_min,
        fmax=config.f_max,
        power=2.0,
        center=True,
        pad_mode="constant",
        window="hann",
        htk=False,
        norm="slaney",
    )
    return 10 * np.log10(np.maximum(power, config.floor)).T


@pytest.mark.filterwarnings("ignore:n_fft=.*too large:UserWarning")  # librosa's, on short clips
@pytest.mark.parametrize(
    "config",
    [
        PAPER,
        FeatureConfig(n_mels=32),
        FeatureConfig(n_fft=2048, hop_length=700, n_mels=64, f_min=50.0, f_max=6000.0),
    ],
)
@pytest.mark.parametrize("samples", [160000, 16001, 512, 511, 1])
def test_agrees_with_librosa(config, samples):
    sound = hum(samples / RATE)
    ours = LogMel(config, RATE)(sound)
    assert ours.shape == (1 + samples // config.hop_length, config.n_mels)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, librosa_logmel(sound, config), atol=1e-4, rtol=0)


def test_agrees_with_librosa_beside_a_strong_tone():
    """Quiet bins beside a tone of 16 bits: rounding in single precision would show here."""
    time = np.arange(2 * RATE) / RATE
    tone = np.round(0.5 * np.sin(2 * np.pi * 440 * time) * 32768) / 32768
    for sound in (tone, np.clip(3 * np.sin(2 * np.pi * 100 * time), -1, 1)):
        sound = sound.astype(np.float32)
        np.testing.assert_allclose(
            LogMel(PAPER, RATE)(sound), librosa_logmel(sound, PAPER), atol=1e-4, rtol=0
        )


def test_filters_are_librosas():
    import librosa

    theirs = librosa.filters.mel(sr=RATE, n_fft=1024, n_mels=128)
    np.testing.assert_allclose(mel_filters(PAPER, RATE), theirs, atol=1e-7)
    centres = librosa.mel_frequencies(130, fmin=0, fmax=RATE / 2)[1:-1]
    np.testing.assert_allclose(mel_frequencies(PAPER, RATE), centres, rtol=1e-5)
    assert mel_edges(PAPER, RATE)[[0, -1]].tolist() == pytest.approx([0, RATE / 2])


def test_beyond_both_ends_there_are_zeros():
    """A reflection would lift the first frame of a sound that begins with a bang."""
    bang = np.zeros(8000, np.float32)
    bang[300] = 1.0
    frames = LogMel(PAPER, RATE)(bang)
    padded = np.concatenate([np.zeros(512, np.float32), bang, np.zeros(512, np.float32)])
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(1024) / 1024)
    power = np.abs(np.fft.rfft(padded[:1024] * window)) ** 2 @ mel_filters(PAPER, RATE).T
    np.testing.assert_allclose(frames[0], 10 * np.log10(power), atol=1e-3)


def test_ten_seconds_are_313_frames():
    assert LogMel(PAPER, RATE)(hum(10)).shape == (313, 128)


def test_the_floor_holds_silence_up():
    quiet = LogMel(FeatureConfig(floor=1e-10), RATE)(np.zeros(4000, np.float32))
    np.testing.assert_allclose(quiet, -100.0, atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(
    length=st.integers(1, 9000),
    cuts=st.lists(st.integers(0, 9000), max_size=8),
    hop=st.sampled_from([128, 200, 512, 1024]),
)
def test_any_cutting_of_a_stream_gives_the_same_frames(length, cuts, hop):
    front_end = LogMel(FeatureConfig(hop_length=hop, n_mels=32), RATE)
    sound = hum(length / RATE, seed=length)
    places = sorted(min(cut, length) for cut in cuts)
    streamed = np.concatenate(list(front_end.stream(np.split(sound, places))))
    np.testing.assert_allclose(streamed, front_end(sound), atol=1e-4, rtol=0)


@pytest.mark.parametrize("loudness", [0.0, 1e-42, 1e-20, 1e-3, 1.0, 1e18])
@pytest.mark.parametrize("config", [PAPER, FeatureConfig(n_fft=256, hop_length=100, n_mels=200)])
def test_the_definition_at_any_loudness(config, loudness):
    """Beyond the range of single precision too; some of the 200 bins cover no frequency at all."""
    noise = np.random.default_rng(0).normal(size=30_000)
    sound = (loudness * noise).astype(np.float32)
    margin = np.zeros(config.n_fft // 2)
    padded = np.concatenate([margin, sound, margin])
    cut = np.lib.stride_tricks.sliding_window_view(padded, config.n_fft)[:: config.hop_length]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(config.n_fft) / config.n_fft)
    power = np.abs(np.fft.rfft(cut * window)) ** 2 @ mel_filters(config, RATE).T.astype(np.float64)
    expected = 10 * np.log10(np.maximum(power, config.floor))
    ours = LogMel(config, RATE)(sound)
    np.testing.assert_array_max_ulp(ours, expected.astype(np.float32), 1)
