"""Snapshots that other programs send: each push is one."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from bearing import RATE, bearing
from hand_clock import NOON, HandClock

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, SensorSettings
from ssdpt.monitor.service.check import CheckResult, check_connections
from ssdpt.monitor.sources import open_snapshots, open_source, pushed_source, snapshot_message
from ssdpt.monitor.sources.base import PushableSource, SnapshotReceiver
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.sources.simulated_source import SimulatedSettings
from ssdpt.monitor.sources.snapshot_message import SnapshotMessage

SENSOR = SensorSettings(unit="g", full_scale=50, snapshots=True)


@pytest.fixture
def source():
    return open_snapshots(PushedSettings(), SENSOR, HandClock())


def taken(source, count):
    stop = threading.Event()
    items = source.snapshots(stop)
    result = [next(items) for _ in range(count)]
    stop.set()
    assert list(items) == []
    return result


def test_channels_are_axes_at_their_own_rate(source):
    frames = np.stack([bearing(1), bearing(2)], axis=1)
    assert source.push(frames, RATE, 2, NOON - 5) == pytest.approx(0.1)
    assert source.push((bearing(3) * 32767).astype(np.int16), 25_600) == pytest.approx(0.05)
    first, second = taken(source, 2)
    np.testing.assert_array_equal(first.samples, frames.T)
    assert (first.sample_rate, first.time) == (RATE, NOON - 5)
    assert (second.sample_rate, second.end) == (25_600, pytest.approx(NOON))
    np.testing.assert_allclose(second.samples[0], bearing(3), atol=1e-4)
    assert not source.status.connected


def test_messages_are_in_the_unit_of_the_sensor(source):
    message = SnapshotMessage(time=NOON, sample_rate=RATE, axes={"x": (5.0,), "y": (0.0,)})
    assert source.push_message(message) == 1 / RATE
    (snapshot,) = taken(source, 1)
    np.testing.assert_allclose(snapshot.samples, [[0.1], [0.0]])
    assert snapshot.axes == ("x", "y")
    assert (source.status.rate_in, source.status.channels_in) == (RATE, 2)


def test_more_than_can_wait_are_refused(monkeypatch):
    monkeypatch.setattr(pushed_source, "_MOST_WAITING_SNAPSHOTS", 2)
    source = open_snapshots(PushedSettings(), SENSOR)
    for _ in range(2):
        source.push(bearing(0), RATE)
    with pytest.raises(SsdptError, match="2 snapshots are waiting to be processed"):
        source.push(bearing(0), RATE)
    assert len(taken(source, 2)) == 2


def test_what_waits_has_a_bounded_number_of_values(source, monkeypatch):
    monkeypatch.setattr(pushed_source, "_MOST_WAITING_VALUES", 5 * len(bearing(0)) // 2)
    for _ in range(2):
        source.push(bearing(0), RATE)
    with pytest.raises(SsdptError, match="2 snapshots are waiting to be processed"):
        source.push(bearing(0), RATE)
    assert len(taken(source, 2)) == 2
    source.push(bearing(0), RATE)


def test_a_snapshot_is_no_longer_than_one_in_a_file(source, monkeypatch):
    monkeypatch.setattr(snapshot_message, "MOST_VALUES", len(bearing(0)))
    source.push(bearing(0), RATE)
    with pytest.raises(SsdptError, match="values is too long; send at most"):
        source.push(np.stack([bearing(0), bearing(1)], axis=1), RATE, 2)


def test_samples_that_are_no_whole_frames_are_refused(source):
    with pytest.raises(SsdptError, match="are not a multiple of 3 channels"):
        source.push(bearing(0), RATE, 3)
    with pytest.raises(SsdptError, match="Hz is not supported"):
        source.push(bearing(0), 10)


def test_a_source_takes_what_its_kind_is_opened_for(source):
    assert isinstance(source, SnapshotReceiver)
    assert isinstance(source, PushableSource)
    assert not isinstance(open_source(PushedSettings(), 16_000), SnapshotReceiver)
    with pytest.raises(SsdptError, match="a source of kind simulated gives no snapshots"):
        open_snapshots(SimulatedSettings(), SENSOR)


def test_the_check_opens_it():
    machine = MachineSettings(id="m0", source=PushedSettings(), sensor=SENSOR)
    (result,) = check_connections(MonitorConfig(machines=(machine,)))
    assert result == CheckResult("m0", "waiting for the first snapshot", True)
