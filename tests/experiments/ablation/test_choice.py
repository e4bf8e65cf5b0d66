"""Leaving one machine type out of the choice."""

from __future__ import annotations

import pytest

from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.choice import TOLERANCE, LeaveOneTypeOut
from ssdpt.experiments.ablation.variants import FULL, AblationVariant
from ssdpt.experiments.report.table_formats import markdown

SETS = ("2022/bearing", "2023/bearing", "fan", "pump")


def variant(name, complexity=0, compared=False):
    return AblationVariant(name, name, complexity=complexity, compared=compared)


def choice(figures, *variants):
    by_name = {name: dict(zip(SETS, row, strict=False)) for name, row in figures.items()}
    return LeaveOneTypeOut(variants or [variant(name) for name in figures], SETS, by_name)


def test_a_variant_that_only_one_type_likes_is_not_chosen_without_it():
    figures = {FULL: (0.6, 0.6, 0.6, 0.6), "odd": (0.9, 0.9, 0.55, 0.55)}
    result = choice(figures)
    assert result.with_all.name == "odd"
    chosen = {item.left_out: item.variant.name for item in result.choices}
    assert chosen == {"bearing": FULL, "fan": "odd", "pump": "odd"}
    assert result.chosen_with == pytest.approx((0.9 + 0.9 + 0.55 + 0.55) / 4)
    assert result.chosen_without == pytest.approx((0.6 + 0.6 + 0.55 + 0.55) / 4)
    bearing = result.choices[0]
    assert bearing.sets == ("2022/bearing", "2023/bearing")
    assert bearing.others == pytest.approx(0.6)


def test_the_simplest_within_the_tolerance_is_chosen():
    figures = {
        FULL: (0.700,) * 4,
        "near": (0.700 - TOLERANCE,) * 4,
        "far": (0.700 - 1.1 * TOLERANCE,) * 4,
    }
    variants = variant(FULL), variant("near", -1), variant("far", -5)
    result = choice(figures, *variants)
    assert result.with_all.name == "near"
    assert {item.variant.name for item in result.choices} == {"near"}
    assert LeaveOneTypeOut(variants, SETS, result.figures, tolerance=0).with_all.name == FULL


def test_of_equally_simple_variants_the_best_is_chosen():
    figures = {"first": (0.698,) * 4, "second": (0.700,) * 4}
    assert choice(figures).with_all.name == "second"


def test_other_systems_and_incomplete_variants_are_not_chosen():
    figures = {FULL: (0.5,) * 4, "gaussian": (0.9,) * 4, "partly": (0.9, 0.9)}
    result = choice(figures, variant(FULL), variant("gaussian", compared=True), variant("partly"))
    assert [item.name for item in result.candidates] == [FULL]
    assert result.chosen_without == result.chosen_with == pytest.approx(0.5)
    with pytest.raises(SsdptError, match="none can be chosen"):
        choice({"partly": (0.9,)})


def test_the_table_shows_both_figures_and_the_gap():
    result = choice({FULL: (0.6, 0.6, 0.6, 0.6), "odd": (0.9, 0.9, 0.55, 0.55)})
    text = markdown(result.table("choice"))
    assert "| 2022/bearing | full | 0.600 | 0.600 | 0.900 | +0.300 |" in text
    assert "| mean |  |  | 0.575 | 0.725 | +0.150 |" in text
    tree = result.as_json()
    assert tree["gap"] == pytest.approx(0.15)
    assert tree["without"]["types"]["bearing"]["sets"] == {"2022/bearing": 0.6, "2023/bearing": 0.6}
