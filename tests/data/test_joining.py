"""Short snapshots, joined end to end to clips of a second."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

from ssdpt import Detector
from ssdpt.config.settings import AudioConfig
from ssdpt.config.tree import load_config
from ssdpt.data import audio
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError

RATE = 12800


def write(folder, count, samples=1280, seed=0, suffix="wav"):
    """Snapshots of a tenth of a second, one.wav and so on, each its own noise."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for number in range(count):
        values = (0.1 * rng.standard_normal(samples)).astype(np.float32)
        soundfile.write(folder / f"snapshot_{number + 1}.{suffix}", values, RATE, subtype="FLOAT")
    return folder


def test_ten_consecutive_snapshots_are_a_clip(tmp_path):
    dataset = read_layout(write(tmp_path / "bearing", 35))
    assert len(dataset.recordings) == 3
    names = [path.name for item in dataset.recordings for path in item.snapshots]
    assert names == [f"snapshot_{number}.wav" for number in range(1, 36)]
    assert {len(item.snapshots) for item in dataset.recordings} == {11, 12}
    assert "35 snapshots of 0.1 s are joined end to end to 3 clips" in dataset.notes
    first = dataset.recordings[0]
    assert first.path == first.snapshots[0]
    assert audio.probe(first).seconds == pytest.approx(0.1 * len(first.snapshots))
    parts = [audio.read(path, RATE) for path in first.snapshots]
    np.testing.assert_array_equal(audio.read(first, RATE), np.concatenate(parts))


def test_each_file_is_there_for_those_who_ask(tmp_path):
    dataset = read_layout(write(tmp_path / "bearing", 12), join=False)
    assert len(dataset.recordings) == 12
    assert not any(item.snapshots for item in dataset.recordings)


def test_only_those_of_one_folder_and_label_are_joined(tmp_path):
    write(tmp_path / "bearing" / "normal", 20)
    write(tmp_path / "bearing" / "outer race", 20)
    labels = [item.label for item in read_layout(tmp_path / "bearing").recordings]
    assert sorted(labels) == ["anomaly", "anomaly", "normal", "normal"]


def test_a_second_is_long_enough(tmp_path):
    dataset = read_layout(write(tmp_path / "bearing", 4, samples=RATE))
    assert len(dataset.recordings) == 4
    assert not any(item.snapshots for item in dataset.recordings)


def test_times_give_the_order(tmp_path):
    folder = write(tmp_path / "bearing", 20)
    lines = [f"snapshot_{20 - number}.wav,{10 * number}" for number in range(20)]
    (folder / "times.csv").write_text("\n".join(["file,time", *lines]))
    joined = {
        item.path.stem: [path.stem for path in item.snapshots]
        for item in read_layout(folder).recordings
    }
    assert joined == {
        "snapshot_20": [f"snapshot_{number}" for number in range(20, 10, -1)],
        "snapshot_10": [f"snapshot_{number}" for number in range(10, 0, -1)],
    }
    (folder / "times.csv").write_text("file,time\nsnapshot_1.wav,10\nsnapshot_2.wav,0\n")
    with pytest.raises(SsdptError, match="times out of order"):
        read_layout(folder)


def test_a_snapshot_of_zeros_or_of_another_rate_spoils_its_clip_alone(tmp_path):
    folder = write(tmp_path / "bearing", 30)
    soundfile.write(folder / "snapshot_5.wav", np.zeros(1280), RATE)
    soundfile.write(folder / "snapshot_25.wav", 0.1 * np.ones(1280), 25600)
    first, second, third = sorted(
        read_layout(folder).recordings, key=lambda item: int(item.path.stem[9:])
    )
    with pytest.raises(audio.AudioError, match=r"snapshot_5\.wav: silent"):
        audio.read(first)
    assert len(audio.read(second, RATE)) == RATE
    with pytest.raises(audio.AudioError, match=r"has 25\.6 kHz, 1 channel, but snapshot_21"):
        audio.read(third)


def test_a_content_is_that_of_all_its_files(tmp_path):
    folder = write(tmp_path / "bearing", 10)
    (before,) = map(audio.content_digest, read_layout(folder).recordings)
    soundfile.write(folder / "snapshot_7.wav", 0.1 * np.ones(1280), RATE)
    (after,) = map(audio.content_digest, read_layout(folder).recordings)
    assert before != after


def test_a_model_of_snapshots(tmp_path, cli):
    folder = write(tmp_path / "bearing", 120)
    (folder / "sensor.yaml").write_text("unit: g\nfull_scale: 50\nevery: 10\n")
    detector = Detector.fit(folder, config=load_config("best"))
    assert detector.sample_rate == RATE
    assert len(detector.fingerprint) == 10  # a fifth is kept for tests
    detector.save(tmp_path / "model")
    answer = cli("score", tmp_path / "model", folder, "--format", "csv")
    assert answer.code in {0, 1}, answer.err
    rows = answer.out.splitlines()[1:]
    assert len(rows) == 12
    assert all("10 snapshots end to end, from this one on" in row for row in rows)
    one = detector.score(folder / "snapshot_1.wav")
    assert "0.10 s, shorter than a segment (1.00 s): repeated" in one.notes


def test_snapshots_of_zeros_inside_a_file_are_not_learned_from(tmp_path):
    rng = np.random.default_rng(0)
    values = (0.1 * rng.standard_normal(50 * 1280)).astype(np.float32)
    rows = values.reshape(50, 1280)
    rows[[7, 8, 30]] = 0.0
    rows[12, :1279] = 0.0  # quiet, but not dead
    soundfile.write(tmp_path / "life.wav", values, RATE, subtype="FLOAT")
    (tmp_path / "sensor.yaml").write_text("snapshot: 0.1\nevery: 10\n")
    dataset = read_layout(tmp_path)
    assert "files of snapshots of 0.1 s end to end: those of a single value are left out" in (
        dataset.notes
    )
    with audio.open_audio(dataset.recordings[0]) as reader:
        learned = np.concatenate(list(reader.model_input(AudioConfig(sample_rate=RATE))))
        whole = np.concatenate(list(reader.blocks(RATE)))
    np.testing.assert_array_equal(learned, np.delete(rows, [7, 8, 30], axis=0).ravel())
    np.testing.assert_array_equal(whole, values)
