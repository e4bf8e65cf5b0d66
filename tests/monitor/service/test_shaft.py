"""How fast a shaft turned during a sound, and when that is too uncertain to name a line."""

from __future__ import annotations

import pytest

from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.diagnosis.machine_data import BearingSettings, MachineData
from ssdpt.errors import SsdptError
from ssdpt.monitor.service.shaft import Shaft

CATALOGUE = BearingCatalogue.shipped()
DATA = MachineData(speed_rpm=1500.0, bearings=(BearingSettings(name="UER204"),))


def outer_race(shaft, begin, end):
    return next((line.hz for line in shaft.lines(begin, end) if line.kind == "bpfo"), None)


def test_the_fixed_speed_holds_where_none_is_reported():
    shaft = Shaft(DATA, CATALOGUE)
    origin, speed = shaft.speed(100.0, 110.0)
    assert (origin, speed.rpm, speed.uncertainty) == ("fixed", 1500.0, 0.02)
    assert Shaft(MachineData(), CATALOGUE).speed(100.0, 110.0) == ("unknown", None)
    assert Shaft(MachineData(), CATALOGUE).lines(100.0, 110.0) == ()


def test_a_reported_speed_moves_the_lines_while_it_is_fresh():
    shaft = Shaft(DATA, CATALOGUE)
    fixed = outer_race(shaft, 100.0, 110.0)
    shaft.report_speed(95.0, 3000.0)
    assert shaft.speed(100.0, 110.0)[0] == "reported"
    assert outer_race(shaft, 100.0, 110.0) == pytest.approx(2 * fixed)
    assert outer_race(shaft, 200.0, 210.0) == fixed  # nothing was reported for minutes


def test_a_speed_that_jumps_during_a_sound_gives_no_lines():
    shaft = Shaft(DATA, CATALOGUE)
    for at, rpm in ((90.0, 1450.0), (105.0, 1600.0)):
        shaft.report_speed(at, rpm)
    assert shaft.speed(100.0, 110.0) == ("changing", None)
    assert shaft.lines(100.0, 110.0) == ()
    assert shaft.rpm(106.0, 110.0) == 1600.0  # after it: steady again
    assert shaft.rpm(92.0, 100.0) == 1450.0


def test_a_speed_that_wanders_a_little_is_less_certain():
    shaft = Shaft(DATA, CATALOGUE)
    for at, rpm in ((100.0, 1490.0), (105.0, 1510.0)):
        shaft.report_speed(at, rpm)
    origin, speed = shaft.speed(100.0, 110.0)
    assert (origin, speed.rpm) == ("reported", 1500.0)
    assert speed.uncertainty == pytest.approx(0.002 + 10 / 1500)


def test_a_shaft_that_stands_still_has_no_lines():
    shaft = Shaft(DATA, CATALOGUE)
    shaft.report_speed(100.0, 0.0)
    assert shaft.lines(100.0, 105.0) == ()


def test_old_reports_are_forgotten_and_new_settings_keep_the_speed():
    shaft = Shaft(DATA, CATALOGUE)
    for at in range(0, 5000, 5):
        shaft.report_speed(float(at), 1500.0)
    assert len(shaft._reported) <= 181
    changed = Shaft(MachineData(), CATALOGUE)
    changed.continue_from(shaft)
    assert changed.rpm(4990.0, 5000.0) == 1500.0


def test_a_bearing_that_is_not_in_the_catalogue():
    data = MachineData(bearings=(BearingSettings(name="UER205"),))
    with pytest.raises(SsdptError, match="'UER205' is not in the catalogue; the nearest names are"):
        Shaft(data, CATALOGUE)
