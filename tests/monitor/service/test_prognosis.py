"""Severity and outlook of live machines: own days, siblings, trends over restarts."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest

from fixed_thresholds import fixed_thresholds
from ssdpt.monitor.events.event_log import EventLog
from ssdpt.monitor.messages import BaselineStatus, Reading, ReadingTaken
from ssdpt.monitor.service.prognosis import Prognosis

THRESHOLDS = fixed_thresholds(alert=1.0, alarm=2.0, alert_exit=0.8, alarm_exit=1.6)


class Values(dict):
    """Kept as JSON, like in the store."""

    def get(self, id, key):
        kept = super().get((id, key))
        return None if kept is None else json.loads(kept)

    def set_all(self, values):
        self.update({key: json.dumps(value) for key, value in values.items()})


def machine(id, smoothed=None, state="normal", type="pump", time=0.0):
    reading = Reading(machine=id, time=time, state=state, level_dbfs=-30.0, smoothed=smoothed)
    return SimpleNamespace(
        id=id,
        settings=SimpleNamespace(type=type),
        thresholds=THRESHOLDS,
        last=reading,
        state=state,
        events=EventLog(id),
        baseline_status=BaselineStatus(learned_at=1.0, recordings=1),
    )


@pytest.fixture
def machines():
    return Registry()


class Registry:
    def __init__(self):
        self.lock, self.held = threading.RLock(), {}

    def add(self, one):
        self.held[one.id] = one
        return one

    def ids(self):
        return list(self.held)

    def __iter__(self):
        return iter(list(self.held.values()))

    def __contains__(self, id):
        return id in self.held


class Store:
    def daily_maxima(self, machine, days):
        return [0.5, 0.6, 3.0, 0.4] if machine == "a" else []


def test_severity_against_own_days_and_siblings(machines):
    one = machines.add(machine("a", 2.4, "alarm"))
    machines.add(machine("b", 3.0, "alarm"))
    machines.add(machine("c", 0.1))
    machines.add(machine("fan", 9.0, "alarm", type="fan"))
    prognosis = Prognosis(machines, Store(), Values())
    prognosis.refresh()
    found = prognosis.severity(one)
    assert (found.grade, found.ratio) == ("clear", 1.2)
    assert found.above_history == 0.75
    assert (found.rank, found.siblings) == (2, 3)


def test_no_severity_where_nothing_is_wrong_and_no_siblings_without_a_type(machines):
    prognosis = Prognosis(machines, Store(), Values())
    assert prognosis.severity(machines.add(machine("a", 0.3))) is None
    machines.add(machine("b", 2.4, "alarm", type=""))
    alone = prognosis.severity(machines.add(machine("c", 2.4, "alarm", type="")))
    assert alone.rank is None


def rise(prognosis, machines, minutes=range(200)):
    one = None
    for minute in minutes:
        one = machines.add(machine("a", 2 * minute / 250, time=60.0 * minute))
        prognosis.update(one)
    return one


def test_outlook_of_a_rise_and_over_a_restart(machines):
    values = Values()
    prognosis = Prognosis(machines, Store(), values)
    one = rise(prognosis, machines)
    said = prognosis.outlook(one)
    assert said.earliest < 60.0 * 250 < said.latest
    prognosis.save()
    again = Prognosis(machines, Store(), values)
    again.restore(one.id)
    assert again.outlook(one).latest == pytest.approx(said.latest, rel=1e-3)


def test_new_baseline_has_no_outlook_yet(machines):
    prognosis = Prognosis(machines, Store(), Values())
    one = rise(prognosis, machines)
    one.baseline_status = BaselineStatus(learned_at=2.0, recordings=1)
    assert prognosis.outlook(one) is None


def test_machine_in_alarm_has_no_outlook(machines):
    prognosis = Prognosis(machines, Store(), Values())
    one = rise(prognosis, machines)
    one.state = "alarm"
    assert prognosis.outlook(one) is None


def test_event_keeps_its_worst_severity(machines):
    prognosis = Prognosis(machines, Store(), Values())
    one = machines.add(machine("a", 3.2, "alarm", type=""))
    (began,) = one.events.begin("anomaly", "alarm", 0.0, "", peak=3.2)
    with_severity = prognosis.with_severity(one, began)
    assert with_severity.event.severity.grade == "severe"
    assert one.events.ongoing["anomaly"].severity.grade == "severe"
    assert with_severity.change == began.change
    one.last = one.last.model_copy(update={"smoothed": 2.1})
    unchanged = prognosis.with_severity(one, with_severity)
    assert unchanged.event.severity.grade == "severe"


def test_other_messages_are_left_alone(machines):
    prognosis = Prognosis(machines, Store(), Values())
    one = machines.add(machine("a", 3.2, "alarm"))
    message = ReadingTaken(reading=one.last)
    assert prognosis.with_severity(one, message) is message
