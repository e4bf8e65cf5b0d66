"""Sound that comes in recordings: learned, judged and kept though there are gaps between them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.sources.pushed_source import PushedSettings
from waiting import wait_until

RATE = 16000


def noise(seconds, seed, tone=0.0):
    """A hiss, and a whistle where something is wrong."""
    rng = np.random.default_rng(seed)
    wave = 0.02 * rng.standard_normal(seconds * RATE) * (1 + 0.3 * rng.standard_normal())
    whistle = np.sin(2 * np.pi * 2500 * np.arange(seconds * RATE) / RATE)
    return (wave + tone * whistle).astype(np.float32)[:, None]


@pytest.fixture
def press(opened):
    """A machine that is sent recordings of ten seconds, a minute apart."""
    settings = MachineSettings(id="press", source=PushedSettings(), alarm=AlarmSettings())
    monitor = opened(MonitorConfig(machines=(settings,)))
    monitor.sent = 0
    # Recordings of the last two hours, so that none lies in the future.
    began = time.time() - 7200

    def send(seconds=10, tone=0.0):
        before = monitor.loop.readings
        monitor.api.push(
            "press", noise(seconds, monitor.sent, tone), RATE, 1, began + 60 * monitor.sent
        )
        monitor.sent += 1
        wait_until(lambda: monitor.loop.readings >= before + seconds)

    monitor.send = send
    return monitor


def test_recordings_of_one_clip_are_learned_without_the_gaps_and_judged(press):
    press.api.start_learning("press", 2.0)
    assert press.api.machine_status("press").state == "learning"
    collector = press.machines["press"].collector
    for _ in range(12):
        press.send()
    wait_until(lambda: len(collector.clips) == collector.wanted == 12)
    assert all(np.mean(clip == 0) < 0.01 for clip in collector.clips)
    wait_until(lambda: press.api.machine_status("press").thresholds)
    # Nothing more has come, and it no longer learns.
    assert press.api.machine_status("press").state == "starting"
    for _ in range(3):
        press.send()
        assert press.api.machine_status("press").state == "normal"
    for _ in range(3):
        press.send(tone=0.05)
    event = wait_until(lambda: press.store.events(kind="anomaly"))[0]
    # What changed is known from the first message on, not only once the event is recorded.
    assert event.message.startswith("Unusual sound: new tone at 2.5 kHz, ")
    (finding, *_) = press.machines["press"].events.get(event.id).findings
    assert (finding.code, finding.hz) == ("tone", pytest.approx(2500, abs=2))
    # No more sound comes that could follow it: it is recorded all the same.
    press.machines["press"].capture.last_chunk_at -= 60
    wait_until(lambda: press.store.attachment(event.id, "audio"))


def test_much_at_once_is_heard_second_by_second(press):
    press.send(50)
    assert press.loop.readings == 50
