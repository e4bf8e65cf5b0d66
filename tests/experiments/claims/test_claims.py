"""Verdicts: known differences are found, missing cells are noted, printed numbers are checked."""

from __future__ import annotations

import numpy as np
import pytest

from paper_fakes import CONFIG, MACHINES, fake_results
from ssdpt.config.tree import load_config
from ssdpt.evaluation.metrics import Estimate
from ssdpt.experiments.claims import beta_evidence
from ssdpt.experiments.claims.beta_evidence import BetaCurves
from ssdpt.experiments.claims.claims import SMOKE, check_claims
from ssdpt.experiments.claims.evidence import Evidence, Part, verdict
from ssdpt.experiments.paper.beta import beta_name, rescored
from ssdpt.experiments.paper.results import RESAMPLES
from ssdpt.experiments.paper.variants import BETAS, PATCHES, patch_name

SIZE = CONFIG.ssdpt.frames * CONFIG.features.n_mels


def checked(results, beta=None):
    return {claim.statement.id: claim for claim in check_claims(results, beta)}


def part(low, high):
    return Part("a over b", Estimate((low + high) / 2, low, high))


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ([], "not measured"),
        ([part(0.01, 0.02)], "holds"),
        ([part(0.01, 0.02), part(-0.01, 0.02)], "undecided"),
        ([part(0.01, 0.02), part(-0.02, -0.01)], "does not hold"),
        ([part(0.01, 0.02), Part("c", None)], "not measured"),
        ([part(-0.02, -0.01), Part("c", None)], "does not hold"),
        ([part(0.0, 0.02)], "undecided"),
    ],
)
def test_a_verdict_follows_from_its_parts(parts, word):
    assert verdict(parts) == word


def test_a_part_says_its_interval():
    assert str(part(0.01, 0.03)) == "a over b: +0.020 (+0.010 to +0.030)"
    assert str(Part("a over b", None)) == "a over b: not measured"


@pytest.fixture(scope="module")
def printed():
    nothing = fake_results(("main",), machines=("fan",), seeds=1, missing=lambda *_: True)
    return checked(nothing)


@pytest.mark.parametrize(
    ("claim", "word", "reason"),
    [
        ("baselines-surpassed", "holds", "0.616 > 0.564"),
        ("networks-over-best-auc", "holds", "0.713 > 0.705"),
        ("networks-over-best-pauc", "does not hold", "0.611 ≤ 0.625"),
        ("ssdpt-over-best-auc", "holds", "0.722 > 0.705"),
        ("ssdpt-over-best-pauc", "does not hold", "0.611 ≤ 0.616"),
        ("ensemble-over-ssdpt", "holds", "0.626 > 0.611"),
        ("auxiliary-helps", "holds", "0.611 > 0.607"),
        ("long-segments-help", "holds", "0.638 > 0.628"),
        ("long-segments-not-everywhere", "holds", "0.720 > 0.705"),
        ("blocks-help-overall", "holds", "0.720 > 0.714"),
        ("blocks-help-machines", "does not hold", "fan: 0.730 ≤ 0.732; valve: 0.752 ≤ 0.754"),
        ("two-blocks-gearbox", "holds", "0.759 > 0.722"),
        ("one-block-parameters", "does not hold", "66,048"),
        ("dpt-over-best", "does not hold", "0.607 ≤ 0.625"),
        ("beta-stable", "no numbers", "not known"),
        ("patch-best-overall", "no numbers", "no masking"),
    ],
)
def test_verdicts_from_the_printed_numbers(printed, claim, word, reason):
    assert printed[claim].printed.verdict == word
    assert reason in printed[claim].printed.reason


def test_missing_measurements_are_noted(printed):
    counted = {name for name, claim in printed.items() if claim.verdict != "not measured"}
    assert counted == {"one-block-parameters"}
    assert "96,643" in str(printed["one-block-parameters"].parts[0])
    assert not any(claim.stamp for claim in printed.values())


def test_known_differences_are_found():
    claims = checked(
        fake_results(
            ("main",),
            machines=("fan", "gearbox"),
            seeds=1,
            gains={
                **{"ae": -0.6, "mnv2": -0.6, "mnv2-lof": 0.3, "wavenet-ensemble": 0.3},
                **{"ssdpt-noaux": -0.6, "ssdpt-noaux-masked": -0.6, "ssdpt-ensemble": 1.2},
            },
        )
    )
    assert claims["ensemble-over-ssdpt"].verdict == "holds"
    assert claims["auxiliary-helps"].verdict == "holds"
    assert claims["ssdpt-over-best-auc"].verdict == "does not hold"
    assert claims["lof-gearbox"].verdict == "does not hold"
    # Two of seven machine types: no mean over all, and ToyCar, slider and valve are missing.
    assert claims["ssdpt-value"].verdict == "not measured"
    assert claims["networks-toycar-slider-valve"].verdict == "not measured"
    assert claims["patch-best-overall"].verdict == "not measured"


def test_printed_values_are_compared_over_the_papers_machine_types_only():
    every = fake_results(("beta",), seeds=1, clips=6, gains={"ssdpt": 2.0})
    assert Evidence(every).reaches("ssdpt", 0.722, "h_auc").verdict == "holds"
    assert Evidence(every).reaches("ssdpt", 0.999, "h_auc").verdict == "does not hold"
    few = fake_results(("beta",), machines=MACHINES[:3], seeds=1, clips=6)
    assert Evidence(few).reaches("ssdpt", 0.722, "h_auc").margin is None


def test_a_smoke_run_is_stamped():
    results = fake_results(("blocks",), machines=("fan",), seeds=1, clips=4, quick=True)
    claims = checked(results)
    assert claims["blocks-help-overall"].stamp == SMOKE
    assert claims["robust-representations"].stamp == ""


def test_a_missing_rival_leaves_only_refutation():
    without = ("mask-SpecAugment",)
    results = fake_results(
        ("masking",),
        machines=("fan",),
        seeds=1,
        without=without,
        gains={"mask-PM": 1.5, "mask-TM": -1.0},
    )
    evidence = Evidence(results)
    others = ["mask-NM", "mask-TM", "mask-FM", *without]
    assert evidence.ahead_of_all("mask-PM", others).verdict == "not measured"
    assert evidence.ahead_of_all("mask-TM", others).verdict == "does not hold"
    assert evidence.ahead_of_all("mask-PM", others[:3]).verdict == "holds"


def test_seeds_that_no_two_machines_share_give_no_answer():
    apart = {("fan", 0), ("gearbox", 1)}
    results = fake_results(
        ("masking",),
        machines=("fan", "gearbox"),
        missing=lambda variant, machine, seed: (machine, seed) not in apart,
    )
    assert Evidence(results).ahead("mask-PM", "mask-NM").margin is None
    assert Evidence(results).ahead("mask-PM", "mask-NM", machine="fan").margin is not None


def test_the_best_patch_of_each_machine_is_compared_with_the_usual_one():
    few = ("patch-1x5", "patch-3x5")
    results = fake_results(
        ("patches",),
        machines=("fan", "gearbox"),
        seeds=1,
        without=[patch_name(*patch) for patch in PATCHES if patch_name(*patch) not in few],
        gains={few[1]: 0.4, (few[0], "fan"): 2.0, (few[0], "gearbox"): -0.8},
    )
    (largest,) = checked(results)["patch-depends"].parts
    assert largest.what == "h-AUC, fan: 1*5² over 3*5²"
    assert largest.verdict == "holds"


@pytest.fixture(scope="module")
def noise():
    """Curves of networks whose reconstruction error carries no information."""
    results = fake_results(("beta",), machines=("fan", "gearbox", "valve"), seeds=1, clips=20)
    return BetaCurves(rescored(results, load_config("paper"), "mean"))


@pytest.fixture(scope="module")
def signal():
    """Curves of networks whose reconstruction error is better than their identity score."""
    results = fake_results(
        ("beta",), machines=MACHINES[:2], seeds=1, clips=20, gains={"ssdpt": -0.7}, reconstruction=3
    )
    return BetaCurves(rescored(results, load_config("paper"), "mean"))


def test_a_useless_error_lowers_the_values_with_its_weight(noise):
    auc_far = beta_evidence.declines(noise)[2]
    assert auc_far.what == "h-AUC: β = 0.001 over 0.005"
    assert auc_far.margin is not None
    assert auc_far.margin.value > 0


@pytest.mark.parametrize(("scale", "word"), [(5.0, "holds"), (3000.0, "does not hold")])
def test_stable_is_what_the_error_hardly_moves(scale, word):
    results = fake_results(("beta",), machines=("fan",), seeds=1, clips=40, error_scale=scale)
    h_auc, _ = beta_evidence.stable(BetaCurves(rescored(results, load_config("paper"), "mean")))
    assert h_auc.verdict == word


def test_a_useful_error_favours_a_large_beta(signal):
    assert verdict(beta_evidence.declines(signal)) == "does not hold"
    assert verdict(beta_evidence.range_is_best(signal)) == "does not hold"
    (gain,) = beta_evidence.machine_specific_beta_helps(signal)
    assert gain.verdict == "holds"
    assert gain.what.endswith("β = 0.005 over 0.001")


def test_boxes_are_compared_where_the_machines_are(noise):
    more = beta_evidence.more_susceptible("h_auc", ("gearbox", "valve"), 1)(noise)
    less = beta_evidence.more_susceptible("h_pauc", ("ToyCar", "gearbox", "slider"), -1)(noise)
    assert [part.margin is not None for part in more] == [True, True]
    assert [part.margin is not None for part in less] == [False, True, False]
    highest, _ = beta_evidence.machines_differ(noise)
    assert highest.margin is not None
    assert highest.margin.value > 0


def test_heights_are_the_quartiles_distance(noise):
    curve = noise.curve("h_auc", "fan")
    assert curve.shape == (1 + RESAMPLES, len(BETAS))
    upper, lower = np.quantile(curve[0], [0.75, 0.25])
    assert noise.heights("h_auc")["fan"][0] == pytest.approx(upper - lower)


def test_beta_zero_is_the_identity_score_alone(noise):
    estimate = noise.results.interval(beta_name(0.0), ("fan",))
    assert noise.curve("h_auc", "fan")[0, 0] == pytest.approx(estimate.value)


def _margins(monkeypatch, **margins):
    """The strongest rival among these differences."""
    from ssdpt.evaluation.metrics import Estimate

    evidence = Evidence(None)
    monkeypatch.setattr(
        Evidence, "ahead", lambda self, one, other, *_: Part(other, Estimate(*margins[other]))
    )
    monkeypatch.setattr(Evidence, "label", lambda self, name: name)
    return evidence.ahead_of_all("ours", list(margins))


def test_a_rival_that_is_clearly_better_refutes_although_another_has_the_larger_lead(monkeypatch):
    strongest = _margins(monkeypatch, wide=(-0.010, -0.030, 0.010), narrow=(-0.008, -0.012, -0.004))
    assert (strongest.what, strongest.verdict) == ("narrow", "does not hold")


def test_a_rival_that_is_not_clearly_worse_leaves_it_undecided(monkeypatch):
    strongest = _margins(monkeypatch, near=(0.010, 0.005, 0.015), far=(0.020, -0.010, 0.050))
    assert (strongest.what, strongest.verdict) == ("far", "undecided")
