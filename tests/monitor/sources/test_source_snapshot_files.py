"""Snapshots in files: replayed, and watched for in a folder."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from bearing import bearing
from hand_clock import NOON, HandClock

from sounds import write_clip
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.sources import open_snapshots
from ssdpt.monitor.sources.folder_source import FolderSettings
from ssdpt.monitor.sources.replay_source import ReplaySettings
from ssdpt.monitor.sources.snapshot import Unusable

RATE = 12_800
SENSOR = SensorSettings(unit="g", full_scale=50, snapshots=True)


def replay(path, clock=None, **settings):
    return open_snapshots(ReplaySettings(path=path, **settings), SENSOR, clock or HandClock())


def played(source):
    return list(source.snapshots(threading.Event()))


def test_a_run_is_played_snapshot_by_snapshot(tmp_path):
    life = np.concatenate([bearing(number) for number in range(5)])
    path = write_clip(tmp_path / "life.wav", np.append(life, life[:100]), rate=RATE)
    clock = HandClock()
    source = replay(path, clock, snapshot=0.1, every=10, speed=20)
    snapshots = played(source)
    assert [one.time - NOON for one in snapshots] == pytest.approx([0, 10, 20, 30, 40])
    assert {one.samples.shape for one in snapshots} == {(1, 1280)}
    np.testing.assert_allclose(snapshots[2].samples[0], bearing(2), atol=1e-4)
    assert clock.now == pytest.approx(40.1 / 20)
    assert "played to its end" in source.status.message
    assert source.probe(1.0) == "playing life.wav, 5 snapshots"


def test_sensor_yaml_says_how_long_a_snapshot_is_and_what_it_means(tmp_path):
    path = write_clip(tmp_path / "life.wav", bearing(0), rate=RATE)
    (tmp_path / "sensor.yaml").write_text(
        "{unit: m/s², full_scale: 981, snapshot: 0.05, every: 60, axes: [x]}"
    )
    first, second = played(replay(path))
    assert second.time - first.time == pytest.approx(60)
    assert first.axes == ("x",)
    np.testing.assert_allclose(first.samples[0], 2 * bearing(0)[:640], rtol=1e-3, atol=1e-3)


def test_a_folder_is_played_in_the_order_a_person_numbers_it(tmp_path):
    for number in (2, 10, 1):
        write_clip(tmp_path / f"s_{number}.wav", bearing(number), rate=RATE)
    snapshots = played(replay(tmp_path, every=30))
    assert [one.time - NOON for one in snapshots] == pytest.approx([0, 30, 60])
    np.testing.assert_allclose(snapshots[2].samples[0], bearing(10), atol=1e-4)


def test_times_in_names_are_kept(tmp_path):
    for name in ("2026-01-01_00-00-00", "2026-01-01_00-10-00", "2026-01-01_01-00-00"):
        write_clip(tmp_path / f"{name}.wav", bearing(0), rate=RATE)
    snapshots = played(replay(tmp_path))
    assert [one.time - NOON for one in snapshots] == pytest.approx([0, 600, 3600])


def test_all_channels_are_axes_and_a_dead_one_is_kept_as_zeros(tmp_path):
    frames = np.stack([bearing(0), np.zeros(1280, np.float32)], axis=1)
    path = write_clip(tmp_path / "a.wav", frames, rate=RATE)
    (snapshot,) = played(replay(path))
    assert snapshot.samples.shape == (2, 1280)
    assert not snapshot.samples[1].any()


def test_what_cannot_be_played_is_said(tmp_path):
    with pytest.raises(SsdptError, match="no such file or folder"):
        played(replay(tmp_path / "none"))
    with pytest.raises(SsdptError, match="it has no recordings to play"):
        played(replay(tmp_path))
    write_clip(tmp_path / "a.wav", bearing(0), rate=RATE)
    (tmp_path / "b.wav").write_bytes(b"RIFF....")
    good, bad = played(replay(tmp_path, every=10))
    assert good.samples.any()
    assert isinstance(bad, Unusable)
    assert "b.wav" in bad.reason
    with pytest.raises(SsdptError, match=r"nothing to play.*shorter than one snapshot of 5 s"):
        played(replay(tmp_path / "a.wav", snapshot=5, loop=True))


def test_a_loop_goes_on_without_going_back_in_time(tmp_path):
    path = write_clip(tmp_path / "a.wav", bearing(0), rate=RATE)
    stop = threading.Event()
    snapshots = replay(path, loop=True, every=10).snapshots(stop)
    times = [next(snapshots).time - NOON for _ in range(3)]
    assert times == pytest.approx([0, 10, 20])
    stop.set()
    assert list(snapshots) == []


class Watch:
    """A folder watched from 0 s on; `script` says what happens in it, by the second."""

    def __init__(self, folder, script, seconds=8.0):
        clock, stop = HandClock(), threading.Event()
        self.source = open_snapshots(FolderSettings(path=folder), SENSOR, clock)
        left = sorted(script.items())

        def happen():
            while left and left[0][0] <= clock.now:
                left.pop(0)[1]()
            if clock.now >= seconds:
                stop.set()

        clock.on_wait = happen
        self.items = list(self.source.snapshots(stop))


def put(path, at, samples=None, **options):
    """Write a recording that ended at the second `at` of the watch."""

    def write():
        write_clip(path, bearing(0) if samples is None else samples, rate=RATE, **options)
        os.utime(path, (NOON + at, NOON + at))

    return write


def test_each_new_file_is_a_snapshot(tmp_path):
    put(tmp_path / "old.wav", -5)()
    watch = Watch(
        tmp_path, {2.0: put(tmp_path / "b.wav", 2), 4.0: put(tmp_path / "a.flac", 4, bearing(1))}
    )
    assert [one.end - NOON for one in watch.items] == pytest.approx([2, 4])
    np.testing.assert_allclose(watch.items[1].samples[0], bearing(1), atol=1e-4)
    assert watch.items[0].sample_rate == RATE


def test_the_time_in_a_name_counts_and_orders(tmp_path):
    names = ["2026-01-01T00-10-00", "2026-01-01T00-00-00"]

    def both():
        for number, name in enumerate(names):
            put(tmp_path / f"{name}.wav", 2 + number)()

    first, second = Watch(tmp_path, {2.0: both}).items
    assert second.time - first.time == 600
    assert first.time == 1_767_225_600.0


def test_a_long_file_holds_several(tmp_path):
    (tmp_path / "sensor.yaml").write_text("{snapshot: 0.05, every: 1}")
    watch = Watch(tmp_path, {2.0: put(tmp_path / "a.wav", 2)})
    assert [one.end - NOON for one in watch.items] == pytest.approx([1, 2])


def test_a_broken_file_is_waited_for_and_then_reported(tmp_path):
    def broken():
        (tmp_path / "a.wav").write_bytes(b"RIFF....")
        os.utime(tmp_path / "a.wav", (NOON + 2, NOON + 2))

    (item,) = Watch(tmp_path, {2.0: broken}, seconds=20).items
    assert isinstance(item, Unusable)
    assert "a.wav" in item.reason
    (item,) = Watch(tmp_path, {3.0: broken, 5.0: put(tmp_path / "a.wav", 5)}, seconds=20).items
    assert item.samples.any()


def test_the_folder_is_checked(tmp_path):
    source = open_snapshots(FolderSettings(path=tmp_path), SENSOR)
    assert source.probe(1.0) == f"watching {tmp_path}"
    path = write_clip(tmp_path / "a.wav", bearing(0), rate=RATE)
    with pytest.raises(SsdptError, match="is a file; give the folder"):
        open_snapshots(FolderSettings(path=path), SENSOR).probe(1.0)
