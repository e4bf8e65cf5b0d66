"""Events: saved once; what a person has done is never lost, not even when the process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from store_data import BEGIN, acknowledged, comment, event

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.severity import Severity
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Episode
from ssdpt.monitor.store import Store
from ssdpt.monitor.store import events as events_module

_ACKNOWLEDGE_AND_WAIT = """
import sys, time
from pathlib import Path
from ssdpt.monitor.store import Store
store = Store.open(sys.argv[1], Path(sys.argv[2]), writer=True)
store.acknowledge(sys.argv[3], "Ada", 1700003000.5, "noticed it too")
print("acknowledged", flush=True)
time.sleep(600)
"""


def test_an_event_is_read_as_it_was_saved(store):
    full = event(
        1,
        kind="drift",
        level="alarm",
        ended=BEGIN + 9.25,
        peak=7.125,
        threshold=4.5,
        label="fault",
        acknowledged=acknowledged(at=BEGIN + 20),
        comments=(comment("Ada", BEGIN + 21, "Bearing?"), comment("Bo", BEGIN + 22, "Ja, läuft")),
        audio_begin=BEGIN - 10,
        top_bands_hz=((1000.0, 2000.0), (50.0, 62.5)),
    )
    for one in (event(0), full):
        store.save_event(one)
        store.save_event(one)
        assert store.event(one.id) == one
    assert store.events() == [full, event(0)]
    assert store.event("f" * 32) is None


def test_saving_updates_an_event(store):
    store.save_event(event())
    worse = event(level="alarm", ended=BEGIN + 60, peak=9.0, message="Much louder.", label="normal")
    store.save_event(worse)
    assert store.event(worse.id) == worse


def test_saving_never_overwrites_what_people_did(store):
    """The copy of an event in the service may be older than what an operator has just done."""
    store.save_event(event(label="normal"))
    store.acknowledge(event().id, "Ada", BEGIN + 5, "on my way")
    store.label(event().id, "fault", "Ada", BEGIN + 6)
    store.save_event(event(label="normal", ended=BEGIN + 60))
    saved = store.event(event().id)
    assert saved.acknowledged == acknowledged("Ada", BEGIN + 5)
    assert saved.comments == (comment("Ada", BEGIN + 5, "on my way"),)
    assert saved.label == "fault"
    assert saved.state == "cleared"
    store.label(event().id, "", "Ada", BEGIN + 7)
    store.save_event(event(label="fault", ended=BEGIN + 60))
    assert store.event(event().id).label == ""


def test_an_acknowledgement_made_while_the_database_was_unavailable_is_saved_later(store):
    store.save_event(event())
    late = event(acknowledged=acknowledged(at=BEGIN + 3), comments=(comment("Ada", 1.0, "x"),))
    store.save_event(late)
    assert store.event(late.id) == late


def test_the_first_acknowledgement_counts(store):
    store.save_event(event())
    store.acknowledge(event().id, "Ada", BEGIN + 5)
    saved = store.acknowledge(event().id, "Bo", BEGIN + 9, "me too")
    assert saved.acknowledged == acknowledged("Ada", BEGIN + 5)
    assert saved.comments == (comment("Bo", BEGIN + 9, "me too"),)
    assert saved == store.acknowledge(event().id, "Bo", BEGIN + 9, "me too")


def test_comments_stay_in_the_order_they_were_written(store):
    store.save_event(event())
    store.comment(event().id, "Ada", BEGIN + 5, "first")
    saved = store.comment(event().id, "Bo", BEGIN + 4, "second\0 \ud800")
    assert [one.text for one in saved.comments] == ["first", "second ?"]
    with pytest.raises(SsdptError, match="the comment is empty"):
        store.comment(event().id, "Ada", BEGIN, " ")


def test_unknown_events_are_errors(store):
    for act in (
        lambda: store.acknowledge("nothing", "Ada", BEGIN),
        lambda: store.comment("nothing", "Ada", BEGIN, "text"),
        lambda: store.label("nothing", "fault", "Ada", BEGIN),
        lambda: store.attach("nothing", "audio", b"", ".flac"),
    ):
        with pytest.raises(SsdptError, match="event 'nothing' does not exist"):
            act()
    assert store.actions() == []


def test_events_are_filtered(store):
    given = [
        event(0, ended=BEGIN + 10, acknowledged=acknowledged()),  # cleared
        event(1, ended=BEGIN + 20),
        event(2, acknowledged=acknowledged()),
        event(3, machine="pump-1", kind="signal"),
    ]
    for one in given:
        store.save_event(one)

    def numbers(**conditions):
        return [int(one.id, 16) for one in store.events(**conditions)]

    assert numbers() == [3, 2, 1, 0]
    assert numbers(limit=2) == [3, 2]
    assert numbers(before=given[2].began, limit=1) == [1]
    assert numbers(open_only=True) == [3, 2, 1]
    assert numbers(machine="fan-1") == [2, 1, 0]
    assert numbers(machine="pump-1", open_only=True, kind="signal") == [3]
    assert numbers(machine="unknown") == []
    assert numbers(kind="drift") == []
    assert numbers(begin=BEGIN + 15) == [3, 2, 1]  # active, or ended later
    assert numbers(end=BEGIN + 1.5) == [1, 0]
    assert numbers(begin=BEGIN + 15, end=BEGIN + 1.5) == [1]


def test_all_ongoing_events_are_found_however_old_and_many(store, monkeypatch):
    monkeypatch.setattr(events_module, "_EVENTS_PER_QUERY", 2)  # several queries for comments
    active = [event(n, acknowledged=acknowledged(at=BEGIN + 500)) for n in range(120)]
    other_machine = event(200, machine="pump-1", kind="signal")
    for one in (*active, other_machine, event(300, ended=BEGIN + 400)):
        store.save_event(one)
    commented = [store.comment(event(n).id, "Ada", BEGIN + n, f"on {n}") for n in (0, 1, 60)]
    events = store.ongoing_events()
    assert [int(one.id, 16) for one in events] == [200, *range(119, -1, -1)]
    assert [one for one in events if one.comments] == commented[::-1]
    assert store.ongoing_events("pump-1") == [other_machine]
    assert len(store.ongoing_events("fan-1")) == 120
    assert store.ongoing_events("unknown") == []
    store.end_events("fan-1", BEGIN + 900)
    assert store.ongoing_events() == [other_machine]


def test_an_acknowledgement_survives_a_kill(url, folder):
    """The process is killed right after it; the next one can read it and take the lock."""
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
        assert store.event(event().id) == event(
            acknowledged=acknowledged("Ada", 1700003000.5),
            comments=(comment("Ada", 1700003000.5, "noticed it too"),),
        )


def test_what_people_do_is_logged(store):
    store.save_event(event())
    store.acknowledge(event().id, "Ada", BEGIN + 1)
    store.comment(event().id, "Bo", BEGIN + 2, "text")
    store.label(event().id, "fault", "Bo", BEGIN + 3)
    store.label(event().id, "", "Bo", BEGIN + 4)
    store.log_action("Cy", BEGIN + 5, "mute 30 minutes", "fan-1")
    logged = [(one.who, one.at - BEGIN, one.what, one.about) for one in store.actions()]
    assert logged == [
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


def test_all_ongoing_events_of_a_machine_are_ended(store):
    for one in (
        event(0, ended=BEGIN + 2),
        event(1),
        event(2, kind="signal", acknowledged=acknowledged()),
        event(3, kind="drift", began=BEGIN + 99),  # before the clock was set back
        event(4, machine="pump-1"),
    ):
        store.save_event(one)
    assert store.end_events("fan-1", BEGIN + 60) == 3
    ended = {int(one.id, 16): one.ended for one in store.events()}
    assert ended == {0: BEGIN + 2, 1: BEGIN + 60, 2: BEGIN + 60, 3: BEGIN + 99, 4: None}
    assert store.end_events("fan-1", BEGIN + 70) == 0
    assert store.end_events("unknown", BEGIN + 70) == 0


def test_episodes_findings_and_severity_are_read_as_they_were_saved(store):
    full = event(
        1,
        ended=BEGIN + 60,
        may_continue=True,
        episodes=(
            Episode(began=BEGIN, ended=BEGIN + 10.25, level="alert", peak=4.125),
            Episode(began=BEGIN + 50, ended=BEGIN + 60, level="alarm"),
        ),
        findings=(
            Finding(code="tone", hz=130.0, db=30.0, new=True),
            Finding(code="level", db=-3.0),
        ),
        severity=Severity(grade="severe", ratio=1.25, above_history=0.98, siblings=1),
        baseline_learned_at=BEGIN - 86400,
    )
    store.save_event(full)
    assert store.event(full.id) == full
    again = full.model_copy(update={"ended": None, "may_continue": False, "severity": None})
    store.save_event(again)
    assert store.event(full.id) == again


def test_ending_all_events_of_a_machine_ends_their_last_episodes(store):
    episodes = (
        Episode(began=BEGIN, ended=BEGIN + 5, level="alert"),
        Episode(began=BEGIN + 30, level="alarm"),
    )
    store.save_event(event(1, episodes=episodes))
    store.end_events("fan-1", BEGIN + 60)
    ended = store.event(event(1).id)
    assert [one.ended for one in ended.episodes] == [BEGIN + 5, BEGIN + 60]
    assert (ended.ended, ended.may_continue) == (BEGIN + 60, False)
