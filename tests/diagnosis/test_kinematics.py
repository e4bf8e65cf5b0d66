"""Fault frequencies of bearings as they are published, and the lines of a machine."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ssdpt.diagnosis.bearing import BearingGeometry
from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.diagnosis.lines import ShaftSpeed, diagnosis_lines
from ssdpt.diagnosis.machine_data import BearingSettings, GearSettings, MachineData
from ssdpt.errors import SsdptError

CATALOGUE = BearingCatalogue.shipped()


# Name: turns of the shaft per second; frequencies as they are published, with their digits.
PUBLISHED = {
    # Case Western Reserve University Bearing Data Center, multiples of the shaft speed.
    "6205-2RS JEM": (1, {"bpfi": "5.4152", "bpfo": "3.5848", "ftf": "0.39828", "2bsf": "4.7135"}),
    "6203-2RS JEM": (1, {"bpfi": "4.9469", "bpfo": "3.0530", "ftf": "0.3817", "2bsf": "3.9874"}),
    # IMS: 2000 rpm; XJTU-SY: 35 Hz; PRONOSTIA: 1800 rpm.
    "ZA-2115": (2000 / 60, {"bpfo": "236.4", "bpfi": "296.9"}),
    "UER204": (35, {"bpfo": "107.91"}),
    "PRONOSTIA": (30, {"bpfo": "168.3", "bpfi": "221.7"}),
    # Paderborn, SpectraQuest, Curtin: multiples of the shaft speed; MFPT: 25 Hz.
    "6203 FAG": (1, {"bpfo": "3.05", "bpfi": "4.95"}),
    "MB ER-10K": (1, {"bpfo": "3.052", "bpfi": "4.948", "bsf": "1.992", "ftf": "0.3815"}),
    "MB ER-16K": (1, {"bpfo": "3.572", "bpfi": "5.428", "bsf": "2.32", "ftf": "0.3969"}),
    "NICE": (25, {"bpfo": "81.12", "bpfi": "118.88"}),
    "MaFaulDa": (1, {"bpfo": "2.9980", "bpfi": "5.0020", "bsf": "1.8710"}),
}


@pytest.mark.parametrize("name", CATALOGUE.entries)
def test_frequencies_are_those_that_are_published(name):
    turns_per_second, published = PUBLISHED[name]
    for kind, text in published.items():
        factor = 2 if kind == "2bsf" else 1
        calculated = factor * getattr(CATALOGUE[name], kind.removeprefix("2")) * turns_per_second
        last_digit = 10.0 ** -len(text.partition(".")[2])
        assert calculated == pytest.approx(float(text), rel=3e-4, abs=last_digit / 2), kind


def test_every_entry_has_a_source_with_a_year():
    for name, entry in CATALOGUE.entries.items():
        assert any(f"({year})" in entry.source for year in range(1980, 2027)), name


def test_races_and_cage_belong_together():
    bearing = CATALOGUE["UER204"]
    assert bearing.bpfo + bearing.bpfi == pytest.approx(bearing.elements)
    assert bearing.bpfo == pytest.approx(bearing.elements * bearing.ftf)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"element_mm": 40.0}, "element_mm must be less than pitch_mm"),
        ({"elements": 30}, "30 elements of 9 mm do not fit on a circle of 40 mm"),
    ],
)
def test_a_geometry_that_cannot_be(changes, message):
    with pytest.raises(ValidationError, match=message):
        BearingGeometry(**{"elements": 8, "element_mm": 9.0, "pitch_mm": 40.0} | changes)


def test_a_name_may_be_written_in_many_ways_and_an_unknown_one_names_the_nearest():
    assert CATALOGUE["6205 2rs-jem"] is CATALOGUE["6205-2RS JEM"]
    with pytest.raises(SsdptError, match=r"'6205-ZZ' is not in the catalogue.*6205-2RS JEM"):
        CATALOGUE["6205-ZZ"]


def test_an_own_file_adds_and_replaces(tmp_path):
    own = tmp_path / "bearings.yaml"
    own.write_text(
        "uer-204: {elements: 9, element_mm: 7.9, pitch_mm: 34.5, source: measured 2026}\n"
    )
    catalogue = BearingCatalogue.beside(tmp_path / "monitor.yaml")
    assert catalogue["UER204"].elements == 9
    assert len(catalogue.entries) == len(CATALOGUE.entries)
    own.write_text("uer-204: {elements: 9}\n")
    with pytest.raises(SsdptError, match=r"bearings\.yaml: uer-204.*element_mm.*is missing"):
        BearingCatalogue.beside(tmp_path / "monitor.yaml")
    own.write_text("- 6205\n")
    with pytest.raises(SsdptError, match="write each bearing as `name:`"):
        BearingCatalogue.beside(tmp_path / "monitor.yaml")


def test_a_bearing_has_a_name_or_a_geometry():
    for both in (
        {},
        {"name": "UER204", "geometry": CATALOGUE["UER204"].model_dump(exclude="source")},
    ):
        with pytest.raises(ValidationError, match="either its name in the catalogue or"):
            BearingSettings(**both)


def test_lines_follow_speed_and_ratio_and_have_sidebands():
    data = MachineData(
        bearings=(BearingSettings(label="drive end", name="UER204", shaft_ratio=0.5),),
        gears=(GearSettings(label="input", teeth=23),),
        blades=6,
    )
    lines = diagnosis_lines(data, data.geometries(CATALOGUE), ShaftSpeed(2100.0, 0.002))
    by_kind = {line.kind: line for line in lines}
    assert by_kind["shaft"].hz == 35.0
    assert by_kind["bpfo"].hz == pytest.approx(107.91 / 2, abs=0.01)
    assert by_kind["bpfi"].sideband_hz == 17.5  # of the shaft it sits on
    assert by_kind["bsf"].sideband_hz == by_kind["ftf"].hz
    assert (by_kind["mesh"].hz, by_kind["mesh"].sideband_hz) == (23 * 35.0, 35.0)
    assert by_kind["blade"].hz == 210.0
    assert by_kind["bpfo"].tolerance > by_kind["mesh"].tolerance  # rolling elements slip
