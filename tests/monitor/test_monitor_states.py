"""Off or running, source in trouble, slow drift."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ssdpt.alarms import source_health as signals
from ssdpt.alarms.drift import RunningMean, has_drifted
from ssdpt.alarms.running import RunningDetector
from ssdpt.alarms.source_health import SourceHealth
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.features.loudness import Loudness

FINE, CLIPS = Loudness(-40.0, 0.0), Loudness(-1.0, 0.2)


def test_a_full_scale_sine_is_at_0_dbfs_and_clips():
    sine = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000).astype(np.float32)
    found = Loudness.of(sine)
    assert found.dbfs == pytest.approx(0, abs=0.01)
    assert found.clipped > 0.01
    assert Loudness.of(0.01 * sine).dbfs == pytest.approx(-40, abs=0.01)
    assert Loudness.of(np.zeros(100)).silent
    assert not Loudness.of(0.01 * sine).silent


def run(keeper, levels, start=0):
    found = []
    for second, level in enumerate(levels, start):
        found.append(keeper.update(float(second), level))
        if found[-1]:
            keeper.settle(level)
    return found


def test_a_machine_is_off_when_it_is_much_quieter_than_it_runs():
    keeper = RunningDetector(None)
    assert all(run(keeper, [-30.0] * 60))
    found = run(keeper, [-55.0] * 10, 60)
    assert found[:3] == [True] * 3
    assert found[-1] is False
    assert run(keeper, [-31.0] * 10, 70)[-1] is True
    assert keeper.usual_dbfs == pytest.approx(-30.0)


def test_a_quiet_operating_point_is_not_off():
    keeper = RunningDetector(None, usual_dbfs=-30.0)
    found = [keeper.update(float(n), -43.0, quietest_dbfs=-44.0) for n in range(10)]
    assert all(found)
    assert not [keeper.update(10.0 + n, -57.0, quietest_dbfs=-44.0) for n in range(10)][-1]


def test_while_it_is_not_known_how_loud_it_runs_it_runs():
    assert all(run(RunningDetector(None), [-80.0] * 10))


def test_a_blow_or_a_quiet_second_is_no_stop():
    keeper = RunningDetector(None, usual_dbfs=-30.0)
    assert all(run(keeper, [-30, -60, -30, -60, -60, -30, -38, -38, -38, -38]))


def test_a_limit_that_is_given_is_not_learnt():
    keeper = RunningDetector(-50.0)
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
        (CLIPS, False, signals.CLIPPING),
        (FINE, False, ""),
    ],
)
def test_trouble_with_a_source_is_told_when_it_lasts_and_over_when_it_stays_away(
    loudness, lost, words
):
    keeper = SourceHealth()
    found = [keeper.update(float(time), loudness, lost=lost) for time in range(12)]
    assert found == [""] * 10 + [words] * 2
    found = [keeper.update(float(time), FINE, lost=False) for time in range(12, 24)]
    assert found == [words] * 10 + [""] * 2


def complaints(pattern, keeper=None, start=0):
    """What is told second by second where x is a second that clips."""
    keeper = keeper or SourceHealth()
    seconds = [CLIPS if sign == "x" else FINE for sign in pattern]
    return [keeper.update(float(start + n), one, lost=False) for n, one in enumerate(seconds)]


def test_a_source_that_clips_every_few_seconds_is_one_complaint():
    found = complaints("x" * 12 + "..x.....x.x" * 10 + "." * 12)
    assert sum(before != after for before, after in itertools.pairwise(found)) == 2
    assert found[11] == found[-3] == signals.CLIPPING
    assert found[-1] == ""


def test_a_loud_second_now_and_then_is_none():
    assert set(complaints("x........." * 10)) == {""}


def test_a_clock_that_is_set_back_neither_holds_a_complaint_nor_makes_one():
    keeper = SourceHealth()
    complaints("x" * 12 + "..", keeper, start=1000)
    assert complaints("." * 12, keeper, start=10)[-1] == ""
    complaints("x", keeper, start=2000)
    assert set(complaints("x" * 10, keeper, start=10)) == {""}


def test_a_source_that_is_gone_is_told_so_though_it_clipped_before():
    keeper = SourceHealth()
    complaints("x" * 12, keeper)
    found = [keeper.update(float(time), None, lost=True) for time in range(12, 24)]
    assert found == [signals.CLIPPING] * 10 + [signals.LOST] * 2


LIMITS = Thresholds(4.0, 6.0, 3.2, 4.8, 0.0, 1.0, True, "")


def drift(score, hours, mean=None):
    mean = mean or RunningMean(6 * 3600.0)
    for _ in range(round(60 * hours)):
        mean.update(score, 60.0)
    return mean


def test_a_normal_that_moves_is_drift_and_a_short_event_is_none():
    assert not has_drifted(drift(0.0, 24), LIMITS)
    assert has_drifted(drift(3.0, 24), LIMITS)
    assert not has_drifted(drift(3.0, 0.5), LIMITS)  # too short to tell
    assert not has_drifted(drift(3.9, 1, drift(0.0, 24)), LIMITS)
    assert has_drifted(drift(3.9, 12, drift(0.0, 24)), LIMITS)


def test_the_mean_is_exact_from_the_start():
    mean = RunningMean(6 * 3600.0)
    for score in (1.0, 2.0, 3.0):
        mean.update(score, 1.0)
    assert mean.mean == pytest.approx(2.0, rel=1e-4)
    mean.reset()
    assert mean.seconds == 0.0
