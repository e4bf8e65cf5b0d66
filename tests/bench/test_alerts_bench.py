"""False alerts: the bench counts as the monitor does, and more days bring limits nearer."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.alarms.state_machine import AlarmStateMachine, Smoother
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.bench.alerts import alerts
from ssdpt.cli import app


@pytest.mark.parametrize("shortest", [0.0, 3.0])
def test_it_counts_as_the_monitor_does(shortest):
    settings = AlarmSettings(shortest=shortest, settle=4.0)
    scores = np.random.default_rng(0).standard_normal(20_000)
    smoother, keeper = Smoother(5.0), AlarmStateMachine(settings)
    limits = Thresholds(0.7, 9.0, 0.5, 7.0, 0.0, 1.0, True, "")
    smoothed, before, count = [], "normal", 0
    for second, score in enumerate(scores.tolist()):
        smoothed.append(smoother.add(float(second), score))
        level = keeper.update(float(second), smoothed[-1], limits)
        count += before == "normal" != level
        before = level
    assert count > 50
    assert alerts(np.array(smoothed), limits, settings) == pytest.approx(count, abs=2)


def test_more_days_bring_the_rate_nearer_to_what_was_asked_for():
    asked = ["bench", "alerts", "--weeks", "2", "--after", "3", "--after", "0"]
    rows = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)["rows"]
    assert len(rows) == 4 * 2 * 3
    off = {
        days: np.mean(
            [abs(row["found"] - 10) for row in rows if (row["days"], row["asked"]) == (days, 10.0)]
        )
        for days in (0, 3)
    }
    assert off[3] < off[0]


def test_the_command_prints_a_line_for_every_kind_and_number_of_days():
    asked = ["bench", "alerts", "--weeks", "1", "--after", "0"]
    printed = CliRunner().invoke(app, asked).stdout.splitlines()
    assert "10 a week asked" in printed[0]
    assert [line.split("  ")[0] for line in printed[1:]] == [
        "steady",
        "slow swings",
        "skewed",
        "heavy tails",
    ]
