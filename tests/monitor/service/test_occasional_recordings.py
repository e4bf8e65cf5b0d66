"""Single recordings an hour apart: each is judged when it has come, once, and by itself."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.data import audio
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.messages import EventChanged, ReadingTaken, StateChanged
from ssdpt.monitor.sources.folder_source import FolderSettings
from ssdpt.monitor.sources.pushed_source import PushedSettings
from waiting import wait_until

RATE, HOUR = 16000, 3600.0
BEGAN = time.time() // HOUR * HOUR - 60 * HOUR


def sound(seconds, seed, tone=0.0, rate=RATE):
    """A hiss, and a whistle where something is wrong: (samples,)."""
    rng = np.random.default_rng(seed)
    count = round(seconds * rate)
    wave = 0.02 * rng.standard_normal(count) * (1 + 0.3 * rng.standard_normal())
    return (wave + tone * np.sin(2 * np.pi * 2500 * np.arange(count) / rate)).astype(np.float32)


class Press:
    """A machine that is sent a recording every hour, and has learned how it sounds."""

    def __init__(self, service, folder=None):
        self.folder = folder
        self.sent = 0
        self.messages = []
        self.attach(service)
        service.api.start_learning("press", 1.0)
        for _ in range(6):
            self.send()
        wait_until(lambda: service.api.machine_status("press").thresholds)
        self.messages.clear()

    def attach(self, service):
        """Send to this service from now on."""
        self.service, self.store = service, service.store
        publish = service._publisher.publish

        def noted(message):
            self.messages.append(message)
            publish(message)

        service._publisher.publish = noted

    def send(self, seconds=10.0, tone=0.0, rate=RATE):
        """One recording; what was published about it."""
        first = len(self.messages)
        before = self.service.loop.readings
        samples = sound(seconds, self.sent, tone, rate)
        begin = BEGAN + self.sent * HOUR
        self.sent += 1
        if self.folder is None:
            self.service.api.push("press", samples[:, None], rate, 1, begin)
        else:
            hidden = self.folder / ".press.flac"
            hidden.write_bytes(audio.flac_bytes(samples, rate))
            os.utime(hidden, (begin + seconds, begin + seconds))
            hidden.rename(self.folder / f"{self.sent}.flac")
        wait_until(lambda: self.service.loop.readings >= before + round(seconds))
        return self.messages[first:]


def readings(messages):
    return [message.reading for message in messages if isinstance(message, ReadingTaken)]


def events(messages):
    return [message.event for message in messages if isinstance(message, EventChanged)]


def open_press(opened, source, **alarm):
    settings = MachineSettings(id="press", source=source, alarm=AlarmSettings(**alarm))
    service = opened(MonitorConfig(machines=(settings,)))
    folder = getattr(source, "path", None)
    if folder is not None:
        wait_until(lambda: service.machines["press"].capture.source.status.connected)
    return Press(service, folder)


@pytest.mark.parametrize(("kind", "seconds"), [("pushed", 10.0), ("pushed", 9.9), ("folder", 9.9)])
def test_an_unusual_recording_begins_an_event_and_a_normal_one_ends_it(
    opened, tmp_path, kind, seconds
):
    source = PushedSettings()
    if kind == "folder":
        (tmp_path / "recordings").mkdir()
        source = FolderSettings(path=tmp_path / "recordings")
    press = open_press(opened, source)
    normal = readings(press.send(seconds))
    # All seconds of the recording have the state that it was given as a whole, judged once.
    assert [reading.state for reading in normal] == ["normal"] * 10
    assert [reading.score is not None for reading in normal] == [False] * 9 + [True]
    unusual = press.send(seconds, tone=0.05)
    (begun,) = events(unusual)
    assert (begun.kind, begun.ended) == ("anomaly", None)
    assert begun.began == readings(unusual)[-1].time
    assert [reading.state for reading in readings(unusual)] == [begun.level] * 10
    (ended,) = [event for event in events(press.send(seconds)) if event.ended is not None]
    assert (ended.id, len(ended.episodes)) == (begun.id, 1)
    states = [message.state for message in press.messages if isinstance(message, StateChanged)]
    assert states == ["normal", begun.level, "normal"]  # neither lost, nor off, nor starting
    assert press.service._writer.flush()
    trend = press.store.trend("press", BEGAN, BEGAN + 60 * HOUR, points=60)
    assert trend.alert_seconds.sum() + trend.alarm_seconds.sum() == 10


def test_unusual_recordings_between_normal_ones_are_one_event(opened):
    press = open_press(opened, PushedSettings())
    for tone in (0.0, 0.05, 0.0, 0.05, 0.05, 0.0):
        press.send(tone=tone)
    assert press.service._writer.flush()
    (event,) = press.store.events(kind="anomaly")
    assert [round((one.ended - one.began) / HOUR) for one in event.episodes] == [1, 2]
    assert (event.ended, event.may_continue) == (event.episodes[-1].ended, True)


def test_an_event_continues_after_a_restart(opened):
    press = open_press(opened, PushedSettings())
    press.send()
    (begun,) = events(press.send(tone=0.05))
    press.send()
    config = press.service.config
    opened.close()
    press.attach(opened(config))
    (again,) = events(press.send(tone=0.05))
    assert (again.id, again.ended, len(again.episodes)) == (begun.id, None, 2)


def test_the_recording_and_the_picture_of_an_event_begin_with_sound(opened):
    """The hour of silence before it is not a part of it."""
    press = open_press(opened, PushedSettings())
    press.send()
    (event,) = events(press.send(tone=0.05))
    press.service.machines["press"].capture.last_chunk_at -= 60  # nothing more comes
    path = wait_until(lambda: press.store.attachment(event.id, "audio"))
    samples = audio.read(path, RATE)
    assert len(samples) / RATE == pytest.approx(10.0, abs=0.1)
    assert np.abs(samples[:100]).max() > 0.001
    wait_until(lambda: press.store.event(event.id).has_audio)
    stored = press.store.event(event.id)
    assert stored.audio_begin == pytest.approx(event.began - 10.0, abs=0.05)
    picture = press.service.api.event_spectrogram(event.id)
    assert picture.begin == stored.audio_begin
    assert np.mean(picture.columns[0]) > 0.5 * np.mean(picture.columns)


def test_a_recording_shorter_than_a_clip_is_not_judged(opened):
    press = open_press(opened, PushedSettings())
    press.send()
    press.send(5.0, tone=0.05)
    short = wait_until(lambda: [one for one in readings(press.messages) if one.state == "starting"])
    assert len(short) == 5
    assert press.service.api.machine_status("press").state == "normal"  # as it was judged last
    assert not events(press.messages)
    assert readings(press.send())[-1].state == "normal"


def test_recordings_at_another_rate_are_judged_too(opened):
    press = open_press(opened, PushedSettings())
    assert readings(press.send(rate=44100))[-1].score is not None
