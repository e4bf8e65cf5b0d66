"""Results: values over seeds, the oracle epoch, differences with intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from ssdpt.config.tree import load_config
from ssdpt.experiments.paper.beta import beta_name, rescored
from ssdpt.experiments.paper.cells import CellClip
from ssdpt.experiments.paper.results import ExperimentResults, MachineScores, oracle_epoch
from ssdpt.experiments.paper.variants import Variant

CLIPS = tuple(
    CellClip(f"{section}-{n}.wav", "fan", section, "source", label)
    for section in ("00", "01")
    for label in ("normal", "anomaly")
    for n in range(20)
)
LABELS = np.array([clip.label == "anomaly" for clip in CLIPS])


def scores(lift, seed, oracle=None, parts=None):
    noise = np.random.default_rng(seed).normal(size=len(CLIPS))
    value = (noise + lift * LABELS).astype(np.float32)
    return MachineScores(CLIPS, value, oracle, 2 if oracle is not None else None, parts or {}, ())


def results(lookup, machines=("fan",), seeds=(0, 1)):
    names = {name: Variant(name, name) for name in ("good", "bad", "ssdpt")}
    return ExperimentResults(names, machines, seeds, lookup)


def plain(variant, machine, seed):
    return scores({"good": 2.0, "bad": 0.3}[variant], seed)


def h_auc(value):
    parts = [roc_auc_score(LABELS[part], value[part]) for part in (slice(0, 40), slice(40, 80))]
    return 2 / sum(1 / part for part in parts)


def test_a_value_is_the_mean_over_seeds():
    expected = [h_auc(scores(2.0, seed).value) for seed in (0, 1)]
    spread = results(plain).spread("good", "fan")
    assert spread.mean == pytest.approx(np.mean(expected))
    assert spread.deviation == pytest.approx(np.std(expected, ddof=1))
    assert spread.seeds == 2


def test_one_seed_has_no_spread():
    assert results(plain, seeds=(0,)).spread("good", "fan").deviation == 0


def test_overall_by_both_means():
    fake = results(
        lambda v, machine, s: scores({"fan": 2.0, "pump": 0.5}[machine], s), ("fan", "pump")
    )
    each = [fake.spread("good", machine) for machine in ("fan", "pump")]
    by_seed = [[h_auc(scores(lift, seed).value) for lift in (2.0, 0.5)] for seed in (0, 1)]
    arithmetic = fake.overall("good", mean="arithmetic").mean
    assert arithmetic == pytest.approx(np.mean([spread.mean for spread in each]))
    harmonic = np.mean([2 / sum(1 / value for value in pair) for pair in by_seed])
    assert fake.overall("good").mean == pytest.approx(harmonic)
    assert fake.overall("good").mean < arithmetic


def test_a_seed_with_a_missing_machine_is_left_out_of_the_mean():
    def lookup(variant, machine, seed):
        return None if (machine, seed) == ("pump", 1) else scores(1.0, seed)

    assert results(lookup, ("fan", "pump")).overall("good").seeds == 1


def test_failed_cells_have_no_results():
    fake = results(lambda *_: None)
    assert fake.spread("good", "fan") is None
    assert fake.overall("good") is None
    assert fake.difference("good", "bad") is None
    assert fake.interval("good") is None
    assert fake.machines_of("good") == []


def test_a_clear_difference_is_clear_and_its_sign_right():
    difference = results(plain).difference("good", "bad")
    assert 0 < difference.low < difference.value < difference.high
    reverse = results(plain).difference("bad", "good")
    assert reverse.high < 0
    assert reverse.value == pytest.approx(-difference.value)


def test_no_difference_to_oneself():
    difference = results(plain).difference("good", "good")
    assert (difference.value, difference.low, difference.high) == (0, 0, 0)


def test_the_oracle_is_the_epoch_best_on_labels():
    epochs = np.stack([scores(lift, 3).value for lift in (0.1, 3.0, 0.5)])
    assert oracle_epoch(CLIPS, epochs) == 1
    assert oracle_epoch(CLIPS, np.zeros((0, len(CLIPS)))) is None
    assert oracle_epoch(CLIPS, np.zeros((1, len(CLIPS)))) is None  # there was no choice
    normal = tuple(clip for clip in CLIPS if clip.label == "normal")
    assert oracle_epoch(normal, np.zeros((2, len(normal)))) is None


def test_the_oracle_stands_beside_the_last_epoch():
    best = scores(5.0, 0).value
    fake = results(lambda v, m, seed: scores(0.5, seed, oracle=best))
    assert fake.spread("good", "fan", epoch="oracle").mean > fake.spread("good", "fan").mean
    assert results(plain).spread("good", "fan", epoch="oracle") is None


def test_beta_is_re_scored_from_the_parts():
    parts = {"identity": scores(0.0, 1).value, "reconstruction": LABELS.astype(np.float32) * 1000}
    fake = results(lambda v, m, seed: scores(0.0, seed, parts=parts), seeds=(0,))
    config = load_config("paper", {"features.n_mels": 8, "ssdpt.frames": 8})
    mean = rescored(fake, config, "mean")
    value = mean.scores(beta_name(0.001), "fan", 0).value
    np.testing.assert_allclose(value, parts["identity"] + LABELS, rtol=1e-5)
    assert mean.spread(beta_name(0.0), "fan").mean < mean.spread(beta_name(0.005), "fan").mean
    summed = rescored(fake, config, "sum").scores(beta_name(0.001), "fan", 0).value
    np.testing.assert_allclose(summed, parts["identity"] + 64 * LABELS, rtol=1e-5)
    stored = load_config("paper", {"ssdpt.error": "sum"})
    same = rescored(fake, stored, "sum").scores(beta_name(0.001), "fan", 0).value
    np.testing.assert_array_equal(same, value)


def test_only_common_seeds_are_compared():
    """A seed that only one variant has would compare seeds, not variants."""

    def lookup(variant, machine, seed):
        if variant == "bad" and seed == 1:
            return None
        return scores(2.0 if seed == 0 else -5.0, 0)

    fake = results(lookup)
    assert fake.difference("good", "bad").value == 0
    alone = results(lambda v, m, seed: scores(1, 0) if (v == "good") == (seed == 0) else None)
    assert alone.difference("good", "bad") is None


def test_a_lead_in_one_of_three_trainings_is_none():
    """Drawing only clips anew would call it one: that does not show what other trainings give."""

    def lookup(variant, machine, seed):
        lift = 4.0 if seed == 0 else -0.25
        return scores(lift if variant == "good" else 0.0, seed)

    lead = results(lookup, seeds=(0, 1, 2)).difference("good", "bad")
    of_seeds = [results(lookup, seeds=(seed,)).difference("good", "bad") for seed in (0, 1, 2)]
    assert lead.value == pytest.approx(np.mean([each.value for each in of_seeds]))
    assert lead.value > 0.05
    assert of_seeds[0].low > 0.3
    assert lead.low < 0 < lead.high
    assert results(plain, seeds=(0, 1, 2)).difference("good", "bad").low > 0


def test_no_interval_where_no_seed_has_all_machines():
    def lookup(variant, machine, seed):
        return scores(1.0, 0) if (machine == "fan") == (seed == 0) else None

    assert results(lookup, ("fan", "pump")).interval("good") is None


def test_all_machines_have_equal_weight_for_any_number_of_sections():
    """The same "All" in tables and claims."""

    def lookup(variant, machine, seed):
        lift = {"fan": 2.0, "pump": 0.5}[machine]
        machine_scores = scores(lift, 0)
        kept = [n for n, clip in enumerate(CLIPS) if machine == "fan" or clip.section == "00"]
        return replace(
            machine_scores,
            clips=tuple(CLIPS[n] for n in kept),
            value=machine_scores.value[kept],
        )

    fake = results(lookup, ("fan", "pump"), seeds=(0,))
    assert fake.interval("good").value == pytest.approx(fake.overall("good").mean)
    arithmetic = fake.overall("good", mean="arithmetic").mean
    assert fake.interval("good", mean="arithmetic").value == pytest.approx(arithmetic)
