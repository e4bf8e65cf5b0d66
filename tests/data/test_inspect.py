"""The inspection of a data set that has every kind of problem."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ssdpt.common.progress import Reporter, Task
from ssdpt.data.inspect import Inspection, Problem, inspect
from ssdpt.errors import SsdptError


def write(
    path: Path,
    seconds: float = 3,
    rate: int = 16000,
    channels: int = 1,
    seed: int = 0,
    gain: float = 0.1,
    offset: float = 0.0,
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng([seed, *path.name.encode()])
    samples = generator.standard_normal((round(seconds * rate), channels)) * gain + offset
    soundfile.write(path, samples, rate, subtype="FLOAT" if path.suffix == ".wav" else None)
    return path


def problem(inspection: Inspection, kind: str) -> Problem:
    (problem,) = [item for item in inspection.problems if item.kind == kind]
    return problem


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Inspection:
    root = tmp_path_factory.mktemp("data") / "pump"
    for number in range(4):
        write(root / f"train/section_00_source_train_normal_{number:04d}_volt_{number}.wav")
    train = root / "train"
    copy = train / "section_00_source_train_normal_0099.wav"
    copy.write_bytes((train / "section_00_source_train_normal_0000_volt_0.wav").read_bytes())
    write(train / "section_00_source_test_anomaly_0000.wav")
    test = root / "test"
    write(test / "section_00_source_test_normal_0000.wav", seconds=1.9)
    write(test / "section_00_source_test_normal_0001.wav", rate=44100)
    write(test / "section_00_source_test_normal_0002.wav", channels=2)
    write(test / "section_00_target_test_anomaly_0003.flac", gain=0.6)
    write(test / "section_00_target_test_anomaly_0004.wav", offset=0.05)
    write(test / "section_00_target_test_anomaly_0005.wav", gain=1e-5)
    soundfile.write(test / "section_00_target_test_anomaly_0006.wav", np.zeros(48000), 16000)
    broken = write(test / "section_00_target_test_anomaly_0007.wav")
    broken.write_bytes(broken.read_bytes()[:9000])
    spoilt = np.full(48000, np.nan, np.float32)
    soundfile.write(
        test / "section_00_target_test_anomaly_0008.wav", spoilt, 16000, subtype="FLOAT"
    )
    (test / "section_00_target_test_anomaly_0009.ogg").write_text("no sound")
    return inspect(root)


def test_summary(planted: Inspection) -> None:
    assert planted.layout == "dcase2022"
    (pump,) = planted.machines
    assert pump.machine == "pump"
    assert pump.clips == 16
    assert pump.sections == ("00",)
    assert pump.domains == ("source", "target")
    assert pump.splits == ("test", "train")
    assert pump.labels == {"anomaly": 8, "normal": 8}
    assert pump.sample_rates == {"16000": 12, "44100": 1}
    assert pump.channels == {"1": 12, "2": 1}
    assert pump.attributes == {"volt": ("0", "1", "2", "3")}
    assert pump.hours == pytest.approx((12 * 3 + 1.9) / 3600)
    assert (pump.shortest_seconds, pump.longest_seconds) == (1.9, 3.0)
    assert sum(count.clips for count in pump.counts) == pump.clips


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("clipped", ["0003"]),
        ("silent", ["0005", "0006"]),
        ("too short", ["0000"]),
        ("offset", ["0004"]),
        ("cut short", ["0007"]),
        ("not numbers", ["0008"]),
        ("unreadable", ["0009"]),
        ("mixed rates", ["0001"]),
        ("mixed channels", ["0002"]),
        ("anomaly in training", ["0000"]),
    ],
)
def test_oddities(planted: Inspection, kind: str, numbers: list[str]) -> None:
    files = problem(planted, kind).files
    assert [name.partition(".")[0][-4:] for name in files] == numbers
    folder = "train" if kind == "anomaly in training" else "test"
    assert all(name.startswith(f"{folder}/section_00") for name in files)


def test_duplicates(planted: Inspection) -> None:
    assert problem(planted, "duplicate").files == (
        "train/section_00_source_train_normal_0000_volt_0.wav",
        "train/section_00_source_train_normal_0099.wav",
    )


def test_there_are_no_other_problems(planted: Inspection) -> None:
    assert len(planted.problems) == 11


def test_json_and_text(planted: Inspection) -> None:
    assert json.loads(json.dumps(dataclasses.asdict(planted)))["machines"][0]["clips"] == 16
    text = "\n".join(planted.lines())
    assert "pump: 16 clips, 0.01 h (1.9 to 3.0 s each), 16 kHz, 44.1 kHz, channels 1, 2" in text
    assert "problem: 1 clipped" in text
    assert "section 00 source train normal: 5" in text
    assert "attribute volt: 0, 1, 2, 3" in text


def test_a_clean_folder_has_no_problems(tmp_path: Path) -> None:
    write(tmp_path / "pump/normal/a.flac")
    write(tmp_path / "pump/leak/b.flac", seed=1)
    inspection = inspect(tmp_path / "pump")
    assert inspection.problems == ()
    assert inspection.machines[0].faults == {"leak": 1}
    assert inspection.lines()[-1] == "no problems found"


def test_progress_is_reported_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path / f"{number}.flac", 0.2)

    class Impatient(Reporter):
        steps = 0.0

        @contextlib.contextmanager
        def task(self, description: str, total: float | None = None) -> Iterator[Task]:
            outer = self
            assert total == 5

            class Counting(Task):
                def advance(self, steps: float = 1, note: str = "") -> None:
                    outer.steps += steps
                    if outer.steps == 2:
                        raise KeyboardInterrupt

            yield Counting()

    reporter = Impatient()
    with pytest.raises(KeyboardInterrupt):
        inspect(tmp_path, reporter)
    assert reporter.steps == 2


def test_nothing_to_inspect(tmp_path: Path) -> None:
    with pytest.raises(SsdptError, match="no recordings"):
        inspect(tmp_path)


def test_a_dead_channel_of_a_manifest(tmp_path: Path) -> None:
    samples = np.zeros((48000, 2))
    samples[:, 1] = np.random.default_rng(0).standard_normal(48000) * 0.1
    soundfile.write(tmp_path / "a.wav", samples, 16000)
    (tmp_path / "list.csv").write_text("path\na.wav\n")
    assert problem(inspect(tmp_path / "list.csv"), "dead channel").sentence == (
        "1 with a dead channel (0): one value, check its cable"
    )
