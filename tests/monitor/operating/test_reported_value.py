"""What control systems send, read as run state or number."""

from __future__ import annotations

import math

import pytest

from ssdpt.monitor.operating.reported_value import (
    ImplausibleValue,
    ReportedNumber,
    ReportedRunState,
    is_plausible,
)


@pytest.mark.parametrize(("sent", "value"), [(25, 1500), ("24.5 ", 1470), (0, 0), (True, None)])
def test_numbers_are_scaled(sent, value):
    number = ReportedNumber(scale=60)
    if value is None:
        with pytest.raises(ImplausibleValue, match="'True' is not a number"):
            number.read(sent)
    else:
        assert number.read(sent) == value


def test_an_offset_is_added_after_scaling():
    assert ReportedNumber(scale=0.5, offset=-10).read(100) == 40


@pytest.mark.parametrize("sent", [None, "fast", math.nan, "nan", "inf", [1], {}, 10**400, "x" * 99])
def test_what_is_no_number_is_refused_in_one_short_line(sent):
    with pytest.raises(ImplausibleValue, match=r"is not a (finite )?number") as error:
        ReportedNumber().read(sent)
    assert len(str(error.value)) < 80


@pytest.mark.parametrize("value", [-1.0, 1e9, math.nan, math.inf])
def test_a_value_beyond_its_range_is_not_plausible(value):
    assert not is_plausible(value, 5000.0)
    assert is_plausible(5000.0, 5000.0)


@pytest.mark.parametrize(
    ("sent", "running"),
    [(True, True), (0, False), (3, True), (0.0, False), ("RUN", True), (" off ", False)],
)
def test_usual_run_states_need_no_values(sent, running):
    assert ReportedRunState().read(sent) is running


@pytest.mark.parametrize("sent", [None, "fast", [], math.nan])
def test_an_unusual_run_state_needs_values(sent):
    with pytest.raises(ImplausibleValue, match="says neither on nor off"):
        ReportedRunState().read(sent)


@pytest.mark.parametrize(
    ("sent", "running"),
    [
        ("AUTO", True),
        ("auto ", True),
        (2, True),
        (2.0, True),
        ("2", True),
        (1, False),
        (True, False),
    ],
)
def test_named_values_mean_running_and_all_others_do_not(sent, running):
    assert ReportedRunState(values=("Auto", 2)).read(sent) is running


def test_large_run_states_differ_in_their_last_digit():
    state = ReportedRunState(values=(1_000_001,))
    assert state.read(1_000_001.0)
    assert not state.read(1_000_002)
