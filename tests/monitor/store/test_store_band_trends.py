"""Band levels over time: the same before, during and after roll-up, and as long as minutes are."""

from __future__ import annotations

import numpy as np
import pytest
from store_data import BEGIN, reading, readings

from ssdpt.features.indicators import BANDS
from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.store.tables import BAND_COLUMNS

HOUR = 3600


def levels(count, seed=0):
    """(count, bands) of dB in hundredths, which are stored exactly."""
    return np.random.default_rng(seed).normal(-40, 5, (count, BANDS)).round(2)


def with_bands(begin, bands, step=1.0):
    return [
        reading("fan-1", begin + n * step, bands_db=tuple(row))
        for n, row in enumerate(bands.tolist())
    ]


def test_every_band_of_a_machine_has_a_column():
    assert len(BAND_COLUMNS) == BANDS


def test_bands_are_read_as_they_were_stored(store):
    given = with_bands(BEGIN, levels(5))
    store.add_readings(given)
    assert list(store.readings("fan-1", BEGIN, BEGIN + 5)) == given
    trend = store.band_trend("fan-1", BEGIN, BEGIN + 5, points=5)
    assert trend.seconds_per_point == 1
    np.testing.assert_allclose(trend.levels_db, levels(5), atol=1e-9)
    np.testing.assert_array_equal(trend.time, BEGIN + np.arange(5))


def test_a_trend_of_bands_is_the_same_before_during_and_after_roll_up(store):
    given = levels(2 * HOUR)
    store.add_readings(with_bands(BEGIN, given))
    store.add_readings(readings("pump-1", BEGIN, [1.0] * 100))
    points = (2, 7, 120)
    expected = {
        1 * HOUR: given.reshape(2, -1, BANDS).mean(1),
        1800: given.reshape(4, -1, BANDS).mean(1),
        60: given.reshape(120, -1, BANDS).mean(1),
    }
    for now in (0, 1.5 * HOUR, 3 * HOUR):
        store.roll_up(BEGIN + now)
        for count in points:
            trend = store.band_trend("fan-1", BEGIN, BEGIN + 2 * HOUR, count)
            wanted = expected[trend.seconds_per_point]
            np.testing.assert_allclose(trend.levels_db, wanted, atol=0.011)
    without_bands = store.band_trend("pump-1", BEGIN, BEGIN + HOUR)
    assert np.isnan(without_bands.levels_db).all()
    assert len(without_bands.level_db) == 10
    assert store.band_trend("unknown", BEGIN, BEGIN + HOUR).levels_db.shape == (0, BANDS)


def test_a_machine_that_sends_a_snapshot_every_ten_seconds(store):
    given = levels(360)
    store.add_readings(with_bands(BEGIN, given, step=10.0))
    store.roll_up(BEGIN + 2 * HOUR)
    trend = store.band_trend("fan-1", BEGIN, BEGIN + HOUR, points=60)
    np.testing.assert_allclose(trend.levels_db, given.reshape(60, 6, BANDS).mean(1), atol=0.011)


def test_a_machine_that_sends_one_snapshot_a_minute(store):
    given = levels(60)
    store.add_readings(with_bands(BEGIN, given, step=60.0))
    store.roll_up(BEGIN + 2 * HOUR)
    trend = store.band_trend("fan-1", BEGIN, BEGIN + HOUR, points=60)
    np.testing.assert_allclose(trend.levels_db, given, atol=0.011)


def test_minutes_without_bands_do_not_count(store):
    store.add_readings(with_bands(BEGIN, np.full((60, BANDS), -30.0)))
    store.add_readings(readings("fan-1", BEGIN + 60, [1.0] * 3000))
    store.roll_up(BEGIN + 2 * HOUR)
    assert store.band_trend("fan-1", BEGIN, BEGIN + HOUR, points=1).levels_db.tolist() == [
        [-30.0] * BANDS
    ]
    trend = store.band_trend("fan-1", BEGIN, BEGIN + HOUR, points=60)
    assert np.isfinite(trend.levels_db).all(1).tolist() == [True] + [False] * 50


def test_the_level_of_the_whole_sound_is_the_same_before_during_and_after_roll_up(store):
    given = np.random.default_rng(1).normal(-40, 5, 2 * HOUR).round(1)
    store.add_readings(
        [reading("fan-1", BEGIN + n, level_dbfs=level) for n, level in enumerate(given.tolist())]
    )
    for now in (0, 1.5 * HOUR, 3 * HOUR):
        store.roll_up(BEGIN + now)
        trend = store.band_trend("fan-1", BEGIN, BEGIN + 2 * HOUR, points=2)
        np.testing.assert_allclose(trend.level_db, given.reshape(2, -1).mean(1), atol=1e-3)


def test_a_machine_may_have_fewer_bands_and_no_level_is_too_low(store):
    store.add_readings([reading("fan-1", BEGIN, bands_db=(-np.inf, np.nan, 12.5))])
    trend = store.band_trend("fan-1", BEGIN, BEGIN + 1, points=1)
    np.testing.assert_array_equal(trend.levels_db[0], [-300.0, np.nan, 12.5, *[np.nan] * 5])


def test_bands_are_kept_as_long_as_the_scores_beside_them(store):
    bands = np.full((60, BANDS), -30.0)
    for day in (0, 20):
        store.add_readings(with_bands(BEGIN + day * 86400, bands))
    settings = RetentionSettings(seconds_days=1, minutes_days=10)
    store.retain(BEGIN + 25 * 86400, settings, lambda: 10**12)
    trend = store.band_trend("fan-1", BEGIN, BEGIN + 25 * 86400, points=25 * 1440)
    assert trend.seconds_per_point == pytest.approx(HOUR)
    assert trend.levels_db.tolist() == [[-30.0] * BANDS] * 2
