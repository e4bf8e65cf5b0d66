"""Layouts are recognised automatically, from any of their folders."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from ssdpt.data.layouts import Dataset, read_layout, recording_of
from ssdpt.errors import SsdptError
from ssdpt.types import Recording


def make(root: Path, names: Iterable[str]) -> Path:
    """Files by name alone: a layout is recognised without opening any."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"sound")
    return root


def only(dataset: Dataset, name: str) -> Recording:
    (recording,) = [r for r in dataset.recordings if r.path.name == name]
    return recording


DCASE_2021 = [
    "fan/train/section_00_source_train_normal_0000_strength_1_ambient.wav",
    "fan/train/section_00_target_train_normal_0000_strength_1_ambient.wav",
    "fan/source_test/section_00_source_test_normal_0000.wav",
    "fan/source_test/section_03_0005.wav",
    "fan/target_test/section_03_0006.wav",
    "fan/target_test/section_00_target_test_anomaly_0001.wav",
    "valve/train/section_01_source_train_normal_0000_pattern_00_no_pump.wav",
    "valve/source_test/section_01_source_test_anomaly_0000.wav",
]


def test_dcase_2021(tmp_path: Path) -> None:
    dataset = read_layout(make(tmp_path / "dev_data", DCASE_2021))
    assert dataset.layout == "dcase2021"
    assert dataset.machines == ("fan", "valve")
    assert dataset.notes == ()
    anomaly = only(dataset, "section_00_target_test_anomaly_0001.wav")
    assert (anomaly.machine, anomaly.section, anomaly.domain) == ("fan", "00", "target")
    assert (anomaly.split, anomaly.label) == ("test", "anomaly")
    # Evaluation clips: the folder gives the domain, nothing gives the label.
    assert only(dataset, "section_03_0006.wav").domain == "target"
    assert only(dataset, "section_03_0005.wav").domain == "source"
    assert only(dataset, "section_03_0005.wav").label == ""


@pytest.mark.parametrize("given", ["", "dev_data", "dev_data/fan", "dev_data/fan/target_test"])
def test_any_folder_of_a_data_set_reads_alike(tmp_path: Path, given: str) -> None:
    make(tmp_path / "dev_data", DCASE_2021)
    whole = read_layout(tmp_path)
    part = read_layout(tmp_path / given)
    inside = [r for r in whole.recordings if r.path.is_relative_to(tmp_path / given)]
    assert list(part.recordings) == inside
    assert part.layout == "dcase2021"


def test_one_file_reads_as_in_its_data_set(tmp_path: Path) -> None:
    trees = [
        *(f"2021/{name}" for name in DCASE_2021),
        "mimii/6_dB_fan/fan/id_02/abnormal/00000001.wav",
        "mimii/6_dB_fan/fan/id_02/normal/00000001.wav",
        "own/pump/normal/a.wav",
        "own/pump/cavitation/b.wav",
    ]
    for recording in read_layout(make(tmp_path, trees)).recordings:
        assert recording_of(recording.path) == recording
        single = read_layout(recording.path)
        assert (single.layout, single.recordings) == ("files", (recording,))


def test_relative_paths_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, ["pump/normal/a.wav", "pump/broken/b.wav"])
    monkeypatch.chdir(tmp_path / "pump" / "broken")
    assert recording_of(Path("b.wav")).machine == "pump"
    assert read_layout(Path()).recordings[0].fault == "broken"
    assert read_layout(Path("..")).machines == ("pump",)
    assert {r.label for r in read_layout(Path("../normal")).recordings} == {"normal"}


def test_dcase_2020(tmp_path: Path) -> None:
    make(
        tmp_path,
        [
            "fan/train/normal_id_00_00000000.wav",
            "fan/test/anomaly_id_02_00000001.wav",
            "fan/test/id_01_00000002.wav",
        ],
    )
    dataset = read_layout(tmp_path)
    assert dataset.layout == "dcase2020"
    assert [(r.section, r.split, r.label) for r in dataset.recordings] == [
        ("01", "test", ""),
        ("02", "test", "anomaly"),
        ("00", "train", "normal"),
    ]


def test_dcase_2022_with_table_and_supplemental(tmp_path: Path) -> None:
    make(
        tmp_path,
        [
            "dev_fan/fan/train/section_00_source_train_normal_0000_m-n_W.flac",
            "dev_fan/fan/train/section_00_target_train_normal_0001.flac",
            "dev_fan/fan/test/section_00_test_0001.wav",
            "dev_fan/fan/supplemental/section_00_machine_source_0000_noAttribute.wav",
            "dev_fan/fan/supplemental/section_00_noise_0001.wav",
        ],
    )
    (tmp_path / "dev_fan/fan/attributes_00.csv").write_text(
        "file_name,d1p,d1v\n"
        "fan/train/section_00_source_train_normal_0000_m-n_W.wav,m-n,table\n"
        "fan/test/section_00_target_train_normal_0001.wav,m-n,another folder\n"
    )
    dataset = read_layout(tmp_path)
    assert dataset.layout == "dcase2022"
    assert dataset.machines == ("fan",)
    first = only(dataset, "section_00_source_train_normal_0000_m-n_W.flac")
    assert first.attributes == (("m-n", "table"),)
    assert only(dataset, "section_00_target_train_normal_0001.flac").attributes == ()
    assert Counter(r.split for r in dataset.recordings) == {
        "train": 2,
        "test": 1,
        "supplemental": 2,
    }
    # The test clip and the noise do not say which domain they are from.
    assert dataset.notes == ("2 recordings have no domain in their names: taken as source",)


def test_anomaly_among_training_clips_stays_visible(tmp_path: Path) -> None:
    make(
        tmp_path,
        [
            "fan/train/section_00_source_train_normal_0000.wav",
            "fan/train/section_00_source_test_anomaly_0000.wav",
        ],
    )
    kinds = {(r.split, r.label) for r in read_layout(tmp_path).recordings}
    assert kinds == {("train", "normal"), ("train", "anomaly")}


def test_strange_names_among_dcase_clips_are_left_out_by_name(tmp_path: Path) -> None:
    make(
        tmp_path,
        ["fan/train/section_00_source_train_normal_0000.wav"]
        + [f"fan/train/copy {number}.wav" for number in range(5)],
    )
    dataset = read_layout(tmp_path)
    assert len(dataset.recordings) == 1
    (note,) = dataset.notes
    assert "copy 0.wav, fan/train/copy 1.wav, fan/train/copy 2.wav and 2 more" in note


@pytest.mark.parametrize("given", ["", "6_dB_fan", "6_dB_fan/fan", "6_dB_fan/fan/id_00"])
def test_mimii(tmp_path: Path, given: str) -> None:
    make(
        tmp_path,
        [
            "6_dB_fan/fan/id_00/normal/00000000.wav",
            "6_dB_fan/fan/id_00/abnormal/00000000.wav",
        ],
    )
    dataset = read_layout(tmp_path / given)
    assert dataset.layout == "mimii"
    assert [(r.machine, r.section, r.label, r.fault) for r in dataset.recordings] == [
        ("fan", "00", "anomaly", ""),
        ("fan", "00", "normal", ""),
    ]
    assert dataset.recordings[0].attributes == (("snr", "6dB"),)


def test_mimii_without_the_inner_folder(tmp_path: Path) -> None:
    make(tmp_path, ["-6_dB_pump/id_04/normal/0.wav", "0_dB_pump/id_04/normal/0.wav"])
    dataset = read_layout(tmp_path)
    assert [(r.machine, r.section, r.attribute_text) for r in dataset.recordings] == [
        ("pump", "04", "snr=-6dB"),
        ("pump", "04", "snr=0dB"),
    ]
    assert dataset.notes == ("pump is found in 2 folders and taken as one machine",)


@pytest.mark.parametrize("normal", ["normal", "Normal", "GOOD", "ok", "healthy"])
def test_own_folder_one_machine(tmp_path: Path, normal: str) -> None:
    root = make(
        tmp_path / "uav",
        [f"{normal}/a.flac", f"{normal}/day 2/deep/b.MP3", "1_broken/c.ogg", "anomaly/d.wav"],
    )
    dataset = read_layout(root)
    assert dataset.layout == "folder"
    metadata = {r.path.name: (r.machine, r.section, r.label, r.fault) for r in dataset.recordings}
    assert metadata == {
        "a.flac": ("uav", "", "normal", ""),
        "b.MP3": ("uav", "", "normal", ""),
        "c.ogg": ("uav", "", "anomaly", "1_broken"),
        "d.wav": ("uav", "", "anomaly", ""),
    }
    assert {r.split for r in dataset.recordings} == {""}


def test_own_folder_with_several_machines_and_a_split(tmp_path: Path) -> None:
    make(
        tmp_path,
        [
            "pump/normal/a.wav",
            "pump/dry run/b.wav",
            "fan/train/good/c.wav",
            "fan/test/good/d.wav",
            "fan/test/unbalance/e.wav",
            "saw/normal/f.wav",
            "saw/test/g.wav",
        ],
    )
    metadata = {
        r.path.name: (r.machine, r.split, r.label, r.fault)
        for r in read_layout(tmp_path).recordings
    }
    assert metadata == {
        "a.wav": ("pump", "", "normal", ""),
        "b.wav": ("pump", "", "anomaly", "dry run"),
        "c.wav": ("fan", "train", "normal", ""),
        "d.wav": ("fan", "test", "normal", ""),
        "e.wav": ("fan", "test", "anomaly", "unbalance"),
        "f.wav": ("saw", "", "normal", ""),
        "g.wav": ("saw", "test", "", ""),
    }


def test_the_normal_folder_alone_keeps_its_machine(tmp_path: Path) -> None:
    make(tmp_path, ["pump/normal/a.wav", "pump/broken/b.wav"])
    (recording,) = read_layout(tmp_path / "pump" / "normal").recordings
    assert (recording.machine, recording.label) == ("pump", "normal")
    (recording,) = read_layout(tmp_path / "pump" / "broken").recordings
    assert (recording.machine, recording.fault) == ("pump", "broken")


def test_a_neighbour_called_ok_says_nothing(tmp_path: Path) -> None:
    make(tmp_path, ["ok/a.wav", "recordings/b.wav"])
    (recording,) = read_layout(tmp_path / "recordings").recordings
    assert (recording.machine, recording.label) == ("recordings", "")


def test_loose_files_beside_normal_are_left_out(tmp_path: Path) -> None:
    dataset = read_layout(make(tmp_path, ["normal/a.wav", "loose.wav"]))
    assert [r.path.name for r in dataset.recordings] == ["a.wav"]
    assert "loose.wav" in dataset.notes[0]


def test_plain_folder(tmp_path: Path) -> None:
    root = make(tmp_path / "recordings", ["b.wav", "a.wav", "monday/c.wav"])
    dataset = read_layout(root)
    assert dataset.layout == "files"
    assert [r.path.relative_to(root).as_posix() for r in dataset.recordings] == [
        "a.wav",
        "b.wav",
        "monday/c.wav",
    ]
    assert {(r.machine, r.label, r.split) for r in dataset.recordings} == {("recordings", "", "")}
    assert "3 recordings have no label; a fit would take them as normal" in dataset.notes[0]


def test_plain_folders_of_several_machines(tmp_path: Path) -> None:
    make(tmp_path, ["pump/a.wav", "fan/train/b.wav", "fan/test/c.wav"])
    dataset = read_layout(tmp_path)
    assert [(r.machine, r.split) for r in dataset.recordings] == [
        ("fan", "test"),
        ("fan", "train"),
        ("pump", ""),
    ]


def test_mixed_layouts_are_all_named(tmp_path: Path) -> None:
    make(tmp_path, ["fan/train/normal_id_00_00000000.wav", "pump/normal/a.wav"])
    assert read_layout(tmp_path).layout == "dcase2020+folder"


def test_hidden_files_and_other_files_are_passed_over(tmp_path: Path) -> None:
    make(
        tmp_path,
        ["normal/a.wav", "normal/._a.wav", ".Trash/b.wav", "__MACOSX/._c.wav", "normal/notes.txt"],
    )
    assert [r.path.name for r in read_layout(tmp_path).recordings] == ["a.wav"]


def test_symlink_loop_ends(tmp_path: Path) -> None:
    make(tmp_path, ["pump/normal/a.wav"])
    (tmp_path / "pump" / "normal" / "again").symlink_to(tmp_path / "pump")
    assert [r.path.name for r in read_layout(tmp_path / "pump").recordings] == ["a.wav"]


def test_linked_machine_keeps_the_name_of_the_link(tmp_path: Path) -> None:
    make(tmp_path, ["store/0815/normal/a.wav"])
    (tmp_path / "pump").symlink_to(tmp_path / "store" / "0815")
    assert read_layout(tmp_path / "pump").machines == ("pump",)


def test_the_order_does_not_depend_on_the_place(tmp_path: Path) -> None:
    first = make(tmp_path / "one" / "data", DCASE_2021)
    second = tmp_path / "zwei" / "data"
    shutil.copytree(first, second)
    names = [
        [r.path.relative_to(root).as_posix() for r in read_layout(root).recordings]
        for root in (first, second)
    ]
    assert names[0] == names[1]


def test_missing_path(tmp_path: Path) -> None:
    with pytest.raises(SsdptError, match="nowhere: no such file or folder"):
        read_layout(tmp_path / "nowhere")


def test_empty_folder(tmp_path: Path) -> None:
    make(tmp_path, ["notes.txt"])
    with pytest.raises(SsdptError, match=r"no recordings .*\.flac, \.mat, .* are read"):
        read_layout(tmp_path)


def test_foreign_file(tmp_path: Path) -> None:
    make(tmp_path, ["notes.pdf"])
    with pytest.raises(SsdptError, match="neither a recording"):
        read_layout(tmp_path / "notes.pdf")


def test_closed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, ["pump/a.wav"])

    def refuse(folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(SsdptError, match="cannot be read: Permission denied"):
        read_layout(tmp_path)
