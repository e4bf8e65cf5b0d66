"""How events sound is compared, and faults are recognised again."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from plant_history import event, event_id
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.monitor.events.signature import LIMIT, recognise, signature, similarity
from ssdpt.monitor.service.recognition import Recognition
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.store import Store

RATE = 16000


def sound(seed, *, tone=0.0, knocks=0.0, per_second=8.0, seconds=4.0):
    """A humming machine; a tone of 2.6 kHz, or knocks at 1 kHz."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    wave = 0.05 * np.sin(2 * np.pi * 100 * t) + 0.02 * rng.standard_normal(t.size)
    ringing = np.exp(-((t * per_second) % 1.0) / per_second * 60.0)
    wave += tone * np.sin(2 * np.pi * 2600 * t) + knocks * ringing * np.sin(2 * np.pi * 1000 * t)
    return wave.astype(np.float32)


@pytest.fixture(scope="module")
def reference():
    return SoundReference.learn([sound(seed) for seed in range(6)], RATE)


def test_a_fault_looks_like_itself_while_it_grows_and_unlike_others(reference):
    tone, louder_tone = (
        signature(reference, sound(20 + n, tone=amplitude), RATE)
        for n, amplitude in enumerate((0.02, 0.06))
    )
    knocks, louder_knocks = (
        signature(reference, sound(30 + n, knocks=amplitude), RATE)
        for n, amplitude in enumerate((0.1, 0.25))
    )
    slower = signature(reference, sound(40, knocks=0.2, per_second=5.0), RATE)
    assert similarity(tone, louder_tone) > LIMIT
    assert similarity(knocks, louder_knocks) > LIMIT
    assert similarity(tone, knocks) < LIMIT
    assert similarity(knocks, slower) < similarity(knocks, louder_knocks)
    named = [("whistle", tone), ("loose guard", knocks)]
    found = recognise(louder_knocks, named)
    assert (found.fault, found.earlier_events) == ("loose guard", 1)
    assert found.similarity == pytest.approx(similarity(knocks, louder_knocks), abs=0.001)


def test_what_cannot_be_compared_is_like_nothing(reference):
    samples = sound(50, tone=0.05)
    assert signature(None, samples, RATE) == ()
    assert signature(reference, samples, 8000) == ()
    assert signature(reference, np.zeros(0, np.float32), RATE) == ()
    assert similarity((), ()) == similarity((1.0, 0.0), (1.0,)) == 0.0
    assert similarity((0.0, 0.0), (1.0, 0.0)) == 0.0
    assert recognise((), [("belt", ())]) is None
    assert recognise((1.0, 0.0), []) is None


def test_the_most_similar_fault_is_named_with_how_many_were_like_it():
    named = [("belt", (1.0, 0.1)), ("belt", (1.0, 0.2)), ("leak", (1.0, 0.5)), ("leak", (0.0, 1.0))]
    found = recognise((1.0, 0.0), named)
    assert (found.fault, found.earlier_events) == ("belt", 2)
    assert recognise((-1.0, 0.0), named) is None


class _Heard(StreamMonitor):
    """A machine of which only the signature of its sound is asked."""

    def __init__(self, id, type, heard):
        self.settings = SimpleNamespace(id=id, type=type)
        self._heard = heard

    def signature(self, samples):
        return self._heard


def test_events_of_the_machine_and_of_its_type_are_compared(tmp_path):
    fans = [_Heard("fan-1", "fan", (1.0, 0.0)), _Heard("fan-2", "fan", (0.9, 0.1))]
    others = [_Heard("pump-1", "", (1.0, 0.0)), _Heard("pump-2", "", (1.0, 0.0))]
    with Store.open(f"sqlite:///{tmp_path}/ssdpt.db", tmp_path) as store:
        recognition = Recognition([*fans, *others], store)

        def recognised(number, machine):
            store.save_event(event(number, 1e9 + number, machine=machine.id))
            return recognition.recognise(machine, event_id(number), np.zeros(1))

        assert recognised(0, fans[0]) is None  # nothing has a name yet
        store.set_details(event_id(0), "ann", 1e9, {"fault": "loose belt"})
        assert recognised(1, fans[1]).fault == "loose belt"
        assert recognised(2, others[0]) is None  # machines without a type are all different
        store.set_details(event_id(2), "ann", 1e9, {"fault": "leak"})
        assert recognised(3, others[1]) is None
        assert recognised(4, others[0]).fault == "leak"
        assert store.signature(event_id(4)) == (1.0, 0.0)
