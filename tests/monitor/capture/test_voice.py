"""Voices in the sound of machines: synthesised speech as loud as simulated machines."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import soundfile
import soxr

from ssdpt.bench import speech, voices
from ssdpt.bench.speech import SPEAKERS, Speaker
from ssdpt.bench.voices import bench_voices, measure_voices, mix
from ssdpt.common.progress import Reporter
from ssdpt.data.simulator.clip import ClipName, clip
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.voice import (
    MARGIN_FRAMES,
    RATE,
    THRESHOLDS,
    LiveVoiceFilter,
    VoiceNetwork,
    learn_threshold,
    voice_frames,
    without_voices,
)

MACHINES = ("fan", "pump", "gearbox")


@pytest.fixture(scope="module")
def network():
    return VoiceNetwork()


@pytest.fixture(scope="module")
def spoken():
    return [speech.speech(speaker) for speaker in SPEAKERS[::3]]


def clips(machine, split, count):
    names = [ClipName(machine, 0, "source", split, "normal", index) for index in range(count)]
    return [clip(name).samples for name in names]


@pytest.mark.needs_speech
@pytest.mark.parametrize("machine", MACHINES)
def test_speech_is_cut_out_and_machines_are_not(network, spoken, machine):
    shares = measure_voices(
        network, machine, clips(machine, "train", 24), clips(machine, "test", 12), spoken
    )
    assert shares.speech >= 0.8
    assert shares.alone <= 0.02


def test_clips_too_short_to_speak_in_give_no_share_of_speech(network):
    noise = np.random.default_rng(0).normal(0, 0.1, (3, RATE)).astype(np.float32)
    shares = measure_voices(network, "switch", noise[:2], noise[2:], [noise[0]])
    assert shares.speech is None
    assert shares.row()["speech cut out"] == "–"
    assert shares.row()["machine cut out"].endswith(" %")


def test_a_machine_without_clips_to_test_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(voices, "speech", lambda _: np.ones(RATE, np.float32))
    folder = tmp_path / "fan" / "train"
    folder.mkdir(parents=True)
    soundfile.write(folder / "section_00_source_train_normal_0000.wav", np.zeros(RATE), RATE)
    remarks = []
    reporter = Reporter()
    monkeypatch.setattr(reporter, "say", remarks.append)
    assert bench_voices([tmp_path / "fan"], reporter) == []
    assert remarks[-1].endswith("left out, it needs clips to learn from and others to test")


@pytest.mark.needs_speech
@pytest.mark.parametrize("rate", [16000, 48000])
def test_live_sound_has_the_same_silence_half_a_second_later(network, spoken, rate):
    mixed, _ = mix(clips("fan", "test", 1)[0], spoken[0])
    samples = np.asarray(soxr.resample(mixed, RATE, rate), np.float32)
    whole = without_voices(network, samples, rate, 0.5)
    assert whole.removed_seconds > 3
    live = LiveVoiceFilter(network, rate, 0.5)
    pieces = []
    for begin in range(0, len(samples), rate // 4):
        pieces.append(live.feed(samples[begin : begin + rate // 4]))
        assert live.delay < 0.5
    heard = np.concatenate([piece.samples for piece in pieces])
    silent = np.concatenate([piece.removed for piece in pieces])
    assert len(heard) > len(samples) - rate / 2
    # A frame more or less, where the resampler of a stream rounds another way.
    assert (silent != whole.removed[: len(silent)]).mean() < 0.02
    np.testing.assert_array_equal(heard[silent], 0)
    np.testing.assert_array_equal(heard[~silent], samples[: len(heard)][~silent])


def test_a_voice_has_margins_and_hysteresis():
    probabilities = np.zeros(200, np.float32)
    probabilities[100], probabilities[101:105] = 0.5, 0.35
    dropped = np.flatnonzero(voice_frames(probabilities, 0.5))
    assert (dropped[0], dropped[-1]) == (100 - MARGIN_FRAMES, 104 + MARGIN_FRAMES)
    assert not voice_frames(probabilities, 0.6).any()
    assert len(voice_frames(probabilities[:3], 0.5)) == 3


class Chatter:
    """A network that takes a machine for a voice of this probability, one second in ten."""

    def __init__(self, probability):
        self._probability = probability

    def run(self, frame, state):
        return (self._probability if frame[-1] else 0.0), state


@pytest.mark.parametrize(("probability", "threshold"), [(0.2, 0.3), (0.45, 0.5), (0.99, 0.6)])
def test_the_threshold_is_learned_from_the_machine_within_bounds(probability, threshold):
    """Someone who talks while a baseline is learned does not switch the detector off."""
    sound = np.zeros(10 * RATE, np.float32)
    sound[5 * RATE : 6 * RATE] = 1
    assert learn_threshold(Chatter(probability), [sound] * 3, RATE) == threshold
    assert threshold in THRESHOLDS


def test_without_the_extra_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SsdptError, match=r"pip install 'ssdpt\[voice\]'"):
        VoiceNetwork()


def test_without_espeak_there_is_a_sentence(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SsdptError, match="apt install espeak-ng"):
        speech.speech(Speaker("de", 150))
