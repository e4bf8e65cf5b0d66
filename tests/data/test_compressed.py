"""Sound for a web page."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile

from ssdpt.data.compressed import compress


@pytest.mark.parametrize("rate", [8000, 16000, 51200])
def test_sound_is_small_playable_and_audible(rate):
    time = np.arange(2 * rate) / rate
    sound, mime = compress((1e-3 * np.sin(2 * np.pi * 440 * time)).astype(np.float32), rate)
    samples, _ = soundfile.read(io.BytesIO(sound))
    assert mime in ("audio/mpeg", "audio/ogg")
    assert len(sound) < 2 * rate
    assert 0.5 < np.abs(samples).max() < 1


def test_silence_stays_silent():
    sound, _ = compress(np.zeros(8000, np.float32), 8000)
    assert np.abs(soundfile.read(io.BytesIO(sound))[0]).max() < 1e-3


def test_without_mp3_it_is_ogg(monkeypatch):
    monkeypatch.setattr(soundfile, "available_formats", lambda: {"OGG": "Ogg"})
    sound, mime = compress(np.zeros(8000, np.float32), 8000)
    assert (sound[:4], mime) == (b"OggS", "audio/ogg")
