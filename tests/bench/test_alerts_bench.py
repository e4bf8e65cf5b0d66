"""False alerts: the benchmark counts like the service, and more days bring thresholds nearer."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fixed_thresholds import fixed_thresholds
from ssdpt.alarms.baseline import Baseline
from ssdpt.alarms.judge import MachineJudge, ScoreScale
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine, Smoother
from ssdpt.bench.alerts import count_alerts, run_machine
from ssdpt.cli import app
from ssdpt.scoring.calibrate import block_tail


@pytest.mark.parametrize("min_duration", [0.0, 3.0])
def test_alerts_are_counted_as_the_state_machine_does(min_duration):
    settings = AlarmSettings(min_duration=min_duration, clear_after=4.0)
    scores = np.random.default_rng(0).standard_normal(20_000)
    smoother, machine = Smoother(5.0), AlarmStateMachine(settings)
    thresholds = fixed_thresholds(alert=0.7, alarm=9.0, alert_exit=0.5, alarm_exit=7.0)
    smoothed, before, count = [], "normal", 0
    for second, score in enumerate(scores.tolist()):
        smoothed.append(smoother.update(float(second), score))
        level = machine.update(float(second), smoothed[-1], thresholds)
        count += before == "normal" != level
        before = level
    assert count > 50
    assert count_alerts(np.array(smoothed), thresholds, settings) == pytest.approx(count, abs=2)


def test_a_machine_is_judged_as_the_service_does():
    settings = AlarmSettings()
    tail = block_tail(np.random.default_rng(0).normal(0, 1, 60))
    scores = np.random.default_rng(1).normal(0, 1, 4000)
    scores[1000:1060] += 9.0  # a short alert, which counts
    scores[2000:2500] += 9.0  # a long one, which does not
    judge = MachineJudge(settings, ScoreScale(tail, clip_seconds=10.0))
    verdicts = [judge.update(float(second), 1.0, score) for second, score in enumerate(scores)]
    assert {verdict.level for verdict in verdicts} == {"normal", "alarm"}
    baseline = Baseline(settings.min_duration)
    smoothed = np.array([verdict.smoothed for verdict in verdicts])
    run_machine(smoothed, 0, baseline, AlarmStateMachine(settings), tail)
    assert len(baseline.blocks.highest) > 3
    assert baseline.blocks.to_json() == judge.baseline.blocks.to_json()
    assert baseline.long_term == judge.baseline.long_term


def test_more_days_bring_the_rate_nearer_to_the_requested_one():
    arguments = ["bench", "alerts", "--weeks", "2", "--after", "3", "--after", "0"]
    rows = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)["rows"]
    assert len(rows) == 4 * 2 * 3
    errors = {
        days: np.mean(
            [
                abs(row["observed"] - 10)
                for row in rows
                if (row["days"], row["requested"]) == (days, 10.0)
            ]
        )
        for days in (0, 3)
    }
    assert errors[3] < errors[0]


def test_the_command_prints_a_line_for_every_kind_and_number_of_days():
    arguments = ["bench", "alerts", "--weeks", "1", "--after", "0"]
    printed = CliRunner().invoke(app, arguments).stdout.splitlines()
    assert "10 requested per week" in printed[0]
    assert [line.split("  ")[0] for line in printed[1:]] == [
        "steady",
        "slow variation",
        "skewed",
        "heavy tails",
    ]
