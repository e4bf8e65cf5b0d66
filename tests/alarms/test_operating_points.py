"""Operating points: separated where they lie apart, each with its own usual score."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ssdpt.alarms.operating_points import UNKNOWN, OperatingPointLearner, OperatingPoints
from ssdpt.config.settings import FeatureConfig
from ssdpt.data.simulator.live import LiveMachine
from ssdpt.features.logmel import LogMel


def learned(*groups, seed=0):
    """From groups of (clips, level of the spectrum in dB, usual score)."""
    rng = np.random.default_rng(seed)
    spectra, scores = [], []
    for clips, level, usual_score in groups:
        spectra += list(level + rng.normal(0, 0.5, (clips, 32)))
        scores += list(usual_score + rng.normal(0, 0.1, clips))
    levels = np.array([spectrum.mean() for spectrum in spectra])
    return OperatingPoints.learn(np.array(spectra), levels, np.array(scores))


def test_two_points_are_separated_and_the_most_frequent_comes_first():
    points = learned((20, -40.0, 1.0), (60, -50.0, 3.0))
    assert [round(point.share, 2) for point in points.points] == [0.75, 0.25]
    assert [point.level_dbfs for point in points.points] == pytest.approx([-50, -40], abs=0.5)
    assert points.at(np.full(32, -49.0)) == 1
    assert points.at(np.full(32, -40.5)) == 2
    assert points.at(np.full(32, -45.0)) == UNKNOWN
    assert points.title(2) == "operating point 2"
    assert points.named(2, "idling").title(2) == "idling"
    assert points.title(UNKNOWN) == ""
    for number in (UNKNOWN, 3):
        with pytest.raises(IndexError):
            points.named(number, "")


def test_a_score_means_the_same_at_every_point():
    points = learned((100, -40.0, 1.0), (100, -50.0, 3.0))
    quiet, loud = points.at(np.full(32, -50.0)), points.at(np.full(32, -40.0))
    assert points.adjusted(3.0, quiet) == pytest.approx(points.adjusted(1.0, loud), abs=0.5)
    assert points.adjusted(3.0, loud) > points.adjusted(3.0, quiet) + 2
    assert points.adjusted(3.0, UNKNOWN) == 3.0


def test_a_point_with_few_clips_is_drawn_towards_the_mean_of_all():
    many, few = (learned((100, -40.0, 1.0), (clips, -50.0, 3.0)).points[1] for clips in (90, 6))
    assert many.usual_score == pytest.approx(2.9, abs=0.15)
    assert many.usual_score - few.usual_score > 0.5


@pytest.mark.parametrize("clips", [1, 4, 9, 60])
def test_one_cluster_is_one_point(clips):
    points = learned((clips, -40.0, 1.0))
    assert len(points.points) == 1
    assert points.points[0].share == 1.0
    assert points.adjusted(7.0, 1) == 7.0
    assert points.title(1) == ""


@pytest.mark.parametrize("distinct", [1, 2])
def test_identical_clips_are_no_points_of_their_own(distinct):
    spectra = np.repeat(np.linspace(-50.0, -40.0, distinct), 40 // distinct)[:, None]
    points = OperatingPoints.learn(np.tile(spectra, 32), np.zeros(40), np.ones(40))
    assert len(points.points) == distinct


def test_a_load_that_changes_smoothly_is_one_point():
    # Louder and brighter in steps of which none stands out, and louder than it is brighter.
    load = np.random.default_rng(0).normal(0, 1, (80, 3))
    shapes = np.random.default_rng(1).normal(0, 3, (3, 32))
    points = OperatingPoints.learn(load @ shapes - 40.0, np.zeros(80), np.ones(80))
    assert len(points.points) == 1


def test_points_outlive_a_restart():
    points = learned((20, -40.0, 1.0), (60, -50.0, 3.0)).named(1, "half load")
    assert OperatingPoints.from_json(json.loads(json.dumps(points.to_json()))) == points


def test_live_clips_are_collected_until_there_are_enough():
    learner = OperatingPointLearner(clips_needed=20)
    rng = np.random.default_rng(0)
    for clip in range(25):
        assert learner.ready is (clip >= 20)
        learner.add(np.full(32, -40.0 - 10 * (clip % 2)) + rng.normal(0, 0.3, 32), -30.0, 1.0)
    assert [point.share for point in learner.learn().points] == [0.5, 0.5]


@pytest.mark.parametrize("machine", ["fan", "valve"])
def test_a_simulated_machine_that_changes_between_two_points_has_two(machine):
    log_mel = LogMel(FeatureConfig(), 16000)
    live = LiveMachine(machine, 0, 7)
    for change_every, expected in ((None, 1), (60.0, 2)):
        clips = live.normal_clips(24, change_every=change_every)
        spectra = np.array([log_mel(clip).mean(0) for clip in clips])
        points = OperatingPoints.learn(spectra, np.zeros(24), np.ones(24))
        assert len(points.points) == expected
