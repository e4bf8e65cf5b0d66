"""Levels from condition indicators: what drifts is no alarm, what breaks is one."""

from __future__ import annotations

import numpy as np
import pytest

from bearing_lives import RATE, SAMPLES, life
from ssdpt.alarms.change_judge import ChangeJudge
from ssdpt.alarms.indicator_baseline import FEWEST_STEPS, IndicatorBaseline
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.errors import SsdptError
from ssdpt.features.indicators import BANDS, IndicatorMeter, Indicators

METER = IndicatorMeter(RATE, SAMPLES)


def step(bands=(0.0,) * BANDS, level=0.0, kurtosis=3.0, band_kurtosis=3.0, rng=None):
    noise = np.zeros(BANDS + 1) if rng is None else 0.3 * rng.standard_normal(BANDS + 1)
    return Indicators(
        level_db=-40.0 + level + noise[0],
        crest_db=12.0,
        kurtosis=kurtosis,
        bands_db=np.asarray(bands, np.float32) - 50 + noise[1:].astype(np.float32),
        bands_kurtosis=np.where(np.arange(BANDS) == 5, band_kurtosis, 3.0).astype(np.float32),
    )


def judge(captured="snapshots"):
    rng = np.random.default_rng(0)
    baseline = IndicatorBaseline.learn([step(rng=rng) for _ in range(100)], 0.0)
    return ChangeJudge(baseline, AlarmSettings(), captured)


def bands(**changed):
    values = np.zeros(BANDS)
    for name, db in changed.items():
        values[int(name.removeprefix("band"))] = db
    return values


def levels(change_judge, steps):
    return [change_judge.update(one).level for one in steps]


def test_normal_steps_stay_normal():
    rng = np.random.default_rng(1)
    assert set(levels(judge(), [step(rng=rng) for _ in range(500)])) == {"normal"}


@pytest.mark.parametrize(
    ("changed", "level"),
    [
        (bands(band3=6.0), "normal"),
        (bands(band3=8.5), "alert"),
        (bands(band3=12.0), "alarm"),
        (bands(band7=12.0), "alert"),  # the highest band drifts more
        (bands(band7=22.0), "alarm"),
        (bands(band2=8.5, band3=8.5), "alarm"),
        (bands(band1=6.5, band2=6.5, band3=6.5), "alarm"),
    ],
    ids=["little", "one band", "tripled", "highest", "highest tenfold", "two", "three"],
)
def test_slow_rise(changed, level):
    """Over an hour of snapshots, then held."""
    rise = [step(bands=changed * share) for share in np.linspace(0, 1, 360)]
    assert levels(judge(), [*rise, *[step(bands=changed)] * 20])[-1] == level


def test_sudden_rise_of_one_band_is_an_alarm():
    found = levels(judge(), [*[step()] * 40, *[step(bands=bands(band3=7.5))] * 8])
    assert found[-1] == "alarm"
    assert "alarm" not in found[:45]


def test_large_change_needs_half_a_minute():
    found = levels(judge(), [*[step()] * 40, *[step(bands=bands(band3=10.0))] * 3])
    assert found[-2:] == ["alert", "alarm"]


def test_knocks_are_an_alarm_when_they_last():
    found = levels(judge(), [*[step()] * 40, *[step(kurtosis=9.0, band_kurtosis=9.0)] * 40])
    assert "alarm" not in found[:50]
    assert found[-1] == "alarm"


def test_knocks_in_one_place_are_nothing():
    assert set(levels(judge(), [*[step()] * 40, *[step(band_kurtosis=9.0)] * 40])) == {"normal"}


def test_single_shock_is_nothing():
    steps = [*[step()] * 40, step(level=20.0, bands=np.full(BANDS, 20.0), kurtosis=300.0)]
    assert set(levels(judge(), [*steps, *[step()] * 60])) == {"normal"}


def test_stream_goes_no_further_than_an_alert():
    found = levels(judge("stream"), [*[step()] * 20, *[step(level=20.0)] * 60])
    assert found[-1] == "alert"


def test_level_ends_when_the_change_is_over():
    change_judge = judge()
    levels(change_judge, [*[step()] * 40, *[step(bands=bands(band3=12.0))] * 20])
    assert change_judge.level == "alarm"
    assert levels(change_judge, [step()] * 20)[-1] == "normal"


def test_nothing_lasts_across_a_pause():
    change_judge = judge()
    loud = [step(bands=bands(band3=12.0))]
    levels(change_judge, [*[step()] * 40, *loud * 5])
    change_judge.pause()
    assert set(levels(change_judge, loud)) == {"normal"}


def test_change_point_is_marked_once():
    verdicts = [
        judge_.update(one)
        for judge_ in [judge()]
        for one in [*[step()] * 40, *[step(bands=bands(band3=12.0))] * 30]
    ]
    assert sum(verdict.began for verdict in verdicts) == 2  # alert, then alarm


def test_restart_keeps_the_baseline():
    before = judge()
    after = ChangeJudge.from_json(before.to_json(), AlarmSettings())
    steps = [*[step()] * 40, *[step(bands=bands(band3=12.0))] * 10]
    assert levels(before, steps) == levels(after, steps)


def test_too_few_steps_are_refused():
    with pytest.raises(SsdptError, match="too few"):
        IndicatorBaseline.learn([step()] * (FEWEST_STEPS - 1), 0.0)


def test_real_samples_of_a_worn_bearing():
    steps = [METER.of(row) for row in life(seed=5)]
    change_judge = ChangeJudge(
        IndicatorBaseline.learn(steps[8:80], 0.0), AlarmSettings(), "snapshots"
    )
    found = levels(change_judge, steps[80:])
    assert "alarm" not in found[:190]
    assert "alarm" in found[:300]
