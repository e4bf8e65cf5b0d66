"""What lies on a diagnosis line is named; what does not, or cannot be told, is not."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.alarms.change_finder import find_changes
from ssdpt.alarms.findings import Finding, describe, line_text
from ssdpt.alarms.line_names import name_lines, tone_lines
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.data.simulator import ClipName, clip
from ssdpt.data.simulator.timebase import RATE
from ssdpt.diagnosis.bearing import BearingGeometry
from ssdpt.diagnosis.lines import ShaftSpeed, diagnosis_lines
from ssdpt.diagnosis.machine_data import BearingSettings, GearSettings, MachineData

# The outer race of the simulated fan's bearing is hit 3.1 times per turn.
FAN = MachineData(
    bearings=(
        BearingSettings(
            label="drive end",
            geometry=BearingGeometry(elements=8, element_mm=9.0, pitch_mm=40.0),
        ),
    ),
    blades=5,
)
GEARBOX = MachineData(gears=(GearSettings(label="input", teeth=20),))


def lines(data, rpm, uncertainty=0.02):
    geometries = [bearing.geometry for bearing in data.bearings]
    return diagnosis_lines(data, geometries, ShaftSpeed(rpm, uncertainty))


@pytest.fixture(scope="module")
def normal():
    names = [ClipName("fan", 0, "source", "train", "normal", index) for index in range(16)]
    return SoundReference.learn([clip(name).samples for name in names], RATE)


def named(reference, sound, at):
    findings = find_changes(reference, [sound], alerted=True)
    return name_lines(findings, at, reference, [sound])


def kinds(findings):
    """Of the first line of each finding; the second is one that cannot be told from it."""
    return {finding.lines[0].kind for finding in findings if finding.lines}


def test_simulated_faults_are_named_by_their_line_and_no_other_fault_is(normal):
    bearings, others = [], []
    for index in range(16):
        faulty = clip(ClipName("fan", 0, "source", "test", "anomaly", index))
        found = named(normal, faulty.samples, lines(FAN, faulty.point.speed))
        is_bearing = faulty.fault.name == "bearing" and faulty.fault.severity > 0.5
        (bearings if is_bearing else others).append(kinds(found))
    assert bearings == [{"bpfo"}] * len(bearings)
    assert len(bearings) >= 3
    assert not set().union(*others) & {"bpfo", "bpfi", "bsf", "ftf"}


def test_nothing_is_named_without_a_speed_or_at_another_one(normal):
    faulty = clip(ClipName("fan", 0, "source", "test", "anomaly", 0))
    assert faulty.fault.name == "bearing"
    assert kinds(named(normal, faulty.samples, ())) == set()
    assert "bpfo" not in kinds(named(normal, faulty.samples, lines(FAN, 1.2 * faulty.point.speed)))


def knocking(rate, seed=0):
    """Ten seconds of noise with a knock `rate` times a second."""
    rng = np.random.default_rng(seed)
    wave = 0.01 * rng.standard_normal(10 * RATE)
    ringing = np.exp(-np.arange(200) / 40) * np.sin(2 * np.pi * 3000 / RATE * np.arange(200))
    for moment in np.arange(0, 9.9, 1 / rate) if rate else ():
        first = round(moment * RATE)
        wave[first : first + 200] += 0.1 * ringing
    return wave.astype(np.float32)


def test_the_sentence_says_line_rate_and_harmonics_once():
    reference = SoundReference.learn([knocking(0, seed) for seed in range(1, 9)], RATE)
    found = named(reference, knocking(3.1 * 20), lines(FAN, 1200, 0.002))
    assert "on the line of the outer race of bearing drive end (BPFO, 62 Hz, " in describe(found)
    assert describe(found).count("on the line of") == 1


def test_a_shaft_that_knocks_is_no_bearing():
    """Its third harmonic lies near the outer race, but belongs to the shaft."""
    reference = SoundReference.learn([knocking(0, seed) for seed in range(1, 9)], RATE)
    assert kinds(named(reference, knocking(20.0), lines(FAN, 1200))) == {"shaft"}


def test_a_tone_lies_on_the_mesh_its_harmonic_or_a_sideband():
    at = lines(GEARBOX, 600, 0.002)  # shaft 10 Hz, mesh 200 Hz
    (mesh,) = tone_lines(200.4, 1.0, at)
    assert line_text(mesh) == "the gear mesh input (200 Hz)"
    assert tone_lines(399.8, 1.0, at)[0].multiple == 2
    assert tone_lines(210.1, 1.0, at)[0].sideband == 1
    assert tone_lines(233.0, 1.0, at) == ()


def test_sidebands_closer_than_the_speed_is_known_are_not_told_apart():
    assert tone_lines(210.1, 1.0, lines(GEARBOX, 600, 0.05))[0].sideband == 0
    assert tone_lines(216.0, 1.0, lines(GEARBOX, 600, 0.05)) == ()


def test_two_lines_that_fit_are_both_named_and_three_are_none():
    both = MachineData(blades=20, gears=GEARBOX.gears)
    assert [line.kind for line in tone_lines(200.4, 1.0, lines(both, 600, 0.002))] == [
        "mesh",
        "blade",
    ]
    text = Finding(
        code="tone", hz=200.4, db=9.0, lines=tone_lines(200.4, 1.0, lines(both, 600, 0.002))
    ).text
    assert text.endswith("on the line of the gear mesh input (200 Hz) or the blade pass (200 Hz)")
    three = MachineData(blades=20, gears=(*GEARBOX.gears, GearSettings(label="output", teeth=20)))
    assert tone_lines(200.4, 1.0, lines(three, 600, 0.002)) == ()
