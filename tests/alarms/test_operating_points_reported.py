"""Operating points by the speed and load that a control system reports."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from ssdpt.alarms.operating_points import UNKNOWN, OperatingPointLearner, OperatingPoints
from ssdpt.alarms.speed_and_load import SpeedAndLoad

FLAT = np.full(32, -40.0)


def learned(*groups):
    """From groups of (clips, speed, load), which all sound the same."""
    rng = np.random.default_rng(0)
    operations = [
        SpeedAndLoad(
            None if speed is None else speed * (1 + 0.005 * rng.standard_normal()),
            None if load is None else load + rng.standard_normal(),
        )
        for clips, speed, load in groups
        for _ in range(clips)
    ]
    spectra = FLAT + rng.normal(0, 0.5, (len(operations), 32))
    scores = rng.normal(0, 0.1, len(operations))
    return OperatingPoints.learn(spectra, spectra.mean(1), scores, operations)


def test_points_that_sound_alike_are_told_apart_by_their_speed():
    points = learned((30, 1480, None), (20, 990, None))
    assert [point.operation.speed_rpm for point in points.points] == pytest.approx(
        [1480, 990], rel=0.01
    )
    assert points.at(FLAT, SpeedAndLoad(1490)) == 1
    assert points.at(FLAT, SpeedAndLoad(985)) == 2
    assert re.fullmatch(r"9[89]\d rpm", points.title(2))
    assert points.named(2, "slow").title(2) == "slow"


def test_a_speed_that_was_never_learned_is_no_known_point_whatever_it_sounds_like():
    points = learned((30, 1480, None), (20, 990, None))
    for speed in (1200, 2900, 0):
        assert points.at(FLAT, SpeedAndLoad(speed)) == UNKNOWN
    one = learned((30, 1480, None))
    assert one.at(FLAT, SpeedAndLoad(1480)) == 1
    assert one.at(FLAT, SpeedAndLoad(2900)) == UNKNOWN


def test_load_tells_points_apart_where_the_speed_is_the_same():
    points = learned((30, 1480, 80), (20, 1480, 30))
    assert points.at(FLAT, SpeedAndLoad(1480, 79)) == 1
    assert points.at(FLAT, SpeedAndLoad(1480, 31)) == 2
    assert points.at(FLAT, SpeedAndLoad(1480, 55)) == UNKNOWN
    assert points.at(FLAT, SpeedAndLoad(None, 31)) == 2


def test_without_operating_data_the_sound_decides():
    rng = np.random.default_rng(1)
    spectra = np.concatenate([FLAT + rng.normal(0, 0.5, (20, 32)), FLAT - 10 + np.zeros((20, 32))])
    operations = [SpeedAndLoad(1480)] * 20 + [SpeedAndLoad(990)] * 20
    points = OperatingPoints.learn(spectra, spectra.mean(1), np.arange(40.0), operations)
    quiet = 1 + [point.operation.speed_rpm for point in points.points].index(990)
    assert points.at(FLAT - 10) == quiet
    assert points.at(FLAT - 10, SpeedAndLoad(None, 50)) == quiet
    assert points.at(FLAT - 10, SpeedAndLoad(1480)) == 3 - quiet


def test_points_of_one_speed_are_still_separated_by_sound():
    spectra = np.concatenate([FLAT + np.zeros((20, 32)), FLAT - 10 + np.zeros((20, 32))])
    spectra = spectra + np.random.default_rng(1).normal(0, 0.3, spectra.shape)
    operations = [SpeedAndLoad(1480)] * 40
    points = OperatingPoints.learn(spectra, spectra.mean(1), np.arange(40.0), operations)
    assert len(points.points) == 2
    here = SpeedAndLoad(1480)
    assert {points.at(FLAT, here), points.at(FLAT - 10, here)} == {1, 2}
    assert points.at(FLAT - 5, here) == UNKNOWN
    assert points.at(FLAT, SpeedAndLoad(2900)) == UNKNOWN


def test_clips_of_which_some_have_no_speed_are_separated_by_sound():
    operations = [SpeedAndLoad(1480)] * 10 + [SpeedAndLoad()] * 10
    spectra = np.tile(FLAT, (20, 1)) + np.random.default_rng(0).normal(0, 0.5, (20, 32))
    points = OperatingPoints.learn(spectra, spectra.mean(1), np.ones(20), operations)
    assert points.points[0].operation == SpeedAndLoad()
    assert points.at(FLAT, SpeedAndLoad(2900)) == 1


def test_speed_and_load_survive_a_restart_and_are_not_needed():
    points = learned((30, 1480, 80), (20, 990, 40))
    state = json.loads(json.dumps(points.to_json()))
    assert OperatingPoints.from_json(state) == points
    for point in state["points"]:
        for name in ("speed_rpm", "load_percent", "operation_radius"):
            del point[name]
    old = OperatingPoints.from_json(state)  # written by an earlier release
    assert old.at(FLAT, SpeedAndLoad(990)) in (1, 2)


def test_a_change_of_speed_within_a_clip_is_one_speed_or_the_other():
    seconds = [SpeedAndLoad(990, 10)] * 4 + [SpeedAndLoad(1480, 10)] * 5
    assert SpeedAndLoad.over(seconds) == SpeedAndLoad(1480, 10)
    assert SpeedAndLoad.over([*seconds, SpeedAndLoad(None, 10)]) == SpeedAndLoad(None, 10)
    assert SpeedAndLoad.over([]) == SpeedAndLoad()


def test_the_live_learner_keeps_speeds():
    learner = OperatingPointLearner(clips_needed=20)
    for number in range(20):
        learner.add(FLAT, -40.0, 0.0, SpeedAndLoad(1480 if number % 2 else 990))
    assert len(learner.learn().points) == 2
