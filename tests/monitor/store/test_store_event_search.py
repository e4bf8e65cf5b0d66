"""Events are found by what is written about them, and grouped by fault."""

from __future__ import annotations

import pytest
from store_data import BEGIN, acknowledged, comment, event

from ssdpt.monitor.messages import LooksLike

ALIKE = LooksLike(fault="loose belt", earlier_events=2, similarity=0.9)


@pytest.fixture
def found(store):
    """Events with something to find; gives a search that returns their numbers."""
    store.save_event(event(0, message="New tone at 130 Hz", cause="Öl fehlt"))
    store.save_event(event(1, machine="pump-1", work_order="WO-100%_a", fault="loose belt"))
    store.save_event(event(2, comments=(comment("Ada", BEGIN, "it's the 'V-belt' \\ \"old\""),)))
    store.save_event(event(3, kind="drift", level="alarm", label="normal", ended=BEGIN + 20))
    store.save_event(event(4, looks_like=ALIKE, acknowledged=acknowledged("Zoë")))

    def search(text="", **conditions):
        names = {"fan-1": "Roof fan", "pump-1": "Kühlpumpe"}
        events = store.events(text=text, machines_named=names, **conditions)
        return sorted(int(one.id, 16) for one in events)

    return search


SEARCHES = [
    ("", [0, 1, 2, 3, 4]),
    ("TONE", [0]),
    ("öl", [0]),
    ("ÖL 130", [0]),  # each word, wherever it is
    ("tone wo-100", []),
    ("100%", [1]),
    ("%", [1]),
    ("_a", [1]),
    ("0_a", []),  # _ stands for itself
    ("'v-belt'", [2]),
    ('"old"', [2]),
    ("\\", [2]),
    ("belt", [1, 2, 4]),
    ("kühlPUMPE", [1]),
    ("roof", [0, 2, 3, 4]),
    ("pump-1", [1]),
    ("zoë", [4]),
    ("'; DROP TABLE events; --", []),
    ("\0\ud800", []),
    ("日本語", []),
]


def test_search(found):
    assert [(text, found(text)) for text, _ in SEARCHES] == SEARCHES


def test_a_search_of_ten_kilobytes_ends(found):
    assert found("x" * 10_000) == []
    assert found("fan " * 2_500) == [0, 2, 3, 4]
    assert found("%' " * 3_000) == []


def test_filters(found):
    assert found(level="alarm") == [3]
    assert found(label="normal") == [3]
    assert found(label="") == [0, 1, 2, 4]
    assert found(fault="loose belt") == [1, 4]
    assert found(fault="") == [0, 2, 3]
    assert found("belt", machine="pump-1") == [1]
    assert found(kind="drift", begin=BEGIN + 30) == []
    assert found(begin=BEGIN + 2, end=BEGIN + 3) == [0, 1, 2]  # active since earlier


def test_cause_work_order_and_fault_are_set_logged_and_never_overwritten(store):
    store.save_event(event(0))
    given = {"cause": " dry bearing ", "work_order": "4711"}
    changed = store.set_details(event(0).id, "Ada", BEGIN, given)
    assert (changed.cause, changed.work_order, changed.fault) == ("dry bearing", "4711", "")
    store.save_event(event(0, peak=3.0))  # of the service, which does not know it yet
    stored = store.event(event(0).id)
    assert (stored.cause, stored.peak) == ("dry bearing", 3.0)
    assert store.set_details(event(0).id, "Ada", BEGIN, {"cause": ""}).cause == ""
    assert [one.what for one in store.actions()] == [
        *("cause: none", "work order: 4711", "cause: dry bearing"),
    ]
    assert store.earlier_causes() == []


def test_what_a_person_rejects_stays_rejected(store):
    store.save_event(event(0, looks_like=ALIKE))
    assert store.event(event(0).id).looks_like == ALIKE
    assert store.reject_looks_like(event(0).id, "Ada", BEGIN).looks_like is None
    store.save_event(event(0, looks_like=ALIKE))  # of the service, on its way before
    assert store.event(event(0).id).looks_like is None
    assert store.events(fault="loose belt") == []
    assert store.actions()[0].what == "is not: loose belt"


def test_events_of_the_same_machine_and_fault_are_one_group(found, store):
    store.save_event(event(5, fault="loose belt", level="alarm"))
    store.save_event(event(6, machine="pump-1", fault="loose belt"))
    groups = store.event_groups()
    named = [(one.machine, one.kind, one.fault, one.events, one.confirmed) for one in groups]
    assert named == [
        ("pump-1", "anomaly", "loose belt", 2, 2),
        ("fan-1", "anomaly", "loose belt", 2, 1),
        ("fan-1", "drift", "", 1, 0),
        ("fan-1", "anomaly", "", 2, 0),
    ]
    belts = groups[1]
    assert (belts.first_began, belts.last_began) == (BEGIN + 4, BEGIN + 5)
    assert (belts.level, belts.unacknowledged) == ("alarm", 1)
    assert len(store.event_groups(limit=1)) == 1
    assert store.event_groups(text="nothing") == []
