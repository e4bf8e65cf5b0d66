"""Requested and measured false-alarm rates: counts, intervals, sentences."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from evaluation_fakes import make_fakes
from scipy import stats

from ssdpt.evaluation import plots
from ssdpt.evaluation.clips import ScoredClip
from ssdpt.evaluation.evaluate import evaluate
from ssdpt.evaluation.reliability import CURVE, exact_interval, measured_rates, reliabilities
from ssdpt.evaluation.report import ALL_AS_REQUESTED
from ssdpt.types import Recording, Score, Timeline


def clip(p_value, machine="fan", section="00", domain="source", label="normal"):
    nothing = np.zeros(1, np.float32)
    score = Score("a.wav", machine, section, 0.0, 0.0, "normal", p_value, {}, nothing_of(nothing))
    return ScoredClip(Recording(Path("a.wav"), machine, section, domain, "test", label), score)


def nothing_of(zeros):
    return Timeline(zeros, 1.0, zeros)


def evenly(count, **fields):
    """Clips of a well calibrated model: p-values spread evenly over 0 to 1."""
    return [clip((number + 0.5) / count, **fields) for number in range(count)]


def test_rates_are_counted_by_p_value():
    rates = measured_rates([0.005, 0.01, 0.03, 0.07, 0.5, 1.0], (0.01, 0.05, 0.1))
    assert [rate.alarms for rate in rates] == [1, 3, 4]  # at the threshold itself a clip is normal
    assert [rate.rate for rate in rates] == pytest.approx([1 / 6, 3 / 6, 4 / 6])
    assert {rate.clips for rate in rates} == {6}


def test_results_are_per_machine_and_domain_over_all_sections():
    clips = [
        *evenly(100, section="00"),
        *evenly(100, section="01"),
        *evenly(50, domain="target"),
        *evenly(40, machine="Pump"),
        *[clip(0.0, label="anomaly")] * 30,
    ]
    entries = reliabilities(clips)
    assert [(entry.machine, entry.domain, entry.clips) for entry in entries] == [
        ("Pump", "source", 40),
        ("fan", "source", 200),
        ("fan", "target", 50),
    ]
    assert [rate.alarms for rate in entries[1].rates] == [2, 10, 20]
    assert [point.requested for point in entries[1].curve] == list(CURVE)
    assert [point.alarms for point in entries[1].curve] == sorted(
        p.alarms for p in entries[1].curve
    )


@pytest.mark.parametrize(("hits", "trials"), [(0, 50), (1, 50), (10, 200), (200, 200)])
def test_intervals_are_exact(hits, trials):
    low, high = exact_interval(hits, trials)
    assert low <= hits / trials <= high
    if hits:
        assert stats.binom.sf(hits - 1, trials, low) == pytest.approx(0.025)
    if hits < trials:
        assert stats.binom.cdf(hits, trials, high) == pytest.approx(0.025)


def test_few_clips_have_a_wide_interval():
    """No alarm among fifty clips at 1 %: too few clips to contradict the requested rate."""
    (entry,) = reliabilities([clip(0.5)] * 50)
    assert entry.row["at 1 %"] == "0.0 % (0.0–7.1 %)"
    assert entry.rates[0].as_requested
    assert not entry.rates[2].as_requested


def test_rates_as_requested_need_no_sentence():
    (entry,) = reliabilities(evenly(400))
    assert entry.deviations == []
    assert entry.row["at 5 %"].startswith("5.0 % (")


def test_a_deviating_rate_is_a_sentence():
    (many,) = reliabilities([*[clip(0.03)] * 30, *[clip(0.5)] * 70])
    assert many.deviations == [
        "fan, source domain: 5 % false alarms requested, but 30 of 100 normal clips raise one, "
        "30.0 % (21.2–40.0 %): more false alarms than requested.",
        "fan, source domain: 10 % false alarms requested, but 30 of 100 normal clips raise one, "
        "30.0 % (21.2–40.0 %): more false alarms than requested.",
    ]
    (none,) = reliabilities([clip(0.5)] * 100)
    assert [sentence.rsplit(": ")[-1] for sentence in none.deviations] == [
        "fewer false alarms than requested, and therefore more misses."
    ] * 2


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    root = tmp_path_factory.mktemp("reliability")
    fleet, dataset = make_fakes(root, ("fan", "pump"), clips=10)
    return evaluate(fleet, dataset, root / "out", examples=0), root / "out"


def test_files_hold_the_counts(evaluated):
    evaluation, out = evaluated
    tree = json.loads((out / "metrics.json").read_text())["reliability"]
    assert [(entry["machine"], entry["domain"]) for entry in tree] == [
        *(("fan", "source"), ("fan", "target"), ("pump", "source"), ("pump", "target")),
    ]
    rows = list(csv.DictReader((out / "reliability.csv").read_text().splitlines()))
    assert len(rows) == 4 * (len(CURVE) + 3)  # 1, 5 and 10 % beside the curve
    p_values = [
        clip.score.p_value
        for clip in evaluation.clips
        if clip.recording.machine == "fan"
        and clip.recording.domain == "source"
        and not clip.is_faulty
    ]
    for row in rows[: len(rows) // 4]:
        assert int(row["alarms"]) == sum(p < float(row["requested"]) for p in p_values)
    for rate, row in zip(tree[0]["rates"], (0.01, 0.05, 0.1), strict=True):
        assert rate["requested"] == row
        assert rate["alarms"] == sum(p < row for p in p_values)


def test_the_report_shows_the_rates(evaluated):
    evaluation, out = evaluated
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Are the false-alarm rates as requested?" in page
    assert page.count("Requested and measured false-alarm rates, ") == 2
    for sentence in evaluation.false_alarm_deviations or [ALL_AS_REQUESTED]:
        assert sentence in page


def test_a_deviating_rate_is_drawn_in_the_colour_of_faults():
    good, bad = reliabilities(evenly(400)), reliabilities([clip(0.001)] * 400)
    assert "var(--faulty)" not in plots.reliability("fan", good)
    assert "var(--faulty)" in plots.reliability("fan", bad)
