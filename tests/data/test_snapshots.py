"""Runs of snapshots: one long file, or a folder with a file for each."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ssdpt.data.snapshots import find_runs, read_run, read_runs, time_in_name
from ssdpt.errors import SsdptError

RATE, SAMPLES = 25600, 2560


def snapshots(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.1, (count, SAMPLES)).astype(np.float32)


def write(path: Path, samples: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples.ravel(), RATE, subtype="FLOAT")


def test_one_file_a_life(tmp_path: Path) -> None:
    rows = snapshots(5)
    rows[2] = 0.0
    write(tmp_path / "b1.wav", np.concatenate([rows.ravel(), np.ones(100, np.float32)]))
    (tmp_path / "sensor.yaml").write_text("unit: g\nfull_scale: 50\nsnapshot: 0.1\nevery: 10\n")
    (run,) = read_runs(tmp_path)
    assert (run.name, run.sample_rate, run.unit, run.full_scale) == ("b1", RATE, "g", 50)
    np.testing.assert_array_equal(run.snapshots, rows[[0, 1, 3, 4]])
    np.testing.assert_array_equal(run.times, [0, 10, 30, 40])
    assert run.seconds == pytest.approx(0.1)
    assert any("single value" in note for note in run.notes)
    assert any("less than a snapshot" in note for note in run.notes)


def test_what_is_given_replaces_the_file(tmp_path: Path) -> None:
    write(tmp_path / "b1.wav", snapshots(4))
    (tmp_path / "sensor.yaml").write_text("snapshot: 0.1\nevery: 10\n")
    run = read_run(tmp_path / "b1.wav", 0.2, 60)
    assert run.snapshots.shape == (2, 2 * SAMPLES)
    np.testing.assert_array_equal(run.times, [0, 60])


def test_a_long_file_needs_the_length_of_a_snapshot(tmp_path: Path) -> None:
    write(tmp_path / "b1.wav", snapshots(4))
    with pytest.raises(SsdptError, match="how long is one snapshot"):
        read_run(tmp_path / "b1.wav")
    with pytest.raises(SsdptError, match="overlap"):
        read_run(tmp_path / "b1.wav", 0.2, 0.1)
    with pytest.raises(SsdptError, match="shorter than one snapshot"):
        read_run(tmp_path / "b1.wav", 5, 10)


def test_a_folder_by_interval_in_natural_order(tmp_path: Path) -> None:
    rows = snapshots(11)
    for number, row in enumerate(rows):
        write(tmp_path / "run" / f"acc_{number}.wav", row)
    run = read_run(tmp_path / "run", every=10)
    np.testing.assert_array_equal(run.snapshots, rows)
    np.testing.assert_array_equal(run.times, 10 * np.arange(11))
    assert find_runs(tmp_path) == [tmp_path / "run"]


def test_a_folder_by_the_times_in_its_names(tmp_path: Path) -> None:
    rows = snapshots(3)
    names = ("2003.10.22.12.06.24", "2003.10.22.12.16.24", "2003.10.23.00.00.00")
    for name, row in zip(names, rows, strict=True):
        write(tmp_path / f"{name}.wav", row)
    np.testing.assert_array_equal(read_run(tmp_path).times, [0, 600, 42816])
    assert time_in_name("pump-3") is None
    assert time_in_name("20261399_250000") is None


def test_a_folder_by_its_table(tmp_path: Path) -> None:
    for number, row in enumerate(snapshots(3)):
        write(tmp_path / f"{number}.wav", row)
    table = tmp_path / "times.csv"
    table.write_text("file,time\n2.wav,2026-01-01T00:00:00\n0.wav,2026-01-01T00:01:00\n")
    run = read_run(tmp_path)
    np.testing.assert_array_equal(run.snapshots, snapshots(3)[[2, 0]])
    np.testing.assert_array_equal(run.times, [0, 60])
    table.write_text("file,time\n0.wav,20\n1.wav,10\n")
    with pytest.raises(SsdptError, match=r"times\.csv, line 3: times out of order"):
        read_run(tmp_path)


def test_copied_files_have_no_times(tmp_path: Path) -> None:
    for number, row in enumerate(snapshots(3)):
        write(tmp_path / f"{number}.wav", row)
        os.utime(tmp_path / f"{number}.wav", (1000 - number, 1000 - number))
    with pytest.raises(SsdptError, match="times out of order"):
        read_run(tmp_path)


def test_what_cannot_be_used_is_left_out_by_name(tmp_path: Path) -> None:
    rows = snapshots(5)
    rows[1] = 0.0
    for number, row in enumerate(rows):
        write(tmp_path / f"{number}.wav", row)
    write(tmp_path / "3.wav", rows[3][:100])
    whole = (tmp_path / "4.wav").read_bytes()
    (tmp_path / "4.wav").write_bytes(whole[:-1000])
    run = read_run(tmp_path, every=10)
    np.testing.assert_array_equal(run.snapshots, rows[[0, 2]])
    np.testing.assert_array_equal(run.times, [0, 20])
    assert run.notes == (
        "1.wav: left out, silent",
        "4.wav: left out, cut short",
        "1 files are not 2560 samples long as the others are: left out",
    )


def test_a_unit_without_full_scale_is_a_question(tmp_path: Path) -> None:
    write(tmp_path / "b1.wav", snapshots(2))
    (tmp_path / "sensor.yaml").write_text("unit: g\n")
    with pytest.raises(SsdptError, match="not full_scale"):
        read_run(tmp_path / "b1.wav", 0.1)
