"""What goes when: by age, and by a full disk; never what nobody has taken note of."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import func, select
from store_data import BEGIN, event, readings

from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.messages import Reading
from ssdpt.monitor.store.tables import hours, minutes, seconds

DAY = 86400.0
RULES = RetentionSettings()
PLENTY = 10**12


def count(store, table):
    with store.database.read() as connection:
        return connection.scalar(select(func.count()).select_from(table))


def retain(store, now, rules=RULES, free=PLENTY):
    return store.retain(now, rules, lambda: free)


def with_audio(store, number, **changes):
    store.save_event(event(number, audio_begin=BEGIN - 10, **changes))
    return store.attach(event(number).id, "audio", b"x" * 1000, ".flac")


def acknowledged(ended=True):
    return {
        "acknowledged_by": "Ada",
        "acknowledged_at": BEGIN + 100,
        "ended": BEGIN + 50 if ended else None,
    }


class Disk:
    """Has as much room as files are gone."""

    def __init__(self, store, free):
        self.files, self.free = store.files, free
        self.used = self._used()

    def _used(self):
        return sum(self.files.path(key).stat().st_size for key in self.files)

    def __call__(self):
        return self.free + self.used - self._used()


def test_old_seconds_go_and_their_minutes_stay(store):
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 300))
    store.add_readings(readings("fan-1", BEGIN + 7 * DAY, [2.0] * 300))
    gone = retain(store, BEGIN + 7 * DAY + 400)
    assert (gone.seconds, gone.minutes, gone.audio, gone.words) == (300, 0, (), "")
    assert (count(store, seconds), count(store, minutes)) == (300, 10)
    assert retain(store, BEGIN + 7 * DAY + 400).seconds == 0


def test_old_minutes_go_and_hours_stay_for_ever(store):
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 300))
    gone = retain(store, BEGIN + 366 * DAY)
    assert (gone.seconds, gone.minutes) == (300, 5)
    assert [count(store, table) for table in (seconds, minutes, hours)] == [0, 0, 1]
    assert retain(store, BEGIN + 20 * 365 * DAY).minutes == 0
    assert count(store, hours) == 1


def test_trends_choose_rows_that_are_still_there(store):
    scores = np.random.default_rng(0).normal(0, 1, 600)
    store.add_readings(readings("fan-1", BEGIN, scores.tolist()))
    for days, finest in ((1, 1), (8, 60), (366, 3600)):
        retain(store, BEGIN + days * DAY)
        trend = store.trend("fan-1", BEGIN, BEGIN + 600)
        assert trend.seconds_per_point == finest
        assert np.nanmax(trend.high) == pytest.approx(scores.max(), rel=1e-6)
        assert np.nanmin(trend.low) == pytest.approx(scores.min(), rel=1e-6)


def test_nothing_goes_that_is_not_summed_up(store):
    """A clock that was set back: the minute of these readings is not over."""
    rules = RetentionSettings(seconds_days=1e-5, minutes_days=1e-5)
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 30))
    assert retain(store, BEGIN + 35, rules).seconds == 0
    store.roll_up(BEGIN + 120)
    gone = retain(store, BEGIN + 130, rules)
    assert (gone.seconds, gone.minutes) == (30, 0)  # its hour is not over either
    assert count(store, minutes) == 1


def test_a_few_late_readings_do_not_replace_a_whole_minute(store):
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 60))
    retain(store, BEGIN + 8 * DAY)
    store.add_readings([Reading("fan-1", BEGIN + 30.5, "normal", -30.0, 9.0, 9.0)])
    trend = store.trend("fan-1", BEGIN, BEGIN + 60)
    np.testing.assert_array_equal(trend.mean, [1.0])


def test_old_audio_of_acknowledged_events_goes(store):
    with_audio(store, 0, **acknowledged())
    with_audio(store, 1, **acknowledged(ended=False))
    with_audio(store, 2, ended=BEGIN + 50)  # nobody has seen it
    with_audio(store, 3)
    with_audio(store, 4, **acknowledged() | {"began": BEGIN + 300 * DAY})
    store.attach(event(0).id, "map", b"picture", ".npz")
    gone = retain(store, BEGIN + 366 * DAY)
    assert [(one.event, one.machine, one.bytes, one.reason) for one in gone.audio] == [
        (event(0).id, "fan-1", 1000, "age"),
        (event(1).id, "fan-1", 1000, "age"),
    ]
    assert "2 recordings of events" in gone.words
    there = [store.attachment(event(n).id, "audio") is not None for n in range(5)]
    assert there == [False, False, True, True, True]
    assert store.event(event(0).id).audio_begin is None
    assert store.event(event(4).id).audio_begin is not None
    assert store.attachment(event(0).id, "map") is not None
    assert {(one.who, one.about) for one in store.actions()} == {
        ("retention", event(0).id),
        ("retention", event(1).id),
    }


def test_on_a_full_disk_the_oldest_cleared_audio_makes_way(store):
    with_audio(store, 0)  # active: never
    with_audio(store, 1, **acknowledged(ended=False))
    for number in (2, 3, 4):
        with_audio(store, number, **acknowledged())
    disk = Disk(store, 498_500)
    gone = store.retain(BEGIN + DAY, RetentionSettings(least_free_mb=0.5), disk)
    assert [(one.event, one.reason) for one in gone.audio] == [
        (event(2).id, "disk"),
        (event(3).id, "disk"),
    ]
    assert not gone.disk_full
    assert "full disk" in gone.words

    gone = store.retain(BEGIN + DAY, RetentionSettings(least_free_mb=500), disk)
    assert [one.event for one in gone.audio] == [event(4).id, event(1).id]
    assert gone.disk_full
    assert "acknowledge some" in gone.words
    assert store.attachment(event(0).id, "audio") is not None


def test_removal_goes_on_after_a_kill_between_file_and_row(store):
    key = with_audio(store, 0, **acknowledged())
    store.files.remove(key)
    gone = retain(store, BEGIN + 366 * DAY)
    assert [one.event for one in gone.audio] == [event(0).id]
    assert retain(store, BEGIN + 366 * DAY).audio == ()


def test_the_free_space_of_the_real_disk_is_asked_for(store):
    with_audio(store, 0, **acknowledged())
    assert not store.retain(BEGIN + DAY, RetentionSettings(least_free_mb=0)).disk_full
    gone = store.retain(BEGIN + DAY, RetentionSettings(least_free_mb=1e12))
    assert (len(gone.audio), gone.disk_full) == (1, True)
