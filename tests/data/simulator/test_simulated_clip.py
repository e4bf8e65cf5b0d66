"""Simulated clips: reproducible, at the intended level, with faults inside their regions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssdpt.data.simulator import PRESETS, ClipName, Region, SimulatedClip, clip, coverage
from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.timebase import RATE, SAMPLES

OBVIOUS = dataclasses.replace(PRESETS["demo"], severity=(1.0, 1.0))


def faulty(machine: str, index: int, section: int = 0) -> SimulatedClip:
    return clip(ClipName(machine, section, "source", "test", "anomaly", index), preset=OBVIOUS)


def power(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Power (frames, bins) with the frames' times and the bins' frequencies."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, 1024)[::256] * np.hanning(1024)
    spectrum = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    time = (np.arange(len(frames)) * 256 + 512) / RATE
    return spectrum, time, np.fft.rfftfreq(1024, 1 / RATE)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_clip_is_ten_seconds_and_the_same_each_time(machine: str) -> None:
    name = ClipName(machine, 1, "source", "train", "normal", 3)
    once, again = clip(name, seed=5), clip(name, seed=5)
    assert once.samples.shape == (SAMPLES,)
    assert np.isfinite(once.samples).all()
    assert np.abs(once.samples).max() < 1.0
    assert np.array_equal(once.samples, again.samples)
    assert once.fault is None
    assert once.regions == ()


@pytest.mark.parametrize(
    "change",
    [{"section": 2}, {"domain": "target"}, {"split": "test"}, {"index": 4}, {"machine": "pump"}],
)
def test_every_part_of_the_name_changes_the_sound(change: dict[str, object]) -> None:
    name = ClipName("fan", 1, "source", "train", "normal", 3)
    other = dataclasses.replace(name, **change)  # type: ignore[arg-type]
    assert not np.array_equal(clip(name).samples, clip(other).samples)


@pytest.mark.parametrize(
    ("machine", "fault"),
    [
        ("fan", "rub"),
        ("gearbox", "tooth_crack"),
        ("pump", "cavitation"),
        ("slider", "belt_squeal"),
        ("valve", "bounce"),
        ("ToyCar", "tangle"),
        ("ToyTrain", "raised_joint"),
    ],
)
def test_an_obvious_fault_is_louder_inside_its_regions_than_at_other_times(
    machine: str, fault: str
) -> None:
    simulated = faulty(machine, MACHINES[machine].faults.index(fault))
    spectrum, time, hertz = power(simulated.samples)
    contrasts = []
    for low, high in {(region.low_hz, region.high_hz) for region in simulated.regions}:
        inside = np.zeros(time.size, dtype=bool)
        for region in simulated.regions:
            if region.low_hz == low:
                inside |= (time > region.start_s) & (time < region.end_s)
        level = 10 * np.log10(spectrum[:, (hertz >= low) & (hertz <= high)].mean(axis=1))
        contrasts.append(level[inside].mean() - level[~inside].mean())
    assert np.mean(contrasts) > 3.0


@pytest.mark.parametrize("machine", MACHINES)
def test_domains_run_at_different_speeds(machine: str) -> None:
    speeds = MACHINES[machine].speeds
    assert not set(speeds["source"]) & set(speeds["target"])


@pytest.mark.parametrize("label", ["normal", "anomaly"])
def test_levels_fill_one_range_whatever_the_label(label: str) -> None:
    levels = []
    for index in range(8):
        samples = clip(ClipName("valve", 0, "source", "test", label, index)).samples  # type: ignore[arg-type]
        levels.append(10 * np.log10(np.mean(np.square(samples, dtype=np.float64))))
    assert min(levels) >= -40.1
    assert max(levels) <= -31.9
    assert np.ptp(levels) > 4.0
    assert np.mean(levels) == pytest.approx(-36.0, abs=1.2)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 9), st.floats(0.1, 1), st.floats(0, 7000), st.floats(50, 1000)),
        max_size=6,
    )
)
def test_coverage_is_a_share_and_grows_with_regions(
    corners: list[tuple[float, float, float, float]],
) -> None:
    regions = [Region(s, s + length, low, low + width) for s, length, low, width in corners]
    shares = [coverage(regions[:count]) for count in range(len(regions) + 1)]
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0


def test_the_whole_plane_is_covered_by_one_region() -> None:
    assert coverage([Region(0.0, 10.0, 0.0, 8000.0)]) == 1.0


def test_the_truth_of_a_fault_names_its_frequencies_and_rates() -> None:
    healthy = clip(ClipName("fan", 0, "source", "test", "normal", 0))
    assert (healthy.frequencies, healthy.rates) == ((), ())
    bearing, imbalance, rub = (faulty("fan", index) for index in range(3))
    speed = bearing.point.speed / 60
    assert bearing.rates == pytest.approx((3.1 * speed, 0.08 * speed), rel=0.02)
    assert imbalance.tones_hz == pytest.approx(
        (imbalance.point.speed / 60, imbalance.point.speed / 30), rel=0.02
    )
    assert set(imbalance.tones_hz) < set(imbalance.frequencies)
    assert rub.rates == ()
    bands = {(region.low_hz, region.high_hz) for region in rub.regions}
    assert len(rub.frequencies) == len(bands)
    assert all(any(low < hz < high for low, high in bands) for hz in rub.frequencies)
