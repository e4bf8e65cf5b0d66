"""File names of the DCASE challenges."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdpt.data.attributes import parse_attributes, read_attribute_tables
from ssdpt.data.names import ParsedName, parse_name
from ssdpt.errors import SsdptError


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("normal_id_00_00000012", ParsedName("00", label="normal")),
        ("anomaly_id_06_00000263", ParsedName("06", label="anomaly")),
        ("id_05_00000000", ParsedName("05")),
        (
            "section_00_source_train_normal_0000_strength_1_ambient",
            ParsedName(
                "00", "source", "train", "normal", (("strength", "1"), ("other", "ambient"))
            ),
        ),
        (
            "section_00_source_train_normal_0000_A1Spd28VMic1",
            ParsedName("00", "source", "train", "normal", (("other", "A1Spd28VMic1"),)),
        ),
        (
            "section_00_source_train_normal_0000_0_g_25_mm_2000_mV_none",
            ParsedName(
                "00", "source", "train", "normal", (("g", "0"), ("mm", "25"), ("mV", "2000"))
            ),
        ),
        ("section_04_target_test_0123", ParsedName("04", "target", "test")),
        (
            "section_02_target_test_anomaly_0007_volt_1.0",
            ParsedName("02", "target", "test", "anomaly", (("volt", "1.0"),)),
        ),
        (
            "section_00_source_train_normal_0010_car_B1_spd_31V_mic_1",
            ParsedName(
                "00", "source", "train", "normal", (("car", "B1"), ("spd", "31V"), ("mic", "1"))
            ),
        ),
        (
            "section_00_source_test_anomaly_0008_m-n_W",
            ParsedName("00", "source", "test", "anomaly", (("m-n", "W"),)),
        ),
        ("section_03_0042", ParsedName("03")),
        ("section_00_test_0199", ParsedName("00", split="test")),
        (
            "section_00_source_train_normal_0765_noAttribute",
            ParsedName("00", "source", "train", "normal"),
        ),
        ("section_00_source_train_normal_0000_", ParsedName("00", "source", "train", "normal")),
        (
            "section_00_machine_source_0000_noAttribute",
            ParsedName("00", "source", attributes=(("content", "machine"),)),
        ),
        (
            "section_00_noise_supplemental_normal_0000",
            ParsedName("00", None, "supplemental", "normal", (("content", "noise"),)),
        ),
        ("section_00", ParsedName("00")),
    ],
)
def test_real_names(stem: str, expected: ParsedName) -> None:
    assert parse_name(stem) == expected


@pytest.mark.parametrize("stem", ["00000012", "ccw_f8-6", "mysection_00_source", "normal_0001", ""])
def test_other_names_are_not_dcase(stem: str) -> None:
    assert parse_name(stem) is None


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_any_name_is_only_data(text: str) -> None:
    parse_name(text)
    parsed = parse_name(f"section_07_{text}".replace("\n", ""))
    assert parsed is not None
    assert parsed.section == "07"


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[a-z]{1,5}", fullmatch=True),
            st.from_regex(r"[A-Z0-9.]{1,4}", fullmatch=True),
        ),
        max_size=5,
    )
)
def test_pairs_survive(pairs: list[tuple[str, str]]) -> None:
    text = "_".join(word for pair in pairs for word in pair)
    assert parse_attributes(text) == tuple(pairs)


def test_attribute_table(tmp_path: Path) -> None:
    (tmp_path / "attributes_00.csv").write_text(
        "file_name,d1p,d1v,d2p,d2v\n"
        "fan/train/section_00_source_train_normal_0000_m-n_W.wav,m-n,W,speed,2\n"
        "train\\section_00_source_train_normal_0001.wav,m-n,X,,\n"
        "fan/test/section_00_0002.wav,noAttribute,,,\n"
    )
    (tmp_path / "attributes_01.csv").write_text(
        "file_name,d1p,d1v\nfan/train/section_01_1.wav,a,b\n"
    )
    assert read_attribute_tables(tmp_path) == {
        ("train", "section_00_source_train_normal_0000_m-n_W"): (("m-n", "W"), ("speed", "2")),
        ("train", "section_00_source_train_normal_0001"): (("m-n", "X"),),
        ("train", "section_01_1"): (("a", "b"),),
    }


@pytest.mark.parametrize("content", [b"", b"name,d1p\nx,y\n", b"\xff\xfe\x00file_name"])
def test_broken_attribute_table(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "attributes_00.csv").write_bytes(content)
    with pytest.raises(SsdptError, match=r"attributes_00\.csv: "):
        read_attribute_tables(tmp_path)
