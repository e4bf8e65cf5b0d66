"""A simulated live machine: continuous sound, constant level, a growing fault, on and off."""

from __future__ import annotations

import itertools
import threading
import time

import numpy as np
import pytest
from hand_clock import NOON, HandClock, ends_meet, joined, seconds_of

from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.live import LiveMachine, _joined, _SettledCasing
from ssdpt.data.simulator.resonance import Casing
from ssdpt.data.simulator.timebase import RATE
from ssdpt.errors import SsdptError
from ssdpt.monitor.sources import open_source
from ssdpt.monitor.sources.simulated_source import SimulatedSettings


def sound(machine, seconds, **course):
    return read(machine.sound(**course), seconds)


def read(blocks, seconds):
    return np.concatenate(list(itertools.islice(blocks, round(seconds / 0.25))))


def levels(samples):
    """dB of each second."""
    return 10 * np.log10(np.mean(np.square(samples.reshape(-1, RATE)), axis=1))


def spectra(samples, length=1024):
    """Power of each 64 ms, in thirds of an octave, dB."""
    frames = samples[: len(samples) // length * length].reshape(-1, length)
    power = np.abs(np.fft.rfft(frames * np.hanning(length), axis=1)) ** 2
    edges = np.geomspace(5, length // 2, 20).astype(int)
    return 10 * np.log10(np.add.reduceat(power, edges[:-1], axis=1) + 1e-12)


def features(samples):
    """Mean and spread of each band over the clip."""
    spectrogram = spectra(samples)
    return np.concatenate([spectrogram.mean(0), spectrogram.std(0)])


@pytest.mark.parametrize("name", MACHINES)
def test_the_level_stays_and_the_hall_is_much_quieter(name):
    samples = sound(LiveMachine(name, 1), 45, off_after=30)
    running, off = levels(samples)[:29], levels(samples)[33:]
    assert running.mean() == pytest.approx(-36, abs=1)
    assert running.std() < 2
    assert np.abs(running - running.mean()).max() < 4
    assert off.max() < running.min() - 20
    assert np.abs(samples).max() < 1


@pytest.mark.parametrize("name", ["fan", "slider", "valve"])
def test_a_fault_grows_from_its_moment_on(name):
    machine = LiveMachine(name, 0)
    parts = np.array([features(clip) for clip in machine.normal_clips(12)])

    def oddness(part):
        """How far it is from normal clips, in their standard deviations."""
        off = (features(part) - parts.mean(0)) / parts.std(0)
        return np.sqrt(np.mean(np.square(off)))

    played = sound(machine, 118, fault_after=41.0)
    np.testing.assert_array_equal(played[: 40 * RATE], sound(machine, 40))
    before = max(oddness(part) for part in played[: 40 * RATE].reshape(-1, 10 * RATE))
    early = oddness(played[44 * RATE : 54 * RATE])
    late = oddness(played[108 * RATE :])
    assert late > 1.5 * before
    assert late > 1.5 * early


def test_nothing_happens_to_a_machine_that_is_held():
    machine = LiveMachine("pump", 0)
    held = [True]
    blocks = machine.sound(fault_after=5.0, off_after=50.0, held=lambda: held[0])
    waiting = read(blocks, 30)
    np.testing.assert_array_equal(waiting, sound(machine, 30))
    held[0] = False
    after = read(blocks, 70)
    # Clips are simulated some seconds ahead, so the fault comes at most one clip later.
    normal = sound(machine, 100)[30 * RATE :]
    np.testing.assert_array_equal(after[: 4 * RATE], normal[: 4 * RATE])
    assert not np.array_equal(after[18 * RATE : 40 * RATE], normal[18 * RATE : 40 * RATE])
    level = 20 * np.log10(np.std(after[-10 * RATE :]) / np.std(after[: 10 * RATE]))
    assert level < -6  # switched off 50 s after it was held no longer


def test_a_defect_pushes_the_same_way_in_every_clip():
    casing = Casing(np.random.default_rng(0), 0, (500.0, 900.0, 1600.0), 0.02)
    rng = np.random.default_rng(1)
    settled = _SettledCasing(casing, rng)
    np.testing.assert_array_equal(settled.defect(rng), settled.defect(rng))
    np.testing.assert_array_equal(settled.mount, casing.mount)


def test_a_seam_is_put_where_the_rhythms_agree():
    """Blows every 0.4 s in both, though out of step: they stay so far apart over the seam."""
    rng = np.random.default_rng(0)

    def blows(first, seconds):
        wave = rng.normal(0, 0.01, round(seconds * RATE)).astype(np.float32)
        for at in np.arange(first, seconds - 0.05, 0.4):
            start = round(at * RATE)
            wave[start : start + 300] += rng.normal(0, 1, 300).astype(np.float32)
        return wave

    for out_of_step in (0.05, 0.17, 0.33):
        wave = _joined(blows(0.1, 2.0), blows(out_of_step, 10.0))
        loud = np.flatnonzero(np.abs(wave) > 0.5) / RATE
        starts = loud[np.diff(loud, prepend=-1.0) > 0.1]
        assert len(starts) >= 19
        np.testing.assert_allclose(np.diff(starts), 0.4, atol=0.03)


def test_the_strokes_of_a_valve_go_on_over_the_seams():
    """A rhythm broken every ten seconds would be a fault of its own."""
    steadiness = []
    for section in range(3):
        power = np.square(np.diff(sound(LiveMachine("valve", section, 3), 60)))
        envelope = np.sqrt(np.add.reduceat(power, np.arange(0, len(power), 160)))
        values = []
        for start in range(0, len(envelope) - 500, 50):
            part = envelope[start : start + 500] - envelope[start : start + 500].mean()
            likeness = np.correlate(part, part, "full")[499:] / np.dot(part, part)
            values.append(likeness[40:300].max())
        steadiness.append(np.quantile(values, 0.02) / np.median(values))
    assert np.mean(steadiness) > 0.76


@pytest.mark.parametrize("name", MACHINES)
def test_no_seam_stands_out(name):
    """No second is far from all the others, and no sample from the one before."""
    samples = sound(LiveMachine(name, 0, seed=5), 40)
    seconds = np.array([spectra(part).mean(0) for part in samples.reshape(-1, RATE)])
    far = np.linalg.norm(seconds - np.median(seconds, axis=0), axis=1)
    assert far.max() < 4 * np.median(far)
    steps = np.abs(np.diff(samples))
    assert steps.max() < 0.3


def test_normal_clips_are_of_the_same_machine_but_not_the_sound_that_is_played():
    settings = SimulatedSettings(machine="pump", section=1, seed=4)
    source = open_source(settings, RATE)
    clips = source.normal_clips(6)
    assert [clip.shape for clip in clips] == [(10 * RATE,)] * 6
    assert all(clip.dtype == np.float32 for clip in clips)
    played = sound(source.machine, 60)
    fitted = np.concatenate(clips)
    assert np.abs(spectra(played).mean(0) - spectra(fitted).mean(0)).max() < 2
    assert levels(fitted).mean() == pytest.approx(levels(played).mean(), abs=0.7)
    assert not np.array_equal(played, fitted)
    np.testing.assert_array_equal(source.normal_clips(1)[0], clips[0])


def test_sections_and_seeds_are_other_machines():
    samples = [
        sound(LiveMachine("fan", section, seed), 2) for section, seed in ((0, 0), (1, 0), (0, 1))
    ]
    assert not np.array_equal(samples[0], samples[1])
    assert not np.array_equal(samples[0], samples[2])
    np.testing.assert_array_equal(samples[0], sound(LiveMachine("fan", 0, 0), 2))


@pytest.mark.parametrize("rate", [RATE, 8000])
def test_chunks_come_at_their_pace_with_times_by_their_count(rate):
    clock = HandClock()
    settings = SimulatedSettings(machine="valve", speed=10.0)
    source = open_source(settings, rate, clock)
    stop = threading.Event()
    chunks = source.chunks(stop)
    taken = seconds_of(chunks, 20.0, rate)
    assert clock.now == pytest.approx(2.0, abs=0.05)
    assert taken[0].time == NOON
    assert ends_meet(taken, rate)
    assert {len(chunk.samples) for chunk in taken} == {rate // 4}
    assert source.status.connected
    assert source.status.message.startswith("simulated valve 00, speed")
    if rate == RATE:
        np.testing.assert_array_equal(joined(taken), sound(LiveMachine("valve"), 20))
    stop.set()
    assert list(chunks) == []
    assert not source.status.connected


def test_it_is_made_much_faster_than_real_time():
    settings = SimulatedSettings(machine="fan", speed=1e6)
    chunks = open_source(settings, RATE).chunks(threading.Event())
    begun = time.process_time()  # not that of other processes on the same cores
    seconds_of(chunks, 60.0, RATE)
    assert time.process_time() - begun < 15


def test_a_machine_that_does_not_exist_is_refused():
    with pytest.raises(SsdptError, match="no simulated machine is called 'crane'"):
        open_source(SimulatedSettings(machine="crane"), RATE)


def test_it_goes_over_to_its_other_operating_point_and_back():
    samples = sound(LiveMachine("fan", 0, 7), 90, change_every=30)

    def level(begin, end):
        return 20 * np.log10(np.std(samples[begin * RATE : end * RATE]))

    first, other, back = level(2, 28), level(44, 58), level(74, 88)
    assert other - first == pytest.approx(6, abs=1.5)
    assert back - first == pytest.approx(0, abs=1.5)
