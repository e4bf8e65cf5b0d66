"""Microphones, with a fake sound card."""

from __future__ import annotations

import sys
import threading
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hand_clock import HandClock, Listener, amplitude, ends_meet, joined, tone

from ssdpt.errors import SsdptError
from ssdpt.monitor.sources import microphone_source, open_source
from ssdpt.monitor.sources.microphone_source import MicrophoneSettings, MicrophoneSource
from waiting import wait_until

RATE = 16_000


class PortAudioError(Exception):
    pass


class SoundCard(ModuleType):
    """Stands in for the sounddevice module; plays what `script` says, then falls silent."""

    PortAudioError = PortAudioError

    def __init__(self, clock):
        super().__init__("sounddevice")
        self.clock = clock
        self.channels = 2
        self.rate = 44_100
        self.there = True
        self.script = []  # of each opening: (seconds before the block, samples, overflow)
        self.opened = []
        self.refuses = 0
        self.restarts = 0

    def query_devices(self, device, kind):
        assert kind == "input"
        if not self.there:
            raise ValueError("No input device matching 'usb'")
        if device == "mic":
            raise ValueError("Multiple input devices found for 'mic':\n[1] mic a\n[2] mic b")
        return {
            "name": "USB microphone",
            "max_input_channels": self.channels,
            "default_samplerate": float(self.rate),
        }

    def _terminate(self):
        self.restarts += 1

    def _initialize(self):
        self.there = True

    def InputStream(self, **settings):
        if self.refuses:
            self.refuses -= 1
            raise PortAudioError("Device unavailable [PaErrorCode -9985]")
        self.opened.append(settings)
        return _Stream(self, settings)


class _Stream:
    def __init__(self, card, settings):
        self.card, self.settings = card, settings

    def __enter__(self):
        for wait, samples, overflow in self.card.script.pop(0) if self.card.script else []:
            self.card.clock.now += wait
            frames = np.zeros((len(samples), self.settings["channels"]), np.float32)
            frames[:, -1] = samples
            flags = SimpleNamespace(input_overflow=overflow)
            self.settings["callback"](frames, len(frames), None, flags)
        return self

    def __exit__(self, *_):
        pass


def blocks(seconds, rate=44_100, hz=1000.0):
    whole = tone(hz, seconds, rate)
    return [(0.1, piece, False) for piece in np.split(whole, round(seconds * 10))]


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def card(monkeypatch, clock):
    card = SoundCard(clock)
    monkeypatch.setitem(sys.modules, "sounddevice", card)
    return card


def listen(clock, **settings):
    return Listener(open_source(MicrophoneSettings(**settings), RATE, clock))


def test_the_chosen_channel_is_received_at_the_wanted_rate(card, clock):
    card.script = [blocks(3.0)]
    with listen(clock, channel=1) as listener:
        wait_until(lambda: listener.seconds >= 2.75)
        status = listener.source.status
    assert amplitude(joined(listener.chunks), 1000, RATE) == pytest.approx(0.25, rel=0.01)
    assert ends_meet(listener.chunks, RATE)
    assert status.connected
    assert (status.rate_in, status.channels_in) == (44_100, 2)
    assert status.message == "the default microphone: USB microphone"
    assert card.opened[0]["device"] is None


def test_all_channels_of_a_card_are_recorded_but_not_those_of_a_server(card, clock):
    for there, opened in ((1, 1), (2, 2), (8, 8), (32, 2)):
        card.channels, card.script, card.opened = there, [blocks(1.0)], []
        with listen(clock) as listener:
            wait_until(lambda listener=listener: listener.seconds > 0)
        assert card.opened[0]["channels"] == opened


def test_an_overflow_is_a_gap(card, clock):
    lost = [(2.1, blocks(0.1)[0][1], True)]
    card.script = [blocks(2.0) + lost + blocks(2.0)]
    with listen(clock) as listener:
        wait_until(lambda: listener.seconds >= 3.75)
        assert listener.source.status.gaps == 1
    gaps = [chunk.gap for chunk in listener.chunks if chunk.gap]
    assert gaps == [pytest.approx(2.0, abs=0.3)]


def test_a_device_that_falls_silent_is_opened_again(card, clock):
    card.script = [blocks(1.0), blocks(1.0)]
    with listen(clock) as listener:
        wait_until(lambda: listener.seconds >= 0.75)
        wait_until(lambda: bool(listener.source.status.connected))
        clock.now += 5.0
        wait_until(lambda: listener.source.status.reconnects == 1)
        wait_until(lambda: listener.seconds >= 1.5)
    assert len(card.opened) == 2
    assert max(chunk.gap for chunk in listener.chunks) > 4.5


def test_a_device_that_is_in_use_is_tried_again(card, clock):
    card.refuses, card.script = 3, [blocks(1.0)]
    with listen(clock) as listener:
        wait_until(lambda: listener.seconds >= 0.75)
    assert clock.waits == pytest.approx([0.375, 0.75, 1.5], rel=0.34)  # half a wait, or all of it


def test_a_device_that_is_plugged_in_later_is_found(card, clock):
    card.there, card.script = False, [blocks(1.0)]
    with listen(clock, device="usb") as listener:
        wait_until(lambda: listener.seconds >= 0.75)
    assert card.restarts == 1
    assert card.opened[0]["device"] == "usb"


def test_others_are_not_cut_off_to_look_for_a_new_device(card, clock):
    card.there = False
    with microphone_source._counted_as_open():
        source = MicrophoneSource(MicrophoneSettings(device="usb"), RATE, clock)
        stop = threading.Event()
        clock.on_wait = lambda: stop.set() if len(clock.waits) == 3 else None
        assert list(source.chunks(stop)) == []
    assert card.restarts == 0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"channel": 5}, "no channel 5; it has 2 channels"),
        ({"device": "mic"}, "several devices match"),
    ],
)
def test_what_no_waiting_can_heal_is_refused(card, clock, settings, sentence):
    source = open_source(MicrophoneSettings(**settings), RATE, clock)
    with pytest.raises(SsdptError, match=sentence):
        next(source.chunks(threading.Event()))


def test_a_number_is_a_number(card, clock):
    card.script = [blocks(1.0)]
    with listen(clock, device=" 3 ") as listener:
        wait_until(lambda: listener.seconds > 0)
    assert card.opened[0]["device"] == 3


def test_sound_that_nobody_fetched_in_time_is_a_gap(card, clock):
    card.script = [blocks(40.0)]
    with listen(clock) as listener:
        wait_until(lambda: listener.seconds >= 29)
        assert listener.source.status.gaps == 0
        for _, samples, overflow in blocks(1.0):
            clock.now += 0.1
            frames = np.stack([samples, samples], axis=1)
            flags = SimpleNamespace(input_overflow=overflow)
            card.opened[0]["callback"](frames, len(frames), None, flags)
        wait_until(lambda: listener.source.status.gaps == 1)
    assert max(chunk.gap for chunk in listener.chunks) == pytest.approx(10, abs=0.3)


def test_without_the_extra_it_says_which_one(monkeypatch, clock):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    source = open_source(MicrophoneSettings(), RATE, clock)
    with pytest.raises(SsdptError, match=r"pip install 'ssdpt\[live\]'"):
        next(source.chunks(threading.Event()))
