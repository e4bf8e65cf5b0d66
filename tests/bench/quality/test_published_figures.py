"""Published figures."""

from __future__ import annotations

import re

import pytest

from ssdpt.bench.quality.published import ALL_CLIPS, published_figures

NUMBERS = (
    *("auc_source", "auc_target", "pauc", "h_auc", "h_pauc", "official_2021", "official_2022"),
)


def test_every_figure_has_a_number_and_says_what_it_was_measured_on():
    for figure in published_figures():
        numbers = [getattr(figure, name) for name in NUMBERS]
        given = [number for number in numbers if number is not None]
        assert given
        assert all(0.4 < number < 1 for number in given)
        assert figure.measured_on.startswith(ALL_CLIPS)
        assert 2020 <= figure.year <= 2026


def test_every_figure_has_a_source_that_names_who_published_it_and_when():
    for figure in published_figures():
        assert re.search(r"\b20\d\d \(arXiv \d{4}\.\d{5}\)$", figure.source), figure


def test_no_figure_is_there_twice():
    keys = [(figure.method, figure.year, figure.machine) for figure in published_figures()]
    assert len(keys) == len(set(keys))


def test_labels_that_were_used_are_named():
    tuned = [figure for figure in published_figures() if figure.method == "SMOTE-TWFR-GMM"]
    assert {figure.machine for figure in tuned} == {"gearbox", "bearing", "fan"}
    assert all("tuned on test labels" in figure.measured_on for figure in tuned)
    paper = next(figure for figure in published_figures() if figure.method == "SSDPT")
    assert (paper.h_auc, paper.h_pauc) == (0.722, 0.611)
    assert "epochs chosen on test labels" in paper.measured_on


def test_the_official_score_is_computed_from_its_parts():
    gearbox = next(
        figure
        for figure in published_figures()
        if figure.method == "SMOTE-TWFR-GMM" and figure.machine == "gearbox"
    )
    assert gearbox.is_computed
    assert gearbox.official == pytest.approx(3 / (1 / 0.8491 + 1 / 0.8141 + 1 / 0.6662))
    given = next(
        figure
        for figure in published_figures()
        if figure.method == "AEGAN-AD" and figure.machine == "gearbox"
    )
    assert not given.is_computed
    assert given.official == 0.7527
