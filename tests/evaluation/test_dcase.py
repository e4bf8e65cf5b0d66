from __future__ import annotations

import pytest

from ssdpt.evaluation.dcase import Line, write_files
from ssdpt.evaluation.tables import Row, result_tables

# (section, domain, anomalous, score); the threshold is 0.5.
CLIPS = [
    ("00", "source", False, 0.1),
    ("00", "source", False, 0.6),
    ("00", "source", True, 0.5),
    ("00", "source", True, 0.9),
    ("00", "target", False, -1.25),
    ("00", "target", False, 1e-07),
    ("00", "target", True, 0.7),
    ("00", "target", True, 0.30000000000000004),
]


def line(section, domain, anomalous, value, machine="fan", number=0):
    label = "anomaly" if anomalous else "normal"
    name = f"section_{section}_{domain}_test_{label}_{number:04d}.wav"
    return Line(name, machine, section, domain, anomalous, value, value > 0.5)


def written(folder, clips, layout, machine="fan"):
    rows = [Row(machine, s, d, a, v, 0.5) for s, d, a, v in clips]
    # Handed over in another order than the files list them.
    lines = [line(*clip, machine, number) for number, clip in enumerate(clips)][::-1]
    paths = write_files(folder, lines, result_tables(rows, resamples=2), layout)
    assert all(path.parent == folder for path in paths)
    return {path.name: path.read_bytes() for path in paths}


def test_files_of_2021(tmp_path):
    files = written(tmp_path, CLIPS, "dcase2021")
    assert sorted(files) == [
        "anomaly_score_fan_section_00_source_test.csv",
        "anomaly_score_fan_section_00_target_test.csv",
        "decision_result_fan_section_00_source_test.csv",
        "decision_result_fan_section_00_target_test.csv",
        "result.csv",
    ]
    assert files["anomaly_score_fan_section_00_target_test.csv"] == (
        b"section_00_target_test_normal_0004.wav,-1.25\n"
        b"section_00_target_test_normal_0005.wav,1e-07\n"
        b"section_00_target_test_anomaly_0006.wav,0.7\n"
        b"section_00_target_test_anomaly_0007.wav,0.30000000000000004\n"
    )
    assert files["decision_result_fan_section_00_source_test.csv"] == (
        b"section_00_source_test_normal_0000.wav,0\n"
        b"section_00_source_test_normal_0001.wav,1\n"
        b"section_00_source_test_anomaly_0002.wav,0\n"
        b"section_00_source_test_anomaly_0003.wav,1\n"
    )
    assert files["result.csv"] == (
        b"fan\n"
        b"section,domain,AUC,pAUC,precision,recall,F1 score\n"
        b"00,source,0.75,0.7368421052631579,0.5,0.5,0.5\n"
        b"00,target,1.0,1.0,1.0,0.5,0.6666666666666666\n"
        b"arithmetic mean,,0.875,0.868421052631579,0.75,0.5,0.5833333333333333\n"
        b"harmonic mean,,0.8571428571428572,0.8484848484848485,0.6666666666666666,0.5,"
        b"0.5714285714285714\n"
        b"\n"
        b",,AUC,pAUC,precision,recall,F1 score\n"
        b'"arithmetic mean over all machine types, sections, and domains",,0.875,'
        b"0.868421052631579,0.75,0.5,0.5833333333333333\n"
        b'"harmonic mean over all machine types, sections, and domains",,0.8571428571428572,'
        b"0.8484848484848485,0.6666666666666666,0.5,0.5714285714285714\n"
        b"\n"
    )


@pytest.mark.parametrize("layout", ["dcase2022", "folder"])
def test_files_of_2022_and_later(tmp_path, layout):
    files = written(tmp_path, CLIPS, layout)
    assert sorted(files) == [
        "anomaly_score_fan_section_00_test.csv",
        "decision_result_fan_section_00_test.csv",
        "result.csv",
    ]
    assert files["anomaly_score_fan_section_00_test.csv"].splitlines()[:5] == [
        b"section_00_source_test_normal_0000.wav,0.1",
        b"section_00_source_test_normal_0001.wav,0.6",
        b"section_00_target_test_normal_0004.wav,-1.25",
        b"section_00_target_test_normal_0005.wav,1e-07",
        b"section_00_source_test_anomaly_0002.wav,0.5",
    ]
    figures = b"0.75,1.0,0.7368421052631579,0.5,1.0,0.5,0.5,0.5,0.6666666666666666"
    headings = (
        b"AUC (source),AUC (target),pAUC,precision (source),precision (target),"
        b"recall (source),recall (target),F1 score (source),F1 score (target)"
    )
    assert files["result.csv"] == (
        b"fan\nsection," + headings + b"\n00," + figures + b"\narithmetic mean," + figures
        + b"\nharmonic mean," + figures + b"\n\n," + headings
        + b'\n"arithmetic mean over all machine types, sections, and domains",' + figures
        + b'\n"harmonic mean over all machine types, sections, and domains",' + figures + b"\n\n"
    )  # fmt: skip


def test_undefined_metrics_are_left_out_of_the_results(tmp_path):
    no_faulty_target = [clip for clip in CLIPS if not (clip[1] == "target" and clip[2])]
    text = written(tmp_path, no_faulty_target, "dcase2021")["result.csv"].decode()
    assert "00,source," in text
    assert "00,target," not in text
    only_source = [clip for clip in CLIPS if clip[1] == "source"]
    row = written(tmp_path, only_source, "mimii")["result.csv"].decode().splitlines()[2]
    assert row == "00,0.75,,0.7368421052631579,0.5,,0.5,,0.5,"
    nothing = written(tmp_path, [clip for clip in CLIPS if not clip[2]], "dcase2021")
    assert nothing["result.csv"] == b""


def test_a_machine_name_cannot_lead_out_of_the_folder(tmp_path):
    files = written(tmp_path / "out", CLIPS, "dcase2022", machine="../line 1/fan")
    assert "anomaly_score_.._line 1_fan_section_00_test.csv" in files
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_recordings_without_a_section_are_filed_under_00(tmp_path):
    clips = [("", *clip[1:]) for clip in CLIPS]
    files = written(tmp_path, clips, "folder")
    assert "anomaly_score_fan_section_00_test.csv" in files
    assert files["result.csv"].splitlines()[2].startswith(b"00,")
