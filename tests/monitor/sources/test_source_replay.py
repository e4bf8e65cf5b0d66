"""Recordings played as if they were live."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hand_clock import NOON, HandClock, amplitude, ends_meet, joined, seconds_of, tone

from sounds import hum, write_clip
from ssdpt.errors import SsdptError
from ssdpt.monitor.sources import open_source
from ssdpt.monitor.sources.replay_source import ReplaySettings

RATE = 16_000


def replay(path, clock=None, **settings):
    settings = ReplaySettings(path=path, **settings)
    return open_source(settings, RATE, clock or HandClock())


def test_a_folder_is_played_in_the_order_of_names_without_a_pause(tmp_path):
    first = write_clip(tmp_path / "a.wav", hum(1.1, seed=1))
    second = write_clip(tmp_path / "b.flac", hum(0.7, seed=2))
    (tmp_path / "notes.txt").write_text("no sound")
    clock = HandClock()
    source = replay(tmp_path, clock, speed=4.0)
    chunks = list(source.chunks(threading.Event()))
    expected = np.concatenate([hum(1.1, seed=1), hum(0.7, seed=2)])
    np.testing.assert_allclose(joined(chunks), expected, atol=1e-4)
    assert chunks[0].time == NOON
    assert ends_meet(chunks, RATE)
    assert clock.now == pytest.approx(1.8 / 4)
    assert {first.name, second.name} == {"a.wav", "b.flac"}
    assert not source.status.connected
    assert "played to its end" in source.status.message


def test_another_rate_and_channel(tmp_path):
    frames = np.stack([tone(300, 2, 44_100), tone(1000, 2, 44_100)], axis=1)
    path = write_clip(tmp_path / "stereo.wav", frames, rate=44_100)
    source = replay(path, channel=1)
    chunks = source.chunks(threading.Event())
    samples = joined(seconds_of(chunks, 1.5, RATE))
    assert amplitude(samples, 1000, RATE) == pytest.approx(0.25, rel=0.01)
    assert amplitude(samples, 300, RATE) < 0.001
    assert (source.status.rate_in, source.status.channels_in) == (44_100, 2)
    assert source.status.connected


def test_a_loop_goes_on(tmp_path):
    path = write_clip(tmp_path / "a.wav", hum(1.0))
    chunks = seconds_of(replay(path, loop=True).chunks(threading.Event()), 3.5, RATE)
    assert ends_meet(chunks, RATE)


def test_silence_is_played_too(tmp_path):
    path = write_clip(tmp_path / "a.wav", np.zeros(RATE, np.float32))
    assert len(joined(replay(path).chunks(threading.Event()))) == RATE


def test_a_broken_file_is_reported_and_left_out(tmp_path):
    write_clip(tmp_path / "a.wav", hum(1.0))
    (tmp_path / "b.wav").write_bytes(b"RIFF....")
    write_clip(tmp_path / "c.wav", hum(1.0))
    source = replay(tmp_path)
    assert len(joined(source.chunks(threading.Event()))) == 2 * RATE
    assert "1 skipped" in source.status.message
    assert "b.wav" in source.status.message


def test_stop_ends_it_at_once(tmp_path):
    path = write_clip(tmp_path / "a.wav", hum(5.0))
    stop, clock = threading.Event(), HandClock()
    chunks = replay(path, clock, loop=True).chunks(stop)
    next(chunks)
    stop.set()
    assert list(chunks) == []
    assert clock.now <= 0.5


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: folder / "none.wav", "no such file"),
        (lambda folder: folder, "it has no sound files"),
        (lambda folder: write_clip(folder / "a.wav", hum(1.0)), "no channel 3"),
        (lambda folder: _written(folder / "b.wav"), "nothing to play"),
    ],
)
def test_what_can_never_be_played_is_refused(tmp_path, make, sentence):
    with pytest.raises(SsdptError, match=sentence):
        list(replay(make(tmp_path), channel=3, loop=True).chunks(threading.Event()))


def _written(path):
    path.write_bytes(b"this is no sound at all")
    return path
