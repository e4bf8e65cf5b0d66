"""The gap between the domains."""

from __future__ import annotations

import pytest

from ssdpt.evaluation.domain_gap import domain_gap
from ssdpt.evaluation.tables import Row, result_tables


def rows(section, domain, anomalous, values):
    return [Row("fan", section, domain, anomalous, value) for value in values]


def test_a_target_domain_that_scores_higher_has_a_gap_and_a_shift():
    clips = [
        *rows("00", "source", False, [0, 1, 2, 3, 4]),
        *rows("00", "target", False, [6, 7, 8, 9, 10]),
        *rows("00", "source", True, [5, 5.5]),
        *rows("00", "target", True, [11, 12]),
    ]
    gap = domain_gap(clips)
    assert gap.auc_source == 1.0
    assert gap.auc_target == 0.5  # the two source anomalies lie below all normal target clips
    assert gap.gap == 0.5
    assert gap.shift == pytest.approx((8 - 2) / 1.4826)  # the median deviation from 2 is 1


def test_its_parts_are_those_of_the_official_score():
    values = [(7 * number) % 23 for number in range(40)]
    clips = [
        Row("fan", f"0{number % 2}", "source" if number % 4 < 2 else "target", number > 25, value)
        for number, value in enumerate(values)
    ]
    gap = domain_gap(clips)
    official = result_tables(clips, resamples=2).means.official_2022.value
    parts = [gap.auc_source, gap.auc_target, gap.pauc]
    assert 3 / sum(1 / part for part in parts) == pytest.approx(official)


def test_what_cannot_be_measured_is_none():
    gap = domain_gap(rows("00", "source", False, [1, 2]) + rows("00", "source", True, [3]))
    assert gap.auc_source == 1.0
    assert gap.auc_target is None
    assert gap.gap is None
    assert gap.shift is None
