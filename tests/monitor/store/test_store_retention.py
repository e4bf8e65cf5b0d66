"""What is removed by age and on a full disk; never recordings of unacknowledged events."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import func, select
from store_data import BEGIN, acknowledged, event, reading, readings, recording

from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.store.retention import RemovedAudio
from ssdpt.monitor.store.tables import hours, minutes, seconds

DAY = 86400.0
SETTINGS = RetentionSettings()
PLENTY = 10**12


def count(store, table):
    with store.database.read() as connection:
        return connection.scalar(select(func.count()).select_from(table))


def retain(store, now, settings=SETTINGS, free=PLENTY):
    return store.retain(now, settings, lambda: free)


def with_audio(store, number, **changes):
    store.save_event(event(number, audio_begin=BEGIN - 10, **changes))
    return store.attach(event(number).id, "audio", b"x" * 1000, ".flac")


def seen(ended=True):
    """Changes that make an event an acknowledged one."""
    return {
        "acknowledged": acknowledged(at=BEGIN + 100),
        "ended": BEGIN + 50 if ended else None,
    }


class Disk:
    """Has more free space with every file that is removed."""

    def __init__(self, store, free):
        self.files, self.free = store.files, free
        self.used = self._used()

    def _used(self):
        return sum(self.files.path(key).stat().st_size for key in self.files)

    def __call__(self):
        return self.free + self.used - self._used()


def test_old_seconds_are_removed_and_their_minutes_stay(store):
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 300))
    store.add_readings(readings("fan-1", BEGIN + 7 * DAY, [2.0] * 300))
    removed = retain(store, BEGIN + 7 * DAY + 400)
    assert (removed.seconds, removed.minutes, removed.audio, removed.message) == (300, 0, (), None)
    assert (count(store, seconds), count(store, minutes)) == (300, 10)
    assert retain(store, BEGIN + 7 * DAY + 400).seconds == 0


def test_of_all_machines_whole_minutes_are_removed(store):
    for machine in ("fan-1", "pump-1"):
        store.add_readings(readings(machine, BEGIN, [1.0] * 300))
    store.roll_up(BEGIN + 400)
    removed = retain(store, BEGIN + 7 * DAY + 150)  # in the middle of the third minute
    assert removed.seconds == 240
    for machine in ("fan-1", "pump-1"):
        left = [one.time - BEGIN for one in store.readings(machine, BEGIN, BEGIN + 300)]
        assert left == list(range(120, 300))


def test_old_minutes_are_removed_and_hours_stay_for_ever(store):
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 300))
    removed = retain(store, BEGIN + 366 * DAY)
    assert (removed.seconds, removed.minutes) == (300, 5)
    assert [count(store, table) for table in (seconds, minutes, hours)] == [0, 0, 1]
    assert retain(store, BEGIN + 20 * 365 * DAY).minutes == 0
    assert count(store, hours) == 1


def test_trends_use_rows_that_still_exist(store):
    scores = np.random.default_rng(0).normal(0, 1, 600)
    store.add_readings(readings("fan-1", BEGIN, scores.tolist()))
    for days, finest in ((1, 1), (8, 60), (366, 3600)):
        retain(store, BEGIN + days * DAY)
        trend = store.trend("fan-1", BEGIN, BEGIN + 600)
        assert trend.seconds_per_point == finest
        assert np.nanmax(trend.high) == pytest.approx(scores.max(), rel=1e-6)
        assert np.nanmin(trend.low) == pytest.approx(scores.min(), rel=1e-6)


def test_nothing_is_removed_before_it_is_rolled_up(store):
    """After the clock was set back, the minute of these readings is not over."""
    settings = RetentionSettings(seconds_days=1e-5, minutes_days=1e-5)
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 30))
    assert retain(store, BEGIN + 35, settings).seconds == 0
    store.roll_up(BEGIN + 120)
    removed = retain(store, BEGIN + 130, settings)
    assert (removed.seconds, removed.minutes) == (30, 0)  # its hour is not over either
    assert count(store, minutes) == 1


def test_a_few_late_readings_do_not_replace_a_whole_minute(store):
    store.add_readings(readings("fan-1", BEGIN, [1.0] * 60))
    retain(store, BEGIN + 8 * DAY)
    store.add_readings([reading("fan-1", BEGIN + 30.5, "normal", -30.0, score=9.0, smoothed=9.0)])
    trend = store.trend("fan-1", BEGIN, BEGIN + 60)
    np.testing.assert_array_equal(trend.mean, [1.0])


def test_old_audio_of_acknowledged_events_is_removed(store):
    with_audio(store, 0, **seen())
    with_audio(store, 1, **seen(ended=False))
    with_audio(store, 2, ended=BEGIN + 50)  # unacknowledged
    with_audio(store, 3)
    with_audio(store, 4, **seen() | {"began": BEGIN + 300 * DAY})
    store.attach(event(0).id, "map", b"picture", ".npz")
    removed = retain(store, BEGIN + 366 * DAY)
    assert [(one.event, one.machine, one.bytes, one.reason) for one in removed.audio] == [
        (event(0).id, "fan-1", 1000, "age"),
        (event(1).id, "fan-1", 1000, "age"),
    ]
    assert "2 event recordings (0 MB) removed because of their age" in removed.message
    stored = [store.attachment(event(n).id, "audio") is not None for n in range(5)]
    assert stored == [False, False, True, True, True]
    assert store.event(event(0).id).audio_begin is None
    assert store.event(event(4).id).audio_begin is not None
    assert store.attachment(event(0).id, "map") is not None
    assert {(one.who, one.at, one.what, one.about) for one in store.actions()} == {
        ("retention", BEGIN + 366 * DAY, "remove audio (age)", event(0).id),
        ("retention", BEGIN + 366 * DAY, "remove audio (age)", event(1).id),
    }


def test_audio_is_old_when_it_is_older_than_the_days_and_not_before(store):
    with_audio(store, 0, **seen())
    store.keep_recording(recording(0, begin=BEGIN), b"fLaC", ".flac")
    settings = RetentionSettings(audio_days=30)
    assert retain(store, BEGIN + 30 * DAY, settings).audio == ()
    removed = retain(store, BEGIN + 30 * DAY + 0.5, settings)
    assert [(one.event, one.began) for one in removed.audio] == [
        (event(0).id, BEGIN),
        (None, BEGIN),
    ]


def test_kept_sound_goes_by_the_machine_it_is_of(store):
    """The log says what was removed, of which machine, when and why."""
    store.add_readings([reading("fan-1"), reading("pump-1")])
    for number, machine in enumerate(("pump-1", "fan-1")):
        store.keep_recording(recording(number, machine=machine), b"fLaC", ".flac")
    removed = retain(store, BEGIN + 366 * DAY)
    assert removed.audio == (
        RemovedAudio(None, "pump-1", BEGIN, 4, "age"),
        RemovedAudio(None, "fan-1", BEGIN + 1, 4, "age"),
    )
    assert [(one.who, one.at, one.what, one.about) for one in store.actions(2)] == [
        ("retention", BEGIN + 366 * DAY, "remove kept sound (age)", "fan-1"),
        ("retention", BEGIN + 366 * DAY, "remove kept sound (age)", "pump-1"),
    ]
    assert store.recordings("fan-1") == store.recordings("pump-1") == []


def test_on_a_full_disk_kept_sound_goes_last_and_the_oldest_of_it_first(store):
    store.keep_recording(recording(0, begin=BEGIN + 9), b"fLaC" * 200_000, ".flac")
    store.keep_recording(recording(1, begin=BEGIN + 3), b"fLaC" * 100_000, ".flac")
    with_audio(store, 0, **seen())
    disk = Disk(store, 0)
    removed = store.retain(BEGIN + DAY, RetentionSettings(min_free_mb=0.3), disk)
    assert removed.audio == (
        RemovedAudio(event(0).id, "fan-1", BEGIN, 1000, "disk"),
        RemovedAudio(None, "fan-1", BEGIN + 3, 400_000, "disk"),
    )
    assert removed.message == (
        "1 event recording (0 MB) removed to free disk space; "
        "1 kept recording (0.4 MB) removed to free disk space"
    )
    [done] = store.actions(1)
    assert (done.at, done.what, done.about) == (BEGIN + DAY, "remove kept sound (disk)", "fan-1")


def test_just_enough_space_is_enough(store):
    for number in range(2):
        with_audio(store, number, **seen())
    disk = Disk(store, 500_000)
    assert store.retain(BEGIN + DAY, RetentionSettings(min_free_mb=0.5), disk).audio == ()
    disk = Disk(store, 499_000)
    removed = store.retain(BEGIN + DAY, RetentionSettings(min_free_mb=0.5), disk)
    assert ([one.event for one in removed.audio], removed.disk_full) == ([event(0).id], False)


def test_the_oldest_events_go_first_in_whatever_order_they_were_stored(store):
    for number in (2, 0, 1):
        with_audio(store, 9 - number, **seen() | {"began": BEGIN + number})
    removed = store.retain(BEGIN + DAY, RetentionSettings(min_free_mb=1e12), lambda: 0)
    assert [one.began - BEGIN for one in removed.audio] == [0, 1, 2]


def test_on_a_full_disk_the_oldest_cleared_audio_is_removed_first(store):
    with_audio(store, 0)  # active: never
    with_audio(store, 1, **seen(ended=False))
    for number in (2, 3, 4):
        with_audio(store, number, **seen())
    disk = Disk(store, 498_500)
    removed = store.retain(BEGIN + DAY, RetentionSettings(min_free_mb=0.5), disk)
    assert [(one.event, one.reason) for one in removed.audio] == [
        (event(2).id, "disk"),
        (event(3).id, "disk"),
    ]
    assert not removed.disk_full
    assert "to free disk space" in removed.message

    removed = store.retain(BEGIN + DAY, RetentionSettings(min_free_mb=500), disk)
    assert [one.event for one in removed.audio] == [event(4).id, event(1).id]
    assert removed.disk_full
    assert "acknowledge some" in removed.message
    assert store.attachment(event(0).id, "audio") is not None


def test_removal_continues_after_a_kill_between_file_and_row(store):
    key = with_audio(store, 0, **seen())
    store.files.remove(key)
    removed = retain(store, BEGIN + 366 * DAY)
    assert [one.event for one in removed.audio] == [event(0).id]
    assert retain(store, BEGIN + 366 * DAY).audio == ()


def test_the_free_space_of_the_real_disk_is_used(store):
    with_audio(store, 0, **seen())
    assert not store.retain(BEGIN + DAY, RetentionSettings(min_free_mb=0)).disk_full
    removed = store.retain(BEGIN + DAY, RetentionSettings(min_free_mb=1e12))
    assert (len(removed.audio), removed.disk_full) == (1, True)
