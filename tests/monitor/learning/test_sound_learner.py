"""The reference of a machine whose model comes from elsewhere."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ssdpt.alarms.change_finder import find_changes
from ssdpt.monitor.capture.ring import Ring
from ssdpt.monitor.learning.sound_learner import SoundLearner

RATE = 4000


@pytest.fixture
def machine():
    """A machine that hums; `run` processes seconds and returns the references learned by then."""
    samples = Ring(20.0, RATE)
    capture = SimpleNamespace(rate=RATE, samples=samples, begun=1000.0)
    learner, rng, state = SoundLearner(RATE), np.random.default_rng(0), {"now": 1000.0}

    def run(seconds, normal=True, tone=0.0):
        learned = []
        for _ in range(seconds):
            time = state["now"] + np.arange(RATE) / RATE
            wave = 0.01 * rng.standard_normal(RATE) + tone * np.sin(2 * np.pi * 700 * time)
            samples.add(wave.astype(np.float32), state["now"])
            state["now"] += 1.0
            learned.append(learner.update(capture, state["now"], normal=normal))
        return [reference for reference in learned if reference is not None]

    return run


def test_the_first_normal_minutes_are_learned_and_nothing_else(machine):
    assert machine(295) == []
    assert machine(60, normal=False, tone=0.1) == []
    (reference,) = machine(15)[:1]
    time = np.arange(10 * RATE) / RATE
    hum = 0.01 * np.random.default_rng(9).standard_normal(10 * RATE)
    whistle = 0.1 * np.sin(2 * np.pi * 700 * time)
    assert find_changes(reference, [hum.astype(np.float32)]) == ()
    (finding, *_) = find_changes(reference, [(hum + whistle).astype(np.float32)])
    assert (finding.code, finding.new) == ("tone", True)
    assert finding.hz == pytest.approx(700, abs=2)
