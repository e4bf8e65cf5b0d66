"""Frames for hand-made views, and the views themselves, on sounds whose answer is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ssdpt.config.settings import FeatureConfig
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureSet
from ssdpt.features.copies import near_copies
from ssdpt.features.logmel import LogMel
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import UNTRAINED, clips_of, views_of
from ssdpt.types import Recording

RATE = 16000


@pytest.fixture(scope="module")
def front_end():
    return TextureFrames(FeatureConfig(), RATE)


def noise(seconds=4.0, seed=0, level=0.05):
    count = int(seconds * RATE)
    return (level * np.random.default_rng(seed).standard_normal(count)).astype(np.float32)


def seconds_of(count):
    return np.arange(count, dtype=np.float64) / RATE


class TestFrames:
    def test_log_mels_are_those_of_the_log_mel_front_end(self, front_end):
        sound = noise()
        expected = LogMel(FeatureConfig(), RATE)(sound)
        log_mels = front_end.log_mels(front_end(sound))
        np.testing.assert_allclose(log_mels, expected, atol=0.04)  # float16

    @pytest.mark.parametrize("size", [100, 511, 8192, 20001])
    def test_a_stream_of_blocks_gives_the_same_numbers(self, front_end, size):
        sound = noise(2.0)
        blocks = [sound[start : start + size] for start in range(0, len(sound), size)]
        streamed = np.concatenate(list(front_end.stream(blocks)))
        np.testing.assert_array_equal(streamed, front_end(sound))

    def test_the_cache_holds_its_numbers_exactly(self, front_end):
        frames = front_end(noise(1.0))
        np.testing.assert_array_equal(frames, frames.astype(front_end.storage).astype(np.float32))

    def test_envelopes_follow_in_time_without_gaps(self, front_end):
        """A click shows in the envelope at its own time, to 2 ms, wherever it falls in a frame."""
        for place in (8000, 8100, 8333, 8511):
            sound = np.full(2 * RATE, 1e-4, np.float32) * noise(2.0, level=1.0)
            sound[place] += 1.0
            loudness = front_end.envelope(front_end(sound)).mean(1)
            middle = (int(loudness.argmax()) - 8) * front_end.envelope_hop
            assert abs(middle - place) <= 2 * front_end.envelope_hop

    def test_a_hop_that_no_envelope_fits_is_refused(self):
        with pytest.raises(SsdptError, match="multiple of 16 samples"):
            TextureFrames(FeatureConfig(n_fft=1024, hop_length=500), RATE)


class TestViews:
    def test_all_views_are_finite_for_silence_and_short_clips(self, front_end):
        for sound in (np.zeros(RATE, np.float32), noise(0.1), noise(1.0)):
            views = views_of(front_end(sound), front_end)
            assert tuple(views) == UNTRAINED
            assert all(np.isfinite(view).all() for view in views.values())

    def test_a_tone_moves_its_own_band_of_the_spectrum_most(self, front_end):
        base = noise(10.0)
        tone = (0.02 * np.sin(2 * np.pi * 1234.0 * seconds_of(len(base)))).astype(np.float32)
        before, after = (
            views_of(front_end(sound), front_end)["spectrum"] for sound in (base, base + tone)
        )
        edges = front_end.fine_edges * RATE / front_end.n_fine
        band = int(np.argmax(after - before))
        assert edges[band] <= 1234.0 <= edges[band + 1]

    @pytest.mark.parametrize(("hertz", "view"), [(2.0, "modulation"), (90.0, "envelope")])
    def test_modulation_shows_at_its_own_rate(self, front_end, hertz, view):
        base = noise(10.0)
        swell = 1 + 0.3 * np.sin(2 * np.pi * hertz * seconds_of(len(base)))
        before, after = (
            views_of(front_end(sound.astype(np.float32)), front_end)[view]
            for sound in (base, base * swell)
        )
        rows = (after - before).reshape(-1, 16).mean(1)  # (rates,)
        edges = {
            "modulation": np.geomspace(0.1, RATE / 1024, 9),
            "envelope": np.geomspace(8, 250, 11),
        }[view]
        best = int(rows.argmax())
        assert edges[best] <= hertz <= edges[best + 1]

    def test_clicks_make_it_rough(self, front_end):
        base = noise(5.0)
        clicks = base.copy()
        for place in range(0, len(base), RATE // 3):
            clicks[place : place + 320] *= 20  # a burst of 20 ms, three a second
        before, after = (
            views_of(front_end(sound), front_end)["roughness"] for sound in (base, clicks)
        )
        assert (after > before).mean() > 0.9


class TestClips:
    @pytest.mark.parametrize(
        ("frames", "count"), [(1, 1), (313, 1), (468, 1), (470, 2), (3130, 10)]
    )
    def test_long_recordings_are_cut_as_for_training(self, frames, count):
        pieces = list(clips_of([np.arange(frames, dtype=np.float32)[:, None]], 313))
        assert len(pieces) == count
        np.testing.assert_array_equal(np.concatenate(pieces)[:, 0], np.arange(frames))

    def test_cuts_do_not_depend_on_the_blocks(self):
        whole = np.arange(2000, dtype=np.float32)[:, None]
        blocks = [whole[start : start + 37] for start in range(0, 2000, 37)]
        assert [len(piece) for piece in clips_of(blocks, 313)] == [
            len(piece) for piece in clips_of([whole], 313)
        ]


def test_copies_are_found_louder_and_in_float16_and_others_are_not(front_end):
    sounds = [noise(3.0, seed) for seed in range(3)]
    own = [front_end(sound) for sound in sounds[:2]]
    others = [front_end(0.5 * sounds[0]), front_end(sounds[2])]

    def as_clips(clips):
        offsets = np.cumsum([0, *(len(clip) for clip in clips)])
        recordings = tuple(Recording(Path(f"{n}.wav"), "pump") for n in range(len(clips)))
        return FeatureSet(recordings, np.concatenate(clips), offsets).all()

    assert near_copies(as_clips(others), [as_clips(own)], front_end.mels) == [0]
