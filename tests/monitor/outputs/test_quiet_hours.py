"""Quiet hours by weekday, across midnight and when the clocks change."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
import yaml

from ssdpt.config.validation import checked
from ssdpt.errors import SsdptError
from ssdpt.monitor.outputs.notify_output import NotifySettings
from ssdpt.monitor.outputs.quiet_hours import QuietHours, QuietPeriod

BERLIN = ZoneInfo("Europe/Berlin")


def at(text, fold=0):
    """Seconds since 1970 of a time in Berlin."""
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).timestamp()


def hours(*periods):
    return QuietHours([QuietPeriod(**period) for period in periods], "Europe/Berlin")


NIGHTS = {"days": ["mon", "tue", "wed", "thu", "fri"], "from": "22:00", "to": "06:00"}
WEEKEND = {"days": ["sat", "sun"], "from": "00:00", "to": "00:00"}


@pytest.mark.parametrize(
    ("moment", "end"),
    [
        ("2026-11-17 21:59:59", None),  # Tuesday
        ("2026-11-17 22:00", "2026-11-18 06:00"),
        ("2026-11-18 05:59:59", "2026-11-18 06:00"),
        ("2026-11-18 06:00", None),
        ("2026-11-16 03:00", None),  # the night to Monday began on Sunday
        ("2026-11-21 05:00", "2026-11-21 06:00"),  # the night to Saturday began on Friday
    ],
)
def test_a_night_belongs_to_the_day_it_begins_on(moment, end):
    quiet = hours(NIGHTS)
    assert quiet.is_quiet(at(moment)) == (end is not None)
    assert quiet.end(at(moment)) == at(end or moment)


def test_periods_that_touch_are_one():
    quiet = hours(NIGHTS, WEEKEND)
    friday_night = at("2026-11-20 23:00")
    assert quiet.end(friday_night) == at("2026-11-23 00:00")  # Monday
    assert quiet.begin(at("2026-11-22 12:00")) == at("2026-11-20 22:00")
    assert quiet.begin(at("2026-11-23 12:00")) == at("2026-11-23 12:00")
    always = hours({"from": "00:00", "to": "00:00"})
    assert always.end(friday_night) == float("inf")
    assert not hours().is_quiet(friday_night)


def test_the_clock_on_the_wall_counts_when_clocks_change():
    quiet = hours({"from": "22:00", "to": "06:00"})
    spring, autumn = at("2026-03-28 22:00"), at("2026-10-24 22:00")
    assert quiet.end(spring) - spring == 7 * 3600
    assert quiet.end(autumn) - autumn == 9 * 3600
    # From 02:30 to 03:00: that half hour does not exist in spring, and comes twice in autumn.
    short = hours({"from": "02:30", "to": "03:00"})
    assert not any(short.is_quiet(at("2026-03-29 00:00") + 300 * n) for n in range(60))
    assert short.is_quiet(at("2026-10-25 02:45"))
    assert short.end(at("2026-10-25 02:45")) == at("2026-10-25 03:00")


def test_times_may_be_written_without_quotes_and_mistakes_are_named():
    settings = "kind: notify\nurls: ['json://host.example']\nquiet_hours: [{from: 22:00, to: %s}]"
    read = checked(NotifySettings, yaml.safe_load(settings % "6:30"), "monitor.yaml")
    assert (read.quiet_hours[0].begin, read.quiet_hours[0].end) == ("22:00", "06:30")
    with pytest.raises(SsdptError, match="number 1: setting to: '25:00' is not a time"):
        checked(NotifySettings, yaml.safe_load(settings % "'25:00'"), "monitor.yaml")
    days = settings.replace("{from", "{days: [monday], from") % "'06:00'"
    with pytest.raises(SsdptError, match="'monday' is not valid; choose mon, tue"):
        checked(NotifySettings, yaml.safe_load(days), "monitor.yaml")
