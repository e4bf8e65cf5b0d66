"""Off or running, source in trouble, slow drift."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.monitor import signals
from ssdpt.monitor.drift import DriftKeeper
from ssdpt.monitor.idle import Loudness, RunningKeeper
from ssdpt.monitor.signals import SignalKeeper


def test_a_full_scale_sine_is_at_0_dbfs_and_clips():
    sine = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000).astype(np.float32)
    found = Loudness.of(sine)
    assert found.dbfs == pytest.approx(0, abs=0.01)
    assert found.clipped > 0.01
    assert Loudness.of(0.01 * sine).dbfs == pytest.approx(-40, abs=0.01)
    assert Loudness.of(np.zeros(100)).silent
    assert not Loudness.of(0.01 * sine).silent


def run(keeper, levels, start=0):
    return [keeper.update(float(start + n), level) for n, level in enumerate(levels)]


def test_a_machine_is_off_when_it_is_much_quieter_than_it_runs():
    keeper = RunningKeeper(None)
    assert all(run(keeper, [-30.0] * 60))
    found = run(keeper, [-55.0] * 10, 60)
    assert found[:3] == [True] * 3
    assert found[-1] is False
    assert run(keeper, [-31.0] * 10, 70)[-1] is True
    assert keeper.usual_dbfs == pytest.approx(-30.0)


def test_while_it_is_not_known_how_loud_it_runs_it_runs():
    assert all(run(RunningKeeper(None), [-80.0] * 10))


def test_a_blow_or_a_quiet_second_is_no_stop():
    keeper = RunningKeeper(None, usual_dbfs=-30.0)
    assert all(run(keeper, [-30, -60, -30, -60, -60, -30, -38, -38, -38, -38]))


def test_a_limit_that_is_given_is_not_learnt():
    keeper = RunningKeeper(-50.0)
    assert all(run(keeper, [-49.0] * 30))
    assert run(keeper, [-51.0] * 5, 30)[-1] is False
    # On again only some dB above it: at the limit itself it would flicker.
    assert run(keeper, [-49.0] * 5, 35)[-1] is False
    assert run(keeper, [-40.0] * 5, 40)[-1] is True


@pytest.mark.parametrize(
    ("loudness", "lost", "words"),
    [
        (None, True, signals.LOST),
        (Loudness(-120.0, 0.0), False, signals.SILENT),
        (Loudness(-1.0, 0.2), False, signals.CLIPPING),
        (Loudness(-40.0, 0.0), False, ""),
    ],
)
def test_trouble_with_a_source_is_told_when_it_lasts(loudness, lost, words):
    keeper = SignalKeeper()
    found = [keeper.update(float(time), loudness, lost=lost) for time in range(12)]
    assert found[5] == ""
    assert found[-1] == words
    assert keeper.update(12.0, Loudness(-40.0, 0.0), lost=False) == ""


def drift(score, hours, keeper=None):
    keeper = keeper or DriftKeeper()
    for minute in range(round(60 * hours)):
        keeper.update(60.0 * minute, score, 60.0)
    return keeper


def test_a_normal_that_moves_is_drift_and_a_short_event_is_none():
    assert not drift(0.0, 24).judge(0.0, 0.0, 4.0)
    assert drift(3.0, 24).judge(0.0, 0.0, 4.0)
    assert not drift(3.0, 0.5).judge(0.0, 0.0, 4.0)  # too short to tell
    assert not drift(3.9, 1, drift(0.0, 24)).judge(0.0, 0.0, 4.0)
    assert drift(3.9, 12, drift(0.0, 24)).judge(0.0, 0.0, 4.0)


def test_the_mean_is_exact_from_the_start():
    keeper = DriftKeeper()
    for score in (1.0, 2.0, 3.0):
        keeper.update(0.0, score, 1.0)
    assert keeper.mean == pytest.approx(2.0, rel=1e-4)
    keeper.reset()
    assert not keeper.judge(0.0, 0.0, 1.0)
