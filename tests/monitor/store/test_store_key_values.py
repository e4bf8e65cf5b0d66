"""Values of machines: stored as JSON by key, for each machine on its own."""

from __future__ import annotations

import pytest

from ssdpt.monitor.store import Store

KEYS = ("drift", "false_alerts_per_week", "usual_dbfs")


def test_values_are_read_as_they_were_set(store, url, folder):
    value = {"mean": [1.5, -2.0], "message": "läuft", "none": None}
    assert store.get_value("fan-1", "baseline") is None
    store.set_value("fan-1", "baseline", [1])
    store.set_value("fan-1", "baseline", value)
    store.set_value("fan-2", "baseline", 7)
    with Store.open(url, folder) as again:
        assert again.get_value("fan-1", "baseline") == value
        assert again.get_value("fan-2", "baseline") == 7
        assert again.get_value("fan-2", "thresholds") is None
        assert again.get_values("fan-1") == {"baseline": value}
        assert again.get_values("fan-3") == {}


def test_values_are_removed_for_one_machine_alone(store, url, folder):
    for machine in ("fan-1", "fan-2"):
        for key in KEYS:
            store.set_value(machine, key, 7)
    store.remove_value("fan-1", "drift")
    assert [store.get_value("fan-1", key) for key in KEYS] == [None, 7, 7]
    store.remove_values("fan-1")
    store.remove_values("unknown")
    store.remove_value("unknown", "drift")
    with Store.open(url, folder) as again:
        assert [again.get_value("fan-1", key) for key in KEYS] == [None, None, None]
        assert [again.get_value("fan-2", key) for key in KEYS] == [7, 7, 7]
    store.set_value("fan-1", "drift", 8)
    assert store.get_value("fan-1", "drift") == 8


def test_many_values_are_stored_together_or_not_at_all(store):
    store.set_values({("fan-1", "a"): 1, ("fan-2", "a"): 2})
    with pytest.raises(TypeError):
        store.set_values({("fan-1", "a"): 3, ("fan-2", "a"): object()})
    assert [store.get_value(id, "a") for id in ("fan-1", "fan-2")] == [1, 2]
    store.set_values({("fan-1", "a"): 3, ("fan-2", "b"): [4]})
    assert (store.get_value("fan-1", "a"), store.get_value("fan-2", "b")) == (3, [4])
    store.set_values({})
