"""Notes on trends, and the faults that people have named."""

from __future__ import annotations

import pytest
from store_data import BEGIN, event

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.notes import UnknownNote


def texts(notes):
    return [note.text for note in notes]


def test_notes_are_kept_in_order_of_what_happened(store, url, folder):
    store.add_note("fan-1", BEGIN + 10, "repair", " belt changed ", who="Ada", now=BEGIN + 99)
    store.add_note("fan-1", BEGIN, "inspection", "läuft ruhig\0", who="Bob", now=BEGIN + 100)
    store.add_note("pump-1", BEGIN + 5, "other", "moved", who="Ada", now=BEGIN + 101)
    with Store.open(url, folder) as again:
        assert texts(again.notes("fan-1")) == ["läuft ruhig", "belt changed"]
        assert texts(again.notes()) == ["läuft ruhig", "moved", "belt changed"]
    assert texts(store.notes("fan-1", BEGIN + 1, BEGIN + 11)) == ["belt changed"]
    assert texts(store.notes("fan-1", BEGIN, BEGIN + 10)) == ["läuft ruhig"]  # up to, not with
    assert store.notes("none") == []


def test_a_note_is_corrected_and_removed_by_anyone_and_the_log_keeps_it(store):
    note = store.add_note("fan-1", BEGIN, "repair", "belt", who="Ada", now=BEGIN)
    changed = store.change_note(
        "fan-1", note.id, BEGIN + 1, "inspection", "belt seen", who="Bob", now=BEGIN + 2
    )
    assert store.notes("fan-1") == [changed]
    assert (changed.who, changed.text, changed.kind) == ("Ada", "belt seen", "inspection")
    store.remove_note("fan-1", note.id, who="Bob", now=BEGIN + 3)
    assert store.notes("fan-1") == []
    logged = [(one.who, one.what) for one in store.actions()]
    assert logged[0] == ("Bob", "removed the note: belt seen")
    store.remove_note("fan-1", note.id, who="Ada", now=BEGIN)  # was faster
    assert len(store.actions()) == len(logged)
    with pytest.raises(UnknownNote, match="someone may have removed it"):
        store.change_note("fan-1", note.id, BEGIN, "other", "x", who="Ada", now=BEGIN)


def test_a_note_of_another_machine_is_not_changed(store):
    note = store.add_note("fan-1", BEGIN, "repair", "belt", who="Ada", now=BEGIN)
    with pytest.raises(UnknownNote):
        store.change_note("pump-1", note.id, BEGIN, "other", "x", who="Bob", now=BEGIN)
    with pytest.raises(SsdptError, match="the note is empty"):
        store.add_note("fan-1", BEGIN, "repair", " \n", who="Ada", now=BEGIN)
    assert texts(store.notes("fan-1")) == ["belt"]


def test_named_faults_with_their_sound(store):
    for number, (machine, fault) in enumerate(
        [("fan-1", "loose belt"), ("fan-2", "loose belt"), ("pump-1", "leak"), ("fan-1", "")]
    ):
        store.save_event(event(number, machine=machine, fault=fault))
        store.save_signature(event(number).id, [0.5, number])
    store.save_event(event(9, fault="silent"))  # nothing was recorded of it
    named = store.named_faults(["fan-1", "fan-2"])
    assert [(one.fault, one.signature) for one in named] == [
        ("loose belt", (0.5, 1.0)),
        ("loose belt", (0.5, 0.0)),
    ]
    assert store.named_faults([]) == []
    assert store.earlier_faults() == ["silent", "leak", "loose belt"]  # the newest first
    assert store.signature(event(9).id) == ()


def test_the_report_that_was_sent_last_is_remembered(store, url, folder):
    assert store.last_report_sent() == ""
    store.report_sent("2026-W45")
    store.report_sent("2026-W46")
    with Store.open(url, folder) as again:
        assert again.last_report_sent() == "2026-W46"
