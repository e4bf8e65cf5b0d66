"""Weeks of the calendar, in the time zone of the plant."""

from __future__ import annotations

from datetime import time

import pytest

from ssdpt.errors import SsdptError
from ssdpt.monitor.week import Week

BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    ("week", "zone", "hours"),
    [
        ("2026-W46", BERLIN, 168),
        ("2026-W13", BERLIN, 167),  # clocks go forward on Sunday
        ("2026-W43", BERLIN, 169),  # and back
        ("2026-W13", "UTC", 168),
        ("2026-W14", "Australia/Lord_Howe", 168.5),
    ],
)
def test_a_week_is_shorter_or_longer_where_clocks_are_changed(week, zone, hours):
    parsed = Week.parse(week)
    assert (parsed.end(zone) - parsed.begin(zone)) / 3600 == hours
    assert Week.of(parsed.begin(zone), zone) == parsed
    assert Week.of(parsed.end(zone) - 1, zone) == parsed
    assert Week.of(parsed.end(zone), zone) == parsed.shifted(1)


def test_weeks_across_years():
    assert str(Week.parse("2026-W53").shifted(1)) == "2027-W01"
    assert str(Week.parse("2025-W01").shifted(-1)) == "2024-W52"
    assert Week.parse("2026-W09") < Week.parse("2026-W10") < Week.parse("2027-W01")


def test_a_time_that_clocks_skip_is_a_time_all_the_same():
    week = Week.parse("2026-W13")
    skipped = week.at("sun", time(2, 30), BERLIN)
    assert week.at("sun", time(1, 59), BERLIN) < skipped < week.end(BERLIN)


@pytest.mark.parametrize(
    "text", ["", "2026-46", "2026-W54", "2025-W53", "2026-W00", "0001-W01", "9999-W01", "२०२६-W46"]
)
def test_what_is_no_week_is_said(text):
    with pytest.raises(SsdptError, match="is not a week; an example is 2026-W46"):
        Week.parse(text)
