"""Events: saved once, never losing what a person has said; not even when the process is killed."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys

import pytest
from store_data import BEGIN, event

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Comment
from ssdpt.monitor.store import Store
from ssdpt.monitor.store import events as events_module

_ACKNOWLEDGE_AND_WAIT = """
import sys, time
from pathlib import Path
from ssdpt.monitor.store import Store
store = Store.open(sys.argv[1], Path(sys.argv[2]), writer=True)
store.acknowledge(sys.argv[3], "Ada", 1700003000.5, "heard it too")
print("acknowledged", flush=True)
time.sleep(600)
"""


def test_an_event_comes_back_as_it_was_saved(store):
    full = event(
        1,
        kind="drift",
        level="alarm",
        ended=BEGIN + 9.25,
        peak=7.125,
        threshold=4.5,
        label="fault",
        acknowledged_by="Ada",
        acknowledged_at=BEGIN + 20,
        comments=(Comment("Ada", BEGIN + 21, "Bearing?"), Comment("Bo", BEGIN + 22, "Ja, läuft")),
        audio_begin=BEGIN - 10,
        top_bands_hz=((1000.0, 2000.0), (50.0, 62.5)),
    )
    for one in (event(0), full):
        store.save_event(one)
        store.save_event(one)
        assert store.event(one.id) == one
    assert store.events() == [full, event(0)]
    assert store.event("f" * 32) is None


def test_saving_brings_up_to_date(store):
    store.save_event(event())
    worse = event(level="alarm", ended=BEGIN + 60, peak=9.0, words="Much louder.", label="normal")
    store.save_event(worse)
    assert store.event(worse.id) == worse


def test_saving_never_takes_back_what_people_said(store):
    """The monitor's own copy of an event may be older than what an operator has just done."""
    store.save_event(event(label="normal"))
    store.acknowledge(event().id, "Ada", BEGIN + 5, "on my way")
    store.label(event().id, "fault", "Ada", BEGIN + 6)
    store.save_event(event(label="normal", ended=BEGIN + 60))
    found = store.event(event().id)
    assert (found.acknowledged_by, found.acknowledged_at) == ("Ada", BEGIN + 5)
    assert found.comments == (Comment("Ada", BEGIN + 5, "on my way"),)
    assert found.label == "fault"
    assert found.state == "cleared"
    store.label(event().id, "", "Ada", BEGIN + 7)
    store.save_event(event(label="fault", ended=BEGIN + 60))
    assert store.event(event().id).label == ""


def test_an_acknowledgement_made_while_the_database_was_away_is_saved_later(store):
    store.save_event(event())
    late = event(
        acknowledged_by="Ada", acknowledged_at=BEGIN + 3, comments=(Comment("Ada", 1.0, "x"),)
    )
    store.save_event(late)
    assert store.event(late.id) == late


def test_the_first_acknowledgement_counts(store):
    store.save_event(event())
    store.acknowledge(event().id, "Ada", BEGIN + 5)
    found = store.acknowledge(event().id, "Bo", BEGIN + 9, "me too")
    assert (found.acknowledged_by, found.acknowledged_at) == ("Ada", BEGIN + 5)
    assert found.comments == (Comment("Bo", BEGIN + 9, "me too"),)
    assert found == store.acknowledge(event().id, "Bo", BEGIN + 9, "me too")


def test_comments_stay_in_the_order_they_were_written(store):
    store.save_event(event())
    store.comment(event().id, "Ada", BEGIN + 5, "first")
    found = store.comment(event().id, "Bo", BEGIN + 4, "second\0 \ud800")
    assert [comment.text for comment in found.comments] == ["first", "second ?"]
    with pytest.raises(SsdptError, match="no words"):
        store.comment(event().id, "Ada", BEGIN, " ")


def test_unknown_events_are_told(store):
    for act in (
        lambda: store.acknowledge("nothing", "Ada", BEGIN),
        lambda: store.comment("nothing", "Ada", BEGIN, "text"),
        lambda: store.label("nothing", "fault", "Ada", BEGIN),
        lambda: store.attach("nothing", "audio", b"", ".flac"),
    ):
        with pytest.raises(SsdptError, match="event 'nothing': there is none"):
            act()
    assert store.actions() == []


def test_events_are_found_by_what_they_are(store):
    given = [
        event(0, ended=BEGIN + 10, acknowledged_by="Ada", acknowledged_at=BEGIN + 5),  # cleared
        event(1, ended=BEGIN + 20),
        event(2, acknowledged_by="Ada", acknowledged_at=BEGIN + 5),
        event(3, machine="pump-1", kind="signal"),
    ]
    for one in given:
        store.save_event(one)

    def numbers(**wanted):
        return [int(one.id, 16) for one in store.events(**wanted)]

    assert numbers() == [3, 2, 1, 0]
    assert numbers(limit=2) == [3, 2]
    assert numbers(before=given[2].began, limit=1) == [1]
    assert numbers(open_only=True) == [3, 2, 1]
    assert numbers(machine="fan-1") == [2, 1, 0]
    assert numbers(machine="pump-1", open_only=True, kind="signal") == [3]
    assert numbers(machine="nobody") == []
    assert numbers(kind="drift") == []
    assert numbers(begin=BEGIN + 15) == [3, 2, 1]  # goes on, or ended later
    assert numbers(end=BEGIN + 1.5) == [1, 0]
    assert numbers(begin=BEGIN + 15, end=BEGIN + 1.5) == [1]


def test_all_events_that_go_on_are_found_however_old_and_many(store, monkeypatch):
    monkeypatch.setattr(events_module, "_AT_ONCE", 2)  # their comments come in several pieces
    under_way = [event(n, acknowledged_by="Ada", acknowledged_at=BEGIN + 500) for n in range(120)]
    elsewhere = event(200, machine="pump-1", kind="signal")
    for one in (*under_way, elsewhere, event(300, ended=BEGIN + 400)):
        store.save_event(one)
    said = [store.comment(event(n).id, "Ada", BEGIN + n, f"on {n}") for n in (0, 1, 60)]
    found = store.going_on()
    assert [int(one.id, 16) for one in found] == [200, *range(119, -1, -1)]
    assert [one for one in found if one.comments] == said[::-1]
    assert store.going_on("pump-1") == [elsewhere]
    assert len(store.going_on("fan-1")) == 120
    assert store.going_on("never-met") == []
    store.end_events("fan-1", BEGIN + 900)
    assert store.going_on() == [elsewhere]


def test_an_acknowledgement_outlives_a_kill(url, folder):
    """Killed right after it has said so: the next one finds it, and the lock is free again."""
    with Store.open(url, folder) as store:
        store.save_event(event())
    with subprocess.Popen(
        [sys.executable, "-c", _ACKNOWLEDGE_AND_WAIT, url, str(folder), event().id],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline() == "acknowledged\n"
        finally:
            os.kill(process.pid, signal.SIGKILL)
    with Store.open(url, folder, writer=True) as store:
        found = store.event(event().id)
        assert found == dataclasses.replace(
            event(),
            acknowledged_by="Ada",
            acknowledged_at=1700003000.5,
            comments=(Comment("Ada", 1700003000.5, "heard it too"),),
        )


def test_what_people_do_leaves_a_trail(store):
    store.save_event(event())
    store.acknowledge(event().id, "Ada", BEGIN + 1)
    store.comment(event().id, "Bo", BEGIN + 2, "text")
    store.label(event().id, "fault", "Bo", BEGIN + 3)
    store.label(event().id, "", "Bo", BEGIN + 4)
    store.log_action("Cy", BEGIN + 5, "mute 30 minutes", "fan-1")
    told = [(one.who, one.at - BEGIN, one.what, one.about) for one in store.actions()]
    assert told == [
        ("Cy", 5, "mute 30 minutes", "fan-1"),
        ("Bo", 4, "label none", event().id),
        ("Bo", 3, "label fault", event().id),
        ("Bo", 2, "comment", event().id),
        ("Ada", 1, "acknowledge", event().id),
    ]
    newest = store.actions(limit=2)
    assert [one.what for one in store.actions(before=newest[-1].id)] == [
        *("label fault", "comment", "acknowledge"),
    ]


def test_what_is_remembered_is_recalled(store, url, folder):
    learnt = {"mean": [1.5, -2.0], "words": "läuft", "none": None}
    assert store.recall("fan-1", "baseline") is None
    store.remember("fan-1", "baseline", [1])
    store.remember("fan-1", "baseline", learnt)
    store.remember("fan-2", "baseline", 7)
    with Store.open(url, folder) as again:
        assert again.recall("fan-1", "baseline") == learnt
        assert again.recall("fan-2", "baseline") == 7
        assert again.recall("fan-2", "thresholds") is None


def test_what_is_forgotten_is_gone_for_that_machine_alone(store, url, folder):
    for machine in ("fan-1", "fan-2"):
        for name in ("drift", "per_week", "usual_dbfs"):
            store.remember(machine, name, 7)
    store.forget("fan-1", "drift")
    assert [store.recall("fan-1", name) for name in ("drift", "per_week")] == [None, 7]
    store.forget("fan-1")
    store.forget("never-met")
    store.forget("never-met", "drift")
    with Store.open(url, folder) as again:
        kept = [again.recall("fan-1", name) for name in ("drift", "per_week", "usual_dbfs")]
        assert kept == [None, None, None]
        assert again.recall("fan-2", "drift") == 7
    store.remember("fan-1", "drift", 8)
    assert store.recall("fan-1", "drift") == 8


def test_all_events_of_a_machine_that_go_on_are_ended(store):
    for one in (
        event(0, ended=BEGIN + 2),
        event(1),
        event(2, kind="signal", acknowledged_by="Ada", acknowledged_at=BEGIN + 5),
        event(3, kind="drift", began=BEGIN + 99),  # before the clock was set back
        event(4, machine="pump-1"),
    ):
        store.save_event(one)
    assert store.end_events("fan-1", BEGIN + 60) == 3
    ended = {int(one.id, 16): one.ended for one in store.events()}
    assert ended == {0: BEGIN + 2, 1: BEGIN + 60, 2: BEGIN + 60, 3: BEGIN + 99, 4: None}
    assert store.end_events("fan-1", BEGIN + 70) == 0
    assert store.end_events("never-met", BEGIN + 70) == 0
