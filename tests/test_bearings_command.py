"""ssdpt bearings: the catalogue and the frequencies of a bearing at a speed."""

from __future__ import annotations

import json


def test_all_bearings_are_listed_with_their_sources(cli):
    said = cli("bearings").out
    assert "6205-2RS JEM" in said
    assert "BPFO per turn" in said
    assert "IMS bearing data set" in said


def test_one_bearing_at_a_speed(cli):
    (row,) = json.loads(cli("bearings", "uer 204", "--speed", "2100", "--json").out)
    assert round(row["BPFO"], 2) == 107.91
    assert row["unit"] == "Hz"


def test_an_own_file_beside_the_configuration_adds_and_replaces(cli, tmp_path):
    (tmp_path / "bearings.yaml").write_text(
        "6205:\n  elements: 9\n  element_mm: 7.94\n  pitch_mm: 39.04\n  source: data sheet, 2024\n"
    )
    said = cli("bearings", "6205", "--config", str(tmp_path / "monitor.yaml")).out
    assert "data sheet, 2024" in said


def test_an_unknown_bearing_names_the_nearest(cli):
    result = cli("bearings", "6204-2RS")
    assert result.code == 2
    assert "bearing '6204-2RS' is not in the catalogue; the nearest names are 620" in result.error
