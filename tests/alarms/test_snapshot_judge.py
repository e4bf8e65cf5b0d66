"""Snapshots of several axes: each is judged by itself, and the highest level counts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.snapshot_judge import SnapshotForm, SnapshotJudge, measure
from ssdpt.features.indicators import IndicatorMeter

RATE, SAMPLES = 12_800, 1280
FORM = SnapshotForm(("x", "y"), RATE, SAMPLES)
METER = IndicatorMeter(RATE, SAMPLES)


def axes(number, knocks=0.0, hum=0.0):
    """Indicators of two axes; knocks on the second, a hum of 1 kHz on the first."""
    rng = np.random.default_rng(number)
    noise = 0.02 * rng.standard_normal((2, SAMPLES))
    moments = np.arange(SAMPLES)
    since = moments % 256
    noise[1] += knocks * np.exp(-since / 30) * np.sin(2 * np.pi * 3000 / RATE * since)
    noise[0] += hum * np.sin(2 * np.pi * 1000 / RATE * moments)
    return measure(METER, noise.astype(np.float32))


@pytest.fixture
def judge():
    return SnapshotJudge.learn(FORM, [axes(n) for n in range(40)], AlarmSettings(), 100.0)


def run(judge, count, **faults):
    return [judge.update(axes(1000 + n, **faults)) for n in range(count)]


def test_a_healthy_machine_is_normal(judge):
    verdicts = run(judge, 200)
    assert {verdict.level for verdict in verdicts} == {"normal"}
    assert max(verdict.lasting for verdict in verdicts) < 1
    assert judge.baseline.steps == 40
    assert judge.baseline.learned_at == 100.0


def test_the_axis_and_band_that_changed_are_named(judge):
    verdict = run(judge, 10, hum=0.08)[-1]
    assert (verdict.level, verdict.axis) == ("alarm", "x")
    assert verdict.scores["x"] > 1 > verdict.scores["y"]
    band = next(finding for finding in verdict.findings if finding.code == "band")
    assert band.low_hz < 1000 < band.high_hz
    assert band.db > 10


def test_knocks_are_named(judge):
    verdict = run(judge, 20, knocks=0.12)[-1]
    assert (verdict.level, verdict.axis) == ("alarm", "y")
    codes = {finding.code for finding in verdict.findings}
    assert codes & {"knocks", "band"}


def test_a_level_begins_once_and_nothing_lasts_across_a_stop(judge):
    verdicts = run(judge, 12, hum=0.08)
    assert [verdict.began for verdict in verdicts].count(True) in (1, 2)
    judge.pause()
    assert run(judge, 1, hum=0.08)[0].level == "normal"


def test_a_level_outlives_missing_snapshots_until_others_have_lasted(judge):
    assert run(judge, 12, hum=0.08)[-1].level == "alarm"
    judge.interrupt()
    verdicts = run(judge, 12)
    assert verdicts[0].level == "alarm"
    assert verdicts[-1].level == "normal"


def test_it_outlives_a_restart(judge):
    state = json.loads(json.dumps(judge.to_json()))
    again = SnapshotJudge.from_json(state, AlarmSettings())
    assert again.form == FORM
    again.resume("alarm")
    assert [v.level for v in run(again, 8, hum=0.08)] == ["alarm"] * 8
    assert again.usual_db == pytest.approx(judge.usual_db, abs=0.01)
