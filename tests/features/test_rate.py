"""Front ends at the own rate of a sensor: as long in time, within what the rate carries."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.config.tree import load_config
from ssdpt.features.logmel import mel_edges, mel_filters
from ssdpt.features.rate import at_rate
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import views_of

RATES = (2000, 8000, 12800, 25600, 51200)


def settings(rate):
    return at_rate(load_config("best"), rate)


def front_end(rate):
    return TextureFrames(settings(rate).features, rate)


def noise(rate, seconds=10.0, seed=0):
    count = round(seconds * rate)
    return (0.05 * np.random.default_rng(seed).standard_normal(count)).astype(np.float32)


def test_nothing_changes_at_the_configured_rate():
    config = load_config("best")
    assert at_rate(config, 16000) is config


@pytest.mark.parametrize("rate", RATES)
class TestRates:
    def test_frames_last_as_long_as_at_16_khz(self, rate):
        config = settings(rate)
        assert config.audio.sample_rate == rate
        assert config.audio.keep_rate == "never"
        assert config.features.hop_length / rate == pytest.approx(0.032, rel=0.03)
        assert config.features.n_fft == 2 * config.features.hop_length
        assert front_end(rate).envelope_rate == pytest.approx(500, rel=0.03)

    def test_every_band_lies_below_half_the_rate_and_holds_something(self, rate):
        config, frames = settings(rate), front_end(rate)
        assert mel_edges(config.features, rate).max() <= rate / 2 * 1.000001
        assert mel_filters(config.features, rate).any(axis=1).all()
        assert frames.envelope_filters.any(axis=0).all()
        assert frames.fine_edges[-1] * rate / frames.n_fine <= rate / 2
        assert config.features.n_mels % 8 == 0  # attention heads
        assert config.features.n_mels >= (56 if rate == 2000 else 128)

    def test_a_tone_moves_its_own_band_of_the_spectrum_most(self, rate):
        frames, base = front_end(rate), noise(rate)
        hertz = 0.37 * rate
        tone = 0.02 * np.sin(2 * np.pi * hertz * np.arange(len(base)) / rate)
        before, after = (
            views_of(frames(sound.astype(np.float32)), frames)["spectrum"]
            for sound in (base, base + tone)
        )
        edges = frames.fine_edges * rate / frames.n_fine
        band = int(np.argmax(after - before))
        assert edges[band] <= hertz <= edges[band + 1]

    @pytest.mark.parametrize(("hertz", "view"), [(2.0, "modulation"), (90.0, "envelope")])
    def test_modulation_shows_at_its_own_rate(self, rate, hertz, view):
        frames, base = front_end(rate), noise(rate)
        swell = 1 + 0.15 * np.sin(2 * np.pi * hertz * np.arange(len(base)) / rate)
        before, after = (
            views_of(frames(sound.astype(np.float32)), frames)[view]
            for sound in (base, base * swell)
        )
        edges = {
            "modulation": np.geomspace(0.1, 0.5 / frames.frame_seconds, 9),
            "envelope": np.geomspace(8, 250, 11),
        }[view]
        best = int((after - before).reshape(len(edges) - 1, -1).mean(1).argmax())
        assert edges[best] <= hertz <= edges[best + 1]


def test_a_highest_frequency_beyond_half_the_rate_is_lowered():
    config = load_config("best", {"features.f_max": 6000.0})
    assert at_rate(config, 25600).features.f_max == 6000.0
    assert at_rate(config, 8000).features.f_max is None
