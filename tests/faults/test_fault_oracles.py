"""What the fault campaign looks for is noticed where it is planted."""

from __future__ import annotations

import signal

import pytest
from sqlalchemy import update
from store_data import BEGIN, readings

from faults.commands import Command
from faults.experiment import Outcome
from faults.ledger import doubled_events
from faults.stored_readings import check_stored_readings
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.tables import hours, minutes


@pytest.fixture
def store(tmp_path):
    """Two hours of one machine, rolled up."""
    with Store.open(f"sqlite:///{tmp_path}/ssdpt.db", tmp_path, writer=True) as store:
        store.add_readings(readings("fan-1", BEGIN, [0.5] * 7200))
        store.roll_up(BEGIN + 7300)
        yield store


def checked(store):
    outcome = Outcome()
    check_stored_readings(store.database, outcome)
    return outcome


def test_a_store_as_it_should_be_passes(store):
    outcome = checked(store)
    assert outcome.survived
    assert outcome.checked == 7200 + 120 + 2


def test_readings_that_come_late_pass(store):
    store.add_readings(readings("fan-1", BEGIN - 90, [0.5] * 90))
    assert checked(store).survived


def test_a_second_that_is_there_twice_is_noticed(store):
    store.add_readings(readings("fan-1", BEGIN + 7230.3, [0.5]))
    store.add_readings(readings("fan-1", BEGIN + 7230, [0.5]))
    assert checked(store).doubled == [
        f"reading of fan-1 at {BEGIN + 7230.3:.3f}, 300 ms after another"
    ]


@pytest.mark.parametrize("table", [minutes, hours], ids=["minutes", "hours"])
@pytest.mark.parametrize(("more", "broken"), [(1, "doubled"), (-1, "lost")])
def test_a_minute_or_hour_that_counts_other_readings_is_noticed(store, table, more, broken):
    with store.database.write() as connection:
        changed = update(table).where(table.c.time == BEGIN * 1000)
        connection.execute(changed.values(readings=table.c.readings + more))
    outcome = checked(store)
    first = getattr(outcome, broken)[0]
    assert first.startswith(f"{table.name} of fan-1 at {BEGIN:.0f}: ")


def described(id, began, ended, machine="fan", kind="anomaly"):
    return {"id": id, "machine": machine, "kind": kind, "began": began, "ended": ended}


@pytest.mark.parametrize(
    ("second", "doubled"),
    [
        (described("b", 15, 25), True),
        (described("b", 10, 20), True),
        (described("b", 20, 25), False),
        (described("b", 15, 25, machine="pump"), False),
        (described("b", 15, 25, kind="source"), False),
    ],
    ids=["overlapping", "the same", "after it", "of another machine", "of another kind"],
)
def test_an_event_that_is_there_twice_is_noticed(second, doubled):
    events = [described("a", 10, 20), described("c", 30, None), second]
    assert bool(doubled_events(events)) == doubled


def test_an_event_that_never_ended_is_noticed_when_the_next_begins():
    assert doubled_events([described("a", 10, None), described("b", 15, 25)])


@pytest.mark.full
def test_the_work_of_a_command_begins_with_its_first_change(store, tmp_path):
    """The store is opened; before that, Python starts."""
    with Command(["user", "list", "--data", str(tmp_path)], tmp_path) as command:
        assert command.wait_for_work()
        command.kill()
    assert command.returncode == -signal.SIGKILL


@pytest.mark.full
def test_a_command_that_changes_nothing_has_no_work(tmp_path):
    with Command(["--version"], tmp_path) as command:
        assert not command.wait_for_work()
    assert command.returncode == 0
