from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile
from evaluation_fakes import RATE, make_plant, write_clip

from ssdpt.evaluation.clips import ScoredClip
from ssdpt.evaluation.examples import compress, make_example, most_anomalous, stands_out
from ssdpt.types import Recording

FREQUENCIES = np.linspace(100, 1000, 10, dtype=np.float32)


def test_the_strongest_part_is_found_in_time_and_frequency():
    heat = np.full((50, 10), 0.1, np.float32)
    heat[20:30, 4:6] = 5
    heat[45, 9] = 6  # a single hot spot is less than a lasting tone
    seconds, hertz = stands_out(heat, FREQUENCIES, 0.1)
    assert seconds == pytest.approx((2.0, 3.0))
    assert hertz == pytest.approx((450, 650))


def test_a_flickering_tone_is_one_stretch():
    heat = np.zeros((100, 10), np.float32)
    heat[:, 4] = np.where(np.arange(100) % 3 == 0, 1, 5)
    seconds, _ = stands_out(heat, FREQUENCIES, 0.03)
    assert seconds == pytest.approx((0, 3))


def test_it_may_touch_the_edges_or_be_nowhere():
    heat = np.ones((5, 10), np.float32)
    seconds, hertz = stands_out(heat, FREQUENCIES, 0.1)
    assert seconds == pytest.approx((0, 0.5))
    assert hertz == pytest.approx((100, 1000))
    assert stands_out(np.zeros((5, 10), np.float32), FREQUENCIES, 0.1) == (None, None)


def test_a_long_clip_is_cut_around_what_stands_out(tmp_path):
    fleet, _ = make_plant(tmp_path, clips=1)
    detector = fleet["fan"]
    path = tmp_path / "long.wav"
    write_clip(path, faulty=True, seconds=60)
    detector.values[path.name] = 1.0
    clip = ScoredClip(Recording(path, "fan"), detector.score(path))
    example = make_example(clip, detector)
    assert example.frames.shape == example.heat.shape
    assert len(example.frames) * example.frame_seconds == pytest.approx(20, abs=0.1)
    assert example.start > 5
    begin, end = example.seconds
    assert 18 - 0.2 <= begin < end <= 36 + 0.2  # where the whistle is
    assert example.hertz[0] < 2000 < example.hertz[1]
    sound, rate = soundfile.read(io.BytesIO(example.sound))
    assert len(sound) / rate == pytest.approx(20, abs=0.2)


def test_most_anomalous_goes_by_p_value_then_by_score(tmp_path):
    fleet, dataset = make_plant(tmp_path, clips=3)
    clips = [ScoredClip(r, fleet["fan"].score(r.path)) for r in dataset.recordings]
    chosen = most_anomalous(clips, 2)
    assert [c.score.value for c in chosen] == sorted(c.score.value for c in clips)[:-3:-1]


@pytest.mark.parametrize("rate", [RATE, 16000, 51200])
def test_sound_is_small_playable_and_audible(rate):
    time = np.arange(2 * rate) / rate
    sound, mime = compress((1e-3 * np.sin(2 * np.pi * 440 * time)).astype(np.float32), rate)
    samples, _ = soundfile.read(io.BytesIO(sound))
    assert mime in ("audio/mpeg", "audio/ogg")
    assert len(sound) < 2 * rate
    assert 0.5 < np.abs(samples).max() < 1


def test_silence_stays_silent():
    sound, _ = compress(np.zeros(RATE, np.float32), RATE)
    assert np.abs(soundfile.read(io.BytesIO(sound))[0]).max() < 1e-3


def test_without_mp3_it_is_ogg(monkeypatch):
    monkeypatch.setattr(soundfile, "available_formats", lambda: {"OGG": "Ogg"})
    sound, mime = compress(np.zeros(RATE, np.float32), RATE)
    assert (sound[:4], mime) == (b"OggS", "audio/ogg")
