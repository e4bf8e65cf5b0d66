"""Whether anomaly maps have their peak in the known faults of the simulated data set."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.data.simulator import Region
from ssdpt.errors import SsdptError
from ssdpt.evaluation.localisation import (
    KnownFault,
    Localisation,
    faulty_points,
    known_faults,
    localise,
    summary,
)
from ssdpt.types import Recording

FREQUENCIES = np.arange(100, 1100, 100, dtype=np.float32)


def test_points_in_regions():
    regions = [Region(0.2, 0.4, 250, 500), Region(0.4, 0.5, 500, 500)]
    inside = faulty_points(regions, 10, 0.1, FREQUENCIES)
    expected = np.zeros((10, 10), bool)
    expected[2:5, 2:5] = True
    expected[4:6, 4] = True
    np.testing.assert_array_equal(inside, expected)


class Detector:
    frame_seconds = 0.1
    frequencies = FREQUENCIES

    def __init__(self, frame: int, column: int) -> None:
        self.heat = np.ones((10, 10), np.float32)
        self.heat[frame, column] = 2

    def anomaly_map(self, path, *, section):
        assert section == "01"
        return self.heat


@pytest.mark.parametrize(("peak", "hit"), [((3, 3), True), ((3, 6), False), ((8, 3), False)])
def test_a_hit_is_a_peak_in_the_fault(tmp_path, peak, hit):
    fault = KnownFault("rub", (Region(0.2, 0.4, 250, 500),))
    recording = Recording(tmp_path / "x.wav", "fan", "01")
    localisation = localise(recording, fault, Detector(*peak))
    assert localisation == Localisation("fan", "rub", hit, pytest.approx(0.09))


def test_the_summary_says_what_chance_would_give():
    localisations = [Localisation("fan", "rub", True, 0.1), Localisation("fan", "rub", False, 0.3)]
    expected = {"faulty": 5, "detected": 2, "hit_rate": 0.5, "covered": pytest.approx(0.2)}
    assert summary(localisations, 5) == expected
    assert summary([], 5) == {"faulty": 5, "detected": 0, "hit_rate": None, "covered": None}


def test_the_faults_of_a_simulated_machine(fan, tmp_path):
    faults = known_faults(fan)
    clips = {path.name for path in fan.glob("*_test/*anomaly*.wav")}
    assert set(faults) == clips
    assert all(fault.regions for fault in faults.values())
    with pytest.raises(SsdptError, match="no readable table of faults"):
        known_faults(tmp_path)
