"""Speed, bearings, gears and blades are typed on the page, and become lines of the diagnosis."""

from __future__ import annotations

import pytest
from browser_pages import PHONE, shot
from monitor_service import ConfiguredService, barriers, in_page, panel
from playwright.sync_api import expect

from ssdpt.diagnosis.catalogue import OWN_FILE

pytestmark = pytest.mark.needs_browser

REFUSED = r"4\d\d .*/v1/machines/fan"
OURS = "6206 ours: {elements: 9, element_mm: 9.5, pitch_mm: 46, source: measured 2026}\n"


@pytest.fixture
def works(command, tmp_path):
    """A fan that was added on the page, and a catalogue with a bearing of the user's own."""
    (tmp_path / OWN_FILE).write_text(OURS)
    with ConfiguredService(command, tmp_path, {"machines": [
        {"id": "mixer", "source": {"kind": "pushed"}}
    ]}) as service:  # fmt: skip
        fan = {"kind": "simulated", "machine": "fan"}
        service.post("v1/machines", json={"id": "fan", "name": "Fan", "source": fan})
        yield service


def bearing_fields(form, number):
    return form.get_by_role("group", name=f"Bearing {number}")


def test_machine_data_are_typed_saved_and_drawn_as_lines(works, open_page):
    page = open_page(works, "#/edit/fan")
    form = panel(page, "Machine")
    form.get_by_label("Speed, in rpm").fill("2100")
    form.get_by_label("Blades").fill("6")
    form.get_by_role("button", name="Add a bearing").click()
    first = bearing_fields(form, 1)
    first.get_by_label("Where, for example drive end").fill("drive end")
    first.get_by_label("Type").select_option("UER204")
    expect(first).to_contain_text("Source: LDK ball bearing; Wang, Lei, Li, Li")
    form.get_by_role("button", name="Add a bearing").click()
    # Nothing is chosen for the person: a bearing that is not in the machine draws wrong lines.
    form.get_by_role("button", name="Save").click()
    expect(bearing_fields(form, 2).get_by_label("Type")).to_be_focused()
    second = bearing_fields(form, 2)
    second.get_by_label("Where, for example drive end").fill("fan end")
    second.get_by_label("Type").select_option("own geometry")
    second.get_by_label("Balls or rollers").fill("9")
    second.get_by_label("Their diameter, in mm").fill("7.94")
    second.get_by_label("Pitch diameter, in mm").fill("39.04")
    form.get_by_role("button", name="Add a gear").click()
    form.get_by_label("Which, for example input").fill("input")
    form.get_by_label("Teeth").fill("23")
    assert barriers(page) == []
    shot(page, "machine-data")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Fan")

    diagnosis = panel(page, "Diagnosis")  # open, as there are lines now
    expect(diagnosis).to_contain_text("Shaft at 2100 rpm, from its machine data.")
    diagnosis.get_by_text("Calculated frequencies").click()
    rows = diagnosis.get_by_role("row")
    expect(rows.filter(has_text="BPFO drive end")).to_contain_text("107.9")
    expect(rows.filter(has_text="BPFO fan end")).to_contain_text("125.5")
    expect(rows.filter(has_text="mesh input")).to_contain_text("805")
    expect(rows.filter(has_text="blades")).to_contain_text("210")

    page.goto(f"{works.address}#/edit/fan")
    page.reload()
    expect(form.get_by_label("Speed, in rpm")).to_have_value("2100")
    expect(form.get_by_label("Blades")).to_have_value("6")
    expect(first.get_by_label("Where, for example drive end")).to_have_value("drive end")
    expect(first.get_by_label("Type")).to_have_value("UER204")
    expect(second.get_by_label("Type").locator("option:checked")).to_have_text("own geometry")
    expect(second.get_by_label("Pitch diameter, in mm")).to_have_value("39.04")
    expect(form.get_by_label("Teeth")).to_have_value("23")

    phone = open_page(works, "#/edit/fan", **PHONE, color_scheme="dark")
    expect(phone.get_by_label("Teeth")).to_have_value("23")
    in_page(phone, "document.documentElement.scrollWidth <= innerWidth")
    assert barriers(phone) == []
    shot(phone, "machine-data-phone-dark")


def test_a_bearing_that_is_no_longer_in_the_catalogue(works, open_page):
    page = open_page(works, "#/edit/fan")
    page.watch.expect(REFUSED)
    form = panel(page, "Machine")
    form.get_by_role("button", name="Add a bearing").click()
    kind = bearing_fields(form, 1).get_by_label("Type")
    kind.select_option("6206 ours")
    own = works.path.with_name(OWN_FILE)
    own.write_text("")  # while the form is open
    form.get_by_role("button", name="Save").click()
    alert = form.get_by_role("alert")
    expect(alert).to_contain_text("bearing '6206 ours' is not in the catalogue; the nearest names")
    expect(alert).to_contain_text("give its geometry, or add it to bearings.yaml")
    expect(kind).to_have_value("6206 ours")  # nothing that was typed is lost
    shot(page, "machine-data-unknown-bearing")
    assert works.get("v1/machines/fan/settings")["settings"]["machine_data"]["bearings"] == []
    own.write_text(OURS)
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Fan")
