"""Runs to failure: learned from early life, judged in order of time, told in table and page."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from bearing_lives import RATE, life, write_life
from ssdpt.cli import app
from ssdpt.data.snapshots import Run
from ssdpt.errors import SsdptError
from ssdpt.evaluation.run_to_failure.evaluation import COLUMNS, evaluate_runs
from ssdpt.evaluation.run_to_failure.run_outcome import follow_run, measure_run


def run_of(rows, name="bearing"):
    times = 10.0 * np.arange(len(rows))
    return Run(name, RATE, "g", 50.0, rows, times)


def follow(rows):
    return follow_run(measure_run(run_of(rows)))


@pytest.mark.parametrize("knocking", [True, False])
def test_growing_damage_is_an_alarm_in_the_second_half(knocking):
    outcome = follow(life(damage=0.7, knocking=knocking))
    assert outcome.verdict(outcome.alarm) == "right"
    assert 0.7 <= outcome.share(outcome.alarm) <= 0.95
    assert outcome.lead_seconds == pytest.approx(
        (1 - outcome.share(outcome.alarm)) * outcome.run.times[-1]
    )
    assert outcome.alarms_before_half == 0


def test_life_without_damage_has_no_alarm():
    outcome = follow(life(growth=0.0))
    assert outcome.alarm is None
    assert outcome.verdict(outcome.alarm) == "missed"
    assert outcome.lead_seconds is None
    assert outcome.alerts_before_half == 0


def test_damage_that_begins_early_is_told_as_a_false_alarm():
    outcome = follow(life(damage=0.25, growth=60.0))
    assert outcome.verdict(outcome.alarm) == "false"
    assert outcome.alarms_before_half >= 1


def test_break_in_the_last_half_minute_is_an_alarm():
    rows = life(growth=0.0)
    rows[-3:] *= 5.0
    outcome = follow(rows)
    assert outcome.verdict(outcome.alarm) == "late"


def test_two_loud_snapshots_are_no_alarm():
    rows = life(growth=0.0)
    rows[150:152] *= 3.0
    assert follow(rows).alarm is None


def test_nothing_of_the_future_is_used():
    rows = life()
    whole, shortened = follow(rows), measure_run(run_of(rows))
    alarm = whole.alarm
    cut = measure_run(run_of(rows[: alarm + 1]))
    # The same learning part, but the life ends with the alarm.
    same = type(cut)(cut.run, cut.steps, cut.edges_hz, shortened.learned)
    assert follow_run(same).alarm == alarm


def test_plain_rules_stand_beside_it():
    outcome = follow(life())
    assert set(outcome.rules) == {"RMS + 6 σ", "eight bands", "kurtosis + 6 σ", "one Gaussian"}
    assert outcome.rules["eight bands"] is not None


def test_short_life_is_refused_in_a_sentence():
    with pytest.raises(SsdptError, match="60 snapshots are too few"):
        measure_run(run_of(life(snapshots=60)))


def test_outlook_speaks_before_a_slow_failure():
    outcome = follow(life(snapshots=900, damage=0.3, growth=3.0, knocking=False))
    assert outcome.outlook_hits
    assert np.mean(outcome.outlook_hits) > 0.5


def test_table_and_page(tmp_path):
    write_life(tmp_path / "runs" / "worn.flac", life())
    write_life(tmp_path / "runs" / "fine.flac", life(growth=0.0, seed=1))
    result = evaluate_runs(tmp_path / "runs", tmp_path / "out", snapshot=0.1, every=10)
    with (tmp_path / "out" / "runs.csv").open(newline="") as file:
        rows = {row["run"]: row for row in csv.DictReader(file)}
    assert tuple(rows["worn"]) == COLUMNS
    assert rows["worn"]["verdict"] == "right"
    assert 0.5 < float(rows["worn"]["first_alarm"]) <= 0.95
    assert rows["worn"]["clips"] == "400"
    assert (rows["fine"]["verdict"], rows["fine"]["first_alarm"]) == ("missed", "")
    page = result.report.read_text("utf-8")
    assert page.count("<svg") == 2
    assert "http" not in page.replace("http://www.w3.org", "")


def test_command(tmp_path):
    write_life(tmp_path / "runs" / "worn.flac", life())
    arguments = ["evaluate", "--run-to-failure", str(tmp_path / "runs"), "--out"]
    arguments += [str(tmp_path / "out"), "--snapshot", "0.1", "--every", "10"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "right" in result.output
    assert "report.html" in result.output


def test_axis_is_chosen_by_its_name(tmp_path):
    fine, worn = life(growth=0.0, seed=1).reshape(-1), life().reshape(-1)
    (tmp_path / "runs").mkdir()
    soundfile.write(tmp_path / "runs" / "a.flac", np.stack([fine, worn], axis=1), RATE)
    sensor = "unit: g\nfull_scale: 50\naxes: [x, y]\nsnapshot: 0.1\nevery: 10\n"
    (tmp_path / "runs" / "sensor.yaml").write_text(sensor)
    arguments = ["evaluate", "--run-to-failure", str(tmp_path / "runs"), "--out"]
    arguments += [str(tmp_path / "out")]
    for axis, verdict in (("x", "missed"), ("y", "right"), ("1", "right")):
        result = CliRunner().invoke(app, [*arguments, "--channel", axis])
        assert result.exit_code == 0, result.output
        assert verdict in result.output.splitlines()[1]
    result = CliRunner().invoke(app, [*arguments, "--channel", "z"])
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["evaluate"], "--out"),
        (["evaluate", "--out", "x"], "name a model"),
        (["evaluate", "m", "d", "--run-to-failure", "x", "--out", "x"], "takes no model"),
        (["evaluate", "--run-to-failure", "nowhere", "--out", "x"], "no such file or folder"),
    ],
)
def test_wrong_call_is_answered_in_a_sentence(arguments, sentence):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0
    assert sentence in result.output
