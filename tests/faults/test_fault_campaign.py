"""The short form of the fault campaign; `make faults` runs the whole of it."""

from __future__ import annotations

import io

import pytest

from faults import clock_jump
from faults.campaign import Campaign
from faults.clock_jump import ClockJump
from faults.experiment import Experiment, Outcome
from faults.experiments import EXPERIMENTS

SEED = 1
# Enumerations as a whole, and a few of the random kills.
SHORT = {
    "points-write-file": None,
    "points-swap-folder": None,
    "points-rename-folder": None,
    "points-save-thresholds": None,
    "kill-backup": 2,
    "kill-migration": 2,
    "kill-service-sqlite": 2,
}


class Scripted(Experiment):
    """Trials whose outcomes are given."""

    name = "scripted"

    def __init__(self, *outcomes, unstruck=()):
        self._outcomes, self.trials = outcomes, len(outcomes)
        self.unstruck = dict(unstruck)

    def trial(self, number, random):
        outcome = self._outcomes[number - 1]
        if isinstance(outcome, list):  # of one attempt after the other
            outcome = outcome.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def run(*experiments, **options):
    said = io.StringIO()
    return Campaign(SEED, stream=said, **options).run(experiments), said.getvalue()


@pytest.mark.full
@pytest.mark.parametrize("name", SHORT)
def test_nothing_acknowledged_is_lost(name):
    experiment = next(one for one in EXPERIMENTS if one.name == name)
    campaign = Campaign(SEED, trials=SHORT[name], stream=(said := io.StringIO()))
    assert campaign.run([experiment]), said.getvalue()


def test_the_report_counts_what_was_broken():
    outcomes = (
        Outcome(checked=3),
        Outcome(checked=2, lost=["event 7"]),
        Outcome(doubled=["note 'a'"], wrong=["left over: .a.tmp"]),
    )
    survived, said = run(Scripted(*outcomes))
    assert not survived
    head, row, whole = (line.split() for line in said.splitlines()[-3:])
    assert head[:7] == ["experiment", "trials", "survived", "checked", "lost", "doubled", "wrong"]
    assert row[:7] == ["scripted", "3", "1", "5", "1", "1", "1"]
    assert whole[:7] == ["all", *row[1:7]]


def test_a_point_that_was_never_struck_fails_the_campaign():
    survived, said = run(Scripted(Outcome(), Outcome(struck=False, point="rename 1")))
    assert not survived
    assert "scripted: 1 of 2 points struck\n  not struck: rename 1: no reason is known\n" in said
    assert said.endswith("  not struck: rename 1: no reason is known\n")  # below the table again


def test_a_point_that_need_not_be_struck_is_named_with_the_reason():
    reason = "it comes after the last change"
    outcomes = (Outcome(), Outcome(struck=False, point="close 9"))
    survived, said = run(Scripted(*outcomes, unstruck={"close 9": reason}))
    assert survived
    assert f"1 of 2 points struck\n  not struck: close 9: {reason}\n" in said


def test_where_nothing_was_struck_the_campaign_fails():
    survived, said = run(Scripted(Outcome(struck=False)))
    assert not survived
    assert "0 of 1 points struck\n  not struck: trial 1: no reason is known\n" in said


def test_a_fault_that_came_too_late_is_tried_again():
    survived, said = run(Scripted([Outcome(struck=False), Outcome(struck=True)]))
    assert survived
    assert "1 of 1 points struck" in said


def test_a_broken_trial_can_be_repeated_by_one_command():
    survived, said = run(Scripted(Outcome(), Outcome(lost=["event 7"])))
    assert not survived
    assert "scripted, trial 2: broken promises\n  lost: event 7\n" in said
    assert f"again: python -m faults scripted --seed {SEED} --only 2\n" in said


def test_a_trial_that_cannot_go_on_is_a_broken_promise():
    survived, said = run(Scripted(AssertionError("not within 60 s: readyz is 200"), Outcome()))
    assert not survived
    assert "the trial ended with AssertionError: not within 60 s: readyz is 200" in said


def test_every_jump_of_the_clock_lasts_until_the_roll_up_once():
    lasting = {
        clock_jump.offset(n) for n in range(1, ClockJump.trials + 1) if clock_jump.is_long(n)
    }
    assert lasting == {3600, -3600, 86400, -86400}


def test_names_of_experiments_differ():
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(set(names)) == len(names)
    assert set(SHORT) <= set(names)
