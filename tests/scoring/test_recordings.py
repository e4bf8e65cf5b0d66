"""The margin for the next recording."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import Calibration, calibrate, fit_tail
from ssdpt.scoring.recordings import recording_margin

SOURCE = ("00", "source")


def drawn(recordings, clips, between, seed=0):
    """Scores whose recordings have offsets with a deviation of `between`, and their numbers."""
    random = np.random.default_rng(seed)
    offsets = between * random.standard_normal(recordings)
    scores = offsets[:, None] + random.standard_normal((recordings, clips))
    return scores.ravel(), np.repeat(np.arange(recordings), clips).tolist()


def test_fewer_recordings_have_a_wider_margin():
    margins = [
        np.mean([recording_margin(*drawn(n, 60 // n, 1.0, seed)) for seed in range(20)])
        for n in (1, 2, 5, 20)
    ]
    assert margins == sorted(margins, reverse=True)
    assert margins[0] > 0.5
    assert margins[-1] < 0.2


@pytest.mark.parametrize("recordings", [2, 3, 6, 12])
def test_the_next_recording_exceeds_the_threshold_about_as_often_as_requested(recordings):
    """Over many machines; without the margin too often."""
    above = {"with": [], "without": []}
    for seed in range(150):
        scores, numbers = drawn(recordings + 1, 12, 1.0, seed)
        learned, new = scores[:-12], scores[-12:]
        threshold = np.quantile(learned, 0.9)
        margin = recording_margin(learned, numbers[:-12])
        above["without"].append((new > threshold).mean())
        above["with"].append((new > threshold + margin).mean())
    rate, plain = np.mean(above["with"]), np.mean(above["without"])
    assert rate < plain
    assert 0.03 < rate < 0.15


def test_single_clips_and_equal_scores_need_no_special_case():
    assert recording_margin(np.ones(10), [0] * 10) == 0.0
    assert recording_margin(np.array([3.0]), [0]) == 0.0
    every = np.random.default_rng(0).standard_normal(200)
    assert recording_margin(every, range(200)) < 0.1


def test_a_margin_leaves_the_lower_half_as_it_is():
    scores, numbers = drawn(1, 60, 0.0)
    plain, wide = (fit_tail([scores], DecisionConfig(), 0, item) for item in (None, [numbers]))
    assert wide.threshold(0.7) == plain.threshold(0.7)
    difference = [wide.threshold(rate) - plain.threshold(rate) for rate in (0.09, 0.01, 0.001)]
    assert difference == pytest.approx([difference[0]] * 3)
    assert difference[0] > 0


def test_a_calibration_says_how_many_recordings_stand_behind_it():
    scores, numbers = drawn(6, 10, 1.0)
    settings = {"cross_fitted": True, "seed": 0}
    calibration = calibrate(
        {SOURCE: scores}, DecisionConfig(), recordings={SOURCE: numbers}, **settings
    )
    assert calibration.pooled.recordings == 6
    assert calibration.pooled.provisional  # nobody knows when they were made
    dated = calibrate(
        {SOURCE: scores},
        DecisionConfig(),
        recordings={SOURCE: numbers},
        at_other_times=True,
        known={SOURCE: scores},
        **settings,
    )
    assert not dated.pooled.provisional
    assert dated.pooled.known_recordings.median == pytest.approx(np.median(scores))
    assert Calibration.from_json(dated.to_json()) == dated


def test_a_calibration_of_an_older_format_knows_of_no_recordings():
    calibration = calibrate(
        {SOURCE: drawn(6, 10, 1.0)[0]}, DecisionConfig(), cross_fitted=True, seed=0
    )
    tree = calibration.to_json()
    for tail in (tree["pooled"], *tree["sections"].values()):
        for name in ("recordings", "provisional", "known_recordings", "commissioned"):
            del tail[name]
    old = Calibration.from_json(tree)
    assert old == calibration
    assert (old.pooled.recordings, old.pooled.provisional) == (None, False)
