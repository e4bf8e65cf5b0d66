"""Readings and trends: the same, however readings arrive and whether or not they are rolled up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sqlalchemy import select
from store_data import BEGIN, reading, readings

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.messages import STATES
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.tables import STATE_CODES, hours, minutes, seconds

HOUR = 3600


def rows(store, table):
    with store.database.read() as connection:
        return connection.execute(select(table).order_by(table.c.machine, table.c.time)).all()


def random_scores(count, seed=0):
    return np.random.default_rng(seed).normal(0, 1, count).tolist()


def test_codes_of_states_are_in_the_order_of_states():
    assert sorted(STATE_CODES, key=STATE_CODES.__getitem__) == list(STATES)


def test_readings_are_read_in_order(store):
    given = [
        *readings("fan-1", BEGIN, random_scores(50)),
        reading("fan-1", BEGIN + 50.25, "off", -80.0),
        reading("pump-1", BEGIN + 3, "alarm", -3.0, score=9.0, smoothed=8.0, p_value=0.0),
    ]
    store.add_readings(given[30:])
    store.add_readings(given[:30])
    assert list(store.readings("fan-1", BEGIN, BEGIN + HOUR)) == given[:51]
    assert list(store.readings("fan-1", BEGIN + 10, BEGIN + 12)) == given[10:12]
    assert list(store.readings("pump-1", BEGIN, BEGIN + HOUR)) == given[51:]
    assert list(store.readings("unknown", BEGIN, BEGIN + HOUR)) == []


def test_long_spans_of_readings_come_in_pages(store, monkeypatch):
    monkeypatch.setattr("ssdpt.monitor.store.readings._PAGE", 100)
    given = readings("fan-1", BEGIN, random_scores(301))
    store.add_readings(given)
    for count in (301, 300, 99):
        assert list(store.readings("fan-1", BEGIN, BEGIN + count)) == given[:count]


def test_a_page_ends_at_any_millisecond_and_the_next_is_read_when_it_is_needed(store, monkeypatch):
    monkeypatch.setattr("ssdpt.monitor.store.readings._PAGE", 2)
    given = [reading("fan-1", BEGIN + n / 1000) for n in range(6)]
    store.add_readings(given[:4] + given[5:])
    read = store.readings("fan-1", BEGIN, BEGIN + 1)
    first = next(read)
    store.add_readings(given[4:5])
    assert [first, *read] == given


def test_the_same_readings_sent_again_change_nothing(store):
    given = readings("fan-1", BEGIN, random_scores(10))
    store.add_readings(given)
    store.add_readings([*given, *readings("fan-1", BEGIN + 5, random_scores(10, seed=1))])
    assert len(rows(store, seconds)) == 15
    assert list(store.readings("fan-1", BEGIN, BEGIN + 10)) == given


def test_numbers_that_are_not_finite_become_none(store):
    store.add_readings(
        [reading("fan-1", BEGIN, "normal", -np.inf, score=np.nan, smoothed=np.inf, p_value=np.nan)],
    )
    store.add_readings([reading("fan-1", BEGIN + n, "normal", [np.nan, np.inf][n]) for n in (0, 1)])
    [stored] = store.readings("fan-1", BEGIN, BEGIN + 1)
    assert stored == reading("fan-1", BEGIN, "normal", -120.0)


def test_wrong_times_and_ids_are_refused(store):
    for time in (-1.0, 1e15, np.nan):
        with pytest.raises(SsdptError, match="check the clock"):
            store.add_readings([reading("fan-1", time, "normal", -30.0)])
    with pytest.raises(SsdptError, match="an id has at most 64"):
        store.add_readings([reading("../fan", BEGIN, "normal", -30.0)])
    with pytest.raises(SsdptError, match="cannot show a trend"):
        store.trend("fan-1", BEGIN, BEGIN)


def test_a_trend_of_seconds(store):
    store.add_readings(readings("fan-1", BEGIN, [1.0, 2.0, None, 4.0]))
    trend = store.trend("fan-1", BEGIN, BEGIN + 60, points=60)
    assert trend.seconds_per_point == 1
    np.testing.assert_array_equal(trend.time - BEGIN, [0, 1, 2, 3])
    np.testing.assert_array_equal(trend.mean, [1, 2, np.nan, 4])
    assert trend.state == ("normal",) * 4
    short = store.trend("fan-1", BEGIN, BEGIN + 60, points=30)
    np.testing.assert_array_equal(short.time - BEGIN, [0, 2])
    np.testing.assert_array_equal(short.low, [1, 4])
    np.testing.assert_array_equal(short.mean, [1.5, 4])
    np.testing.assert_array_equal(short.high, [2, 4])


@pytest.mark.parametrize("rolled_up", [False, True])
def test_a_trend_ends_where_it_is_told_to(store, rolled_up):
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 3 * HOUR))
    if rolled_up:
        store.roll_up(BEGIN + 4 * HOUR)
    for length, points in ((60, 60), (600, 10), (2 * HOUR, 2)):
        trend = store.trend("fan-1", BEGIN, BEGIN + length, points)
        np.testing.assert_array_equal(
            trend.time - BEGIN, np.arange(points) * trend.seconds_per_point
        )


def test_a_trend_of_an_unknown_machine_is_empty(store):
    trend = store.trend("fan-9", BEGIN, BEGIN + 60)
    assert len(trend.time) == len(trend.low) == len(trend.state) == 0


def test_a_trend_is_the_same_before_during_and_after_roll_up(store):
    """Of four hours with a gap, a machine that is off, and an alarm."""
    scores = np.array(random_scores(4 * HOUR))
    given = readings("fan-1", BEGIN, scores.tolist())
    del given[5000:6000]
    given[100] = reading("fan-1", BEGIN + 100, "alarm", -30.0, score=5.0, smoothed=5.0, p_value=0.0)
    given[300:500] = [reading("fan-1", BEGIN + n, "off", -90.0) for n in range(300, 500)]
    store.add_readings(given)
    store.add_readings(readings("pump-1", BEGIN, [99.0] * 100))

    points = (4, 9, 200, 3000)
    before = [store.trend("fan-1", BEGIN, BEGIN + 4 * HOUR, count) for count in points]
    assert [trend.seconds_per_point for trend in before] == [3600, 1800, 120, 5]
    for now in (1.5 * HOUR, 3.2 * HOUR, 4 * HOUR + 100):
        store.roll_up(BEGIN + now)
        for count, old in zip(points, before, strict=True):
            after = store.trend("fan-1", BEGIN, BEGIN + 4 * HOUR, count)
            assert after.seconds_per_point == old.seconds_per_point
            assert after.state == old.state
            for name in ("time", "low", "mean", "high", "alert_seconds", "alarm_seconds"):
                np.testing.assert_allclose(getattr(after, name), getattr(old, name), rtol=1e-5)
    # And it agrees with the readings.
    scored = [one for one in given if one.smoothed is not None]
    assert np.nanmax(after.high) == pytest.approx(max(one.smoothed for one in scored))
    assert np.nanmin(after.low) == pytest.approx(min(one.smoothed for one in scored))
    assert "alarm" in after.state


def test_rolling_up_twice_changes_nothing(store):
    store.add_readings(readings("fan-1", BEGIN, random_scores(2 * HOUR)))
    store.roll_up(BEGIN + 2 * HOUR + 60)
    before = rows(store, minutes), rows(store, hours)
    assert (len(before[0]), len(before[1])) == (120, 2)
    store.roll_up(BEGIN + 2 * HOUR + 60)
    assert (rows(store, minutes), rows(store, hours)) == before


def test_a_minute_waits_for_the_last_of_its_readings(store):
    store.add_readings(readings("fan-1", BEGIN, random_scores(60)))
    store.roll_up(BEGIN + 65)
    assert rows(store, minutes) == []
    store.roll_up(BEGIN + 70)
    assert len(rows(store, minutes)) == 1


def test_late_readings_are_rolled_up_into_minutes_and_hours(store):
    given = readings("fan-1", BEGIN, random_scores(2 * HOUR))
    store.add_readings(given[:1000] + given[1090:])
    store.roll_up(BEGIN + 3 * HOUR)
    store.add_readings(given[1000:1090])
    whole = rows(store, minutes), rows(store, hours)
    assert [row.readings for row in whole[0]] == [60] * 120
    assert [row.readings for row in whole[1]] == [3600] * 2
    first = [reading.smoothed for reading in given[:3600]]
    assert whole[1][0].mean == pytest.approx(np.mean(first), abs=1e-6)
    assert whole[1][0].high == pytest.approx(max(first))


def test_readings_and_roll_ups_at_the_same_time_lose_nothing(store):
    """Each thread brings every fourth second; the roll-up runs ahead of all of them."""
    given = readings("fan-1", BEGIN, random_scores(1200))

    def bring(part):
        for first in range(0, len(given), 60):
            store.add_readings(given[first + part : first + 60 : 4])
            store.roll_up(BEGIN + first + 130)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(bring, range(4)))
    store.roll_up(BEGIN + 2 * HOUR)
    assert [row.readings for row in rows(store, minutes)] == [60] * 20


def test_roll_up_of_a_long_backlog_goes_on_after_a_failure(store, monkeypatch):
    """Two days in one go: portions that were done are not done again."""
    given = [
        reading("fan-1", BEGIN + 60 * n, "normal", -30.0, score=1.0, smoothed=1.0)
        for n in range(2 * 1440)
    ]
    store.add_readings(given)
    write, left = store.database.write, [3]

    def failing(**options):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("killed")
        return write(**options)

    monkeypatch.setattr(store.database, "write", failing)
    with pytest.raises(RuntimeError):
        store.roll_up(BEGIN + 3 * 86400)
    monkeypatch.undo()
    made = len(rows(store, minutes))
    assert 0 < made < len(given)
    store.roll_up(BEGIN + 3 * 86400)
    assert len(rows(store, minutes)) == len(given)
    assert sum(row.readings for row in rows(store, hours)) == len(given)


def test_another_process_reads_what_one_writes(store, url, folder):
    store.add_readings(readings("fan-1", BEGIN, [1.0]))
    with Store.open(url, folder) as other:
        assert len(list(other.readings("fan-1", BEGIN, BEGIN + 1))) == 1
        other.add_readings(readings("fan-2", BEGIN, [1.0]))
    assert len(list(store.readings("fan-2", BEGIN, BEGIN + 1))) == 1


def test_thirteen_seconds_above_a_threshold_are_thirteen_on_every_span(store):
    given = readings("fan-1", BEGIN, [0.0] * (2 * HOUR))
    for second in (*range(100, 105), *range(3700, 3708)):  # two stretches, in two hours
        given[second] = reading("fan-1", BEGIN + second, "alert", score=5.0, smoothed=5.0)
    given[101] = reading("fan-1", BEGIN + 101, "alarm", score=9.0, smoothed=9.0)
    store.add_readings(given)

    def total(days, points):
        trend = store.trend("fan-1", BEGIN - days * 86400, BEGIN + 2 * HOUR, points)
        return trend.alert_seconds.sum(), trend.alarm_seconds.sum()

    for now in (0, HOUR + 1000, 3 * HOUR):  # nothing rolled up, a part of it, all
        store.roll_up(BEGIN + now)
        for days, points in ((0, 600), (0, 10), (1, 600), (30, 600), (365, 600), (3650, 10)):
            assert total(days, points) == (12, 1)
    store.retain(BEGIN + 10 * 86400, RetentionSettings(seconds_days=1), lambda: 10**12)
    assert total(365, 600) == (12, 1)


def test_the_time_above_a_threshold_of_occasional_recordings_is_their_own_length(store):
    for hour in range(24):
        state = "alarm" if hour == 5 else "normal"
        store.add_readings(readings("fan-1", BEGIN + hour * HOUR, [None] * 9 + [1.0], state))
    store.roll_up(BEGIN + 25 * HOUR)
    trend = store.trend("fan-1", BEGIN, BEGIN + 86400, points=24)
    assert trend.seconds_per_point == HOUR
    assert trend.alarm_seconds.tolist() == [0] * 5 + [10] + [0] * 18


def test_the_highest_score_of_each_day(store):
    for day, high in ((0, 3.0), (1, 2.5), (4, 7.25)):
        begin = BEGIN - BEGIN % 86400 + day * 86400
        store.add_readings(readings("fan-1", begin, [1.0, high, 2.0]))
    store.add_readings([reading("fan-1", BEGIN - BEGIN % 86400 + 5 * 86400, "off", -80.0)])
    assert store.daily_maxima("fan-1") == []
    store.roll_up(BEGIN + 6 * 86400)
    assert store.daily_maxima("fan-1") == [3.0, 2.5, 7.25]
    assert store.daily_maxima("fan-1", days=2) == [7.25]
    assert store.daily_maxima("unknown") == []


def test_the_highest_scores_are_those_of_the_machine_and_of_ninety_days(store):
    today = BEGIN - BEGIN % 86400
    given = []
    for day in range(92):
        begin = today + day * 86400
        for hour in (3, 9, 20):
            given += readings("fan-1", begin + hour * HOUR, [day - hour / 100])
        given += readings("pump-1", begin, [1000.0 + day])
    store.add_readings(given)
    store.roll_up(today + 92 * 86400)
    highest = [day - 0.03 for day in range(92)]
    assert store.daily_maxima("fan-1") == pytest.approx(highest[-90:])
    assert store.daily_maxima("fan-1", days=3) == pytest.approx(highest[-3:])
    assert store.daily_maxima("fan-1", days=1) == pytest.approx(highest[-1:])
