"""The margin for the next recording."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ssdpt.config.settings import DecisionConfig
from ssdpt.scoring.calibrate import Calibration, KnownRecordings, calibrate, fit_tail
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


def variances(groups):
    """Of a one-way analysis of variance: within the groups, and between their means."""
    clips, count = sum(map(len, groups)), len(groups)
    within = sum((len(group) - 1) * np.var(group, ddof=1) for group in groups) / (clips - count)
    if count == 1:
        return within, 0.0
    grand = np.mean(np.concatenate(groups))
    between_squares = sum(len(group) * (np.mean(group) - grand) ** 2 for group in groups)
    size = (clips - sum(len(group) ** 2 for group in groups) / clips) / (count - 1)
    return within, max((between_squares / (count - 1) - within) / size, 0.0)


@pytest.mark.parametrize(
    "groups",
    [
        [[0.0, 1.0, 3.0, 4.0, 9.0]],
        [[0.0, 1.0, 3.0, 4.0], [10.0, 12.0, 13.0, 17.0]],
        [[0.0, 1.0, 3.0], [6.0, 8.0, 7.0, 11.0, 9.0], [2.0, 4.0]],
        [[0.0, 2.0], [0.5, 2.5], [0.0, 2.0]],  # means hardly differ
    ],
)
def test_the_margin_is_that_of_a_predicted_recording(groups):
    """Student's t of the sum of both variances, a prior of three recordings, against the normal."""
    scores = np.concatenate(groups)
    numbers = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    within, between = variances(groups)
    degrees = 3 + len(groups) - 1
    offset = (3 * within + (len(groups) - 1) * between) / degrees * (1 + 1 / len(groups))
    freedom = (within + offset) ** 2 / (
        offset**2 / degrees + within**2 / (len(scores) - len(groups))
    )
    wider = np.sqrt((within + offset) / np.var(scores, ddof=1)) * stats.t.isf(0.1, freedom)
    above_median = np.quantile(scores, 0.9) - np.median(scores)
    expected = max(wider / stats.norm.isf(0.1) - 1, 0.0) * above_median
    assert recording_margin(scores, numbers.tolist()) == pytest.approx(expected)
    assert recording_margin(10 + 3 * scores, numbers.tolist()) == pytest.approx(3 * expected)


def test_recordings_of_one_clip_each_count_as_alike_within():
    """Nothing says how clips of one recording differ: all of it may lie between recordings."""
    scores = np.array([0.0, 1.0, 3.0, 4.0, 9.0])
    variance, count = np.var(scores, ddof=1), 5
    degrees = 3 + count - 1
    offset = variance * (1 + 1 / count)
    wider = np.sqrt(offset / variance) * stats.t.isf(0.1, degrees)
    expected = (wider / stats.norm.isf(0.1) - 1) * (np.quantile(scores, 0.9) - np.median(scores))
    assert recording_margin(scores, range(count)) == pytest.approx(expected)


def test_known_recordings_are_described_by_their_median_and_their_lower_half():
    scores = np.random.default_rng(0).normal(20, 3, 20_000)
    known = KnownRecordings.of(scores.tolist())
    assert (known.median, known.spread) == pytest.approx((20.0, 3.0), rel=0.03)
    stretched = np.where(scores > 20, 20 + 10 * (scores - 20), scores)
    assert KnownRecordings.of(stretched).spread == pytest.approx(3.0, rel=0.03)
    assert KnownRecordings.of([1, 2, 3]).median == 2.0


@pytest.mark.parametrize(("recordings", "sections", "provisional"), [
    (4, 1, True), (5, 1, False), (9, 2, True), (10, 2, False),
])  # fmt: skip
def test_five_recordings_of_each_section_at_other_times_suffice(recordings, sections, provisional):
    names = [f"{number:02d}" for number in range(sections)]
    scores = {(name, "source"): drawn(recordings, 3, 1.0)[0] for name in names}
    every = np.repeat(np.arange(recordings), 3)
    numbers = {
        (name, "source"): [int(item) for item in every if item % sections == place]
        for place, name in enumerate(names)
    }
    scores = {key: values[: len(numbers[key])] for key, values in scores.items()}
    calibration = calibrate(
        scores,
        DecisionConfig(),
        cross_fitted=True,
        seed=0,
        recordings=numbers,
        at_other_times=True,
    )
    assert calibration.pooled.recordings == recordings
    assert calibration.pooled.provisional is provisional


def test_known_scores_are_those_of_the_domain_with_the_most_clips():
    target = ("00", "target")
    scores = {SOURCE: drawn(6, 10, 1.0)[0], target: np.array([50.0, 51.0, 52.0])}
    numbers = {SOURCE: drawn(6, 10, 1.0)[1], target: [6, 6, 6]}
    settings = {"cross_fitted": True, "seed": 0, "recordings": numbers}
    known = {SOURCE: [1.0, 2.0, 3.0], target: [90.0, 91.0, 92.0]}
    calibration = calibrate(scores, DecisionConfig(), known=known, **settings)
    assert calibration.pooled.known_recordings.median == 2.0
    assert calibration.pooled.recordings == 7
    two = calibrate(scores, DecisionConfig(), known={SOURCE: [1.0, 3.0]}, **settings)
    assert two.pooled.known_recordings.median == 2.0
    one = calibrate(scores, DecisionConfig(), known={SOURCE: [1.0]}, **settings)
    assert one.pooled.known_recordings is None  # of a single clip there is no spread


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
    assert difference == pytest.approx([recording_margin(scores, numbers)] * 3)
    assert difference[0] > 0
    half_way = np.sqrt(0.5 * 0.1)  # between the two rates, in the logarithm
    assert wide.threshold(half_way) - plain.threshold(half_way) == pytest.approx(
        difference[0] / 2, rel=0.02
    )


def test_a_calibration_has_the_margin_of_the_recordings_of_each_domain():
    target = ("00", "target")
    (few, few_numbers), (many, many_numbers) = drawn(3, 6, 2.0), drawn(5, 12, 2.0, seed=1)
    settings = {"cross_fitted": True, "seed": 0}
    calibration = calibrate(
        {SOURCE: many, target: few},
        DecisionConfig(),
        recordings={SOURCE: many_numbers, target: few_numbers},
        **settings,
    )
    expected = fit_tail([many, few], DecisionConfig(), 0, [many_numbers, few_numbers])
    plain = fit_tail([many, few], DecisionConfig(), 0)
    for rate in (0.3, 0.1, 0.01):
        assert calibration.pooled.threshold(rate) == expected.threshold(rate)
        assert expected.threshold(rate) > plain.threshold(rate)
    alone = fit_tail([many], DecisionConfig(), 0, [many_numbers])
    margin = recording_margin(many, many_numbers)
    assert alone.threshold(0.05) == pytest.approx(
        fit_tail([many], DecisionConfig(), 0).threshold(0.05) + margin
    )


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
