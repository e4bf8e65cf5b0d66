"""What the page remembers: notes on the trend, causes and faults of events, the weekly report."""

from __future__ import annotations

import re
import time

import pytest
from browser_pages import PHONE, shot
from monitor_service import ConfiguredService, barriers, panel
from playwright.sync_api import expect

from plant_history import ZONE, event_id, fill_plant
from ssdpt.monitor.config import STORE_FILE
from ssdpt.monitor.store import Store
from ssdpt.monitor.week import Week

pytestmark = pytest.mark.needs_browser

NOT_THERE_YET = r"404.*(normal\.flac|/spectrogram|/audio|/analysis)"
LAST_WEEK = str(Week.of(time.time(), ZONE).shifted(-1))


@pytest.fixture(scope="module")
def plant(command, tmp_path_factory):
    """Two machines with six weeks of history, one of them in the last ten minutes."""
    folder = tmp_path_factory.mktemp("plant")
    with Store.open(f"sqlite:///{folder / 'data' / STORE_FILE}", folder / "data") as store:
        fill_plant(store, time.time())
    sources = ({"kind": "pushed"}, {"kind": "simulated", "machine": "pump"})
    named = (("fan-1", "Roof fan"), ("pump-1", "Coolant pump"))
    machines = [
        {"id": id, "name": name, "site": "Hall A", "source": source}
        for (id, name), source in zip(named, sources, strict=True)
    ]
    config = {"name": "Northside works", "timezone": ZONE, "machines": machines}
    with ConfiguredService(command, folder, config) as service:
        yield service


def has_no_sideways_scroll(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_note_is_written_on_the_trend_and_marked_there(plant, open_page):
    page = open_page(plant, "#/machine/pump-1")
    page.watch.expect(NOT_THERE_YET)
    trend = panel(page, "Trend")
    trend.get_by_role("button", name="1 mo", exact=True).click()
    notes = trend.get_by_role("region", name="Notes")
    expect(notes).to_contain_text("Repair bearing changed")
    mark = trend.get_by_role("button", name=re.compile("^Repair, .*: bearing changed"))
    tip = trend.locator(".note-marks .tip").first
    expect(tip).to_be_hidden()
    mark.hover()
    expect(tip).to_be_visible()
    page.mouse.move(0, 0)
    mark.focus()  # the keyboard reads it as well
    expect(tip).to_be_visible()

    notes.get_by_role("button", name="Add a note").click()
    form = notes.get_by_role("form", name="Add a note")
    then = time.strftime("%Y-%m-%dT12:00", time.gmtime(time.time() - 2 * 86400))
    form.get_by_label("Time").fill(then)
    form.get_by_label("Note", exact=True).fill("impeller cleaned & balanced")
    form.get_by_role("button", name="Save").click()
    expect(notes).to_contain_text("impeller cleaned & balanced")
    expect(trend.locator(".note-mark").locator("visible=true")).not_to_have_count(0)
    expect(notes.get_by_role("button", name="Learn a new baseline…")).to_be_visible()
    notes.get_by_role("button", name="Learn a new baseline…").click()
    expect(page.locator("#baseline")).to_be_focused()

    notes.get_by_role("button", name="Edit the note “impeller cleaned & balanced”").click()
    form.get_by_label("Kind").select_option("Inspection")
    form.get_by_role("button", name="Save").click()
    expect(notes).to_contain_text("Inspection impeller cleaned")
    assert not barriers(page)
    shot(page, "history-notes")
    notes.get_by_role("button", name="Remove the note “impeller cleaned & balanced”").click()
    notes.get_by_role("group").get_by_role("button", name="Remove").click()
    expect(notes).not_to_contain_text("impeller")
    (left,) = plant.get("v1/machines/pump-1/notes")
    assert (left["text"], left["kind"]) == ("bearing changed", "repair")


def test_a_fault_that_looks_like_an_earlier_one_is_confirmed(plant, open_page):
    page = open_page(plant, f"#/event/{event_id(3)}")
    page.watch.expect(NOT_THERE_YET)
    details = panel(page, "Fault and cause")
    expect(details).to_contain_text("Looks like: loose belt (3 earlier events, 91 % alike)")
    assert not barriers(page)
    shot(page, "history-event")
    details.get_by_label("Cause").fill("belt tensioner worn")
    details.get_by_label("Work order").fill("WO-4800")
    details.get_by_role("button", name="Save").click()
    expect(details.get_by_role("status")).to_have_text("Saved.")
    details.get_by_role("button", name="Yes, it is").click()
    expect(details.get_by_label("Fault", exact=False).first).to_have_value("loose belt")
    expect(details).not_to_contain_text("Looks like")
    event = plant.get(f"v1/events/{event_id(3)}")
    named = {name: event[name] for name in ("fault", "cause", "work_order")}
    assert named == {
        "fault": "loose belt",
        "cause": "belt tensioner worn",
        "work_order": "WO-4800",
    }


def test_events_are_searched_filtered_and_grouped(plant, open_page):
    page = open_page(plant, "#/events")
    rows = page.locator("table.events tbody tr")
    expect(rows).to_have_count(6)
    pictures = rows.locator("img")
    expect(pictures).to_have_count(2)  # none where there is no picture
    assert pictures.first.evaluate("image => [image.loading, image.width]") == ["lazy", 112]
    expect(rows.filter(has_text="WO-4711")).to_contain_text("1 comment ann: greased the bearing")
    shot(page, "history-events")

    page.get_by_label("Search").fill("GREASED coolant")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("dry bearing")
    assert "text=GREASED" in page.url
    page.get_by_label("Search").fill("100%_'\"")
    expect(page.get_by_text("No events.")).to_be_visible()
    page.get_by_role("link", name="Remove all filters").click()
    expect(rows).to_have_count(6)
    page.get_by_label("Marked as").select_option("normal")
    expect(rows).to_have_count(1)
    page.reload()  # the address keeps the filters
    expect(rows).to_have_count(1)
    page.get_by_label("Marked as").select_option("all")
    first = Week.parse(LAST_WEEK)
    begin = time.strftime("%Y-%m-%d", time.gmtime(first.begin(ZONE) + 43200))
    page.get_by_label("From").fill(begin)
    expect(rows).to_have_count(3)
    assert not barriers(page)

    page.goto(f"{plant.address}#/events?grouped=true")
    belts = rows.filter(has_text="loose belt")
    expect(belts).to_have_count(1)
    expect(belts.get_by_role("cell").nth(2)).to_have_text("4")  # with the one that looks like it
    assert not barriers(page)
    shot(page, "history-grouped")
    belts.get_by_role("link").click()
    expect(rows).to_have_count(4)
    expect(page.get_by_text("Fault: loose belt")).to_be_visible()


def test_the_weekly_report(plant, open_page):
    page = open_page(plant, "#/report")
    expect(page.get_by_text("This week is not over")).to_be_visible()
    page.get_by_role("button", name="Week before").click()
    assert page.url.endswith(f"week={LAST_WEEK}")
    worse = panel(page, "Machines that get worse")
    expect(worse).to_contain_text("Roof fan")
    expect(worse).to_contain_text("score 1.60, before 1.0")
    expect(worse).to_contain_text("h in alert or alarm, before 0.0 h")
    expect(worse).not_to_contain_text("Coolant pump")
    expect(panel(page, "Events").locator("tbody tr")).to_have_count(3)
    pump = panel(page, "Machines").get_by_role("row", name=re.compile("Coolant pump"))
    expect(pump).to_contain_text("24.0")  # a day without sound
    expect(panel(page, "Notes")).to_contain_text("Coolant pump: bearing changed (ann)")
    assert not barriers(page)
    shot(page, "history-report")
    with page.expect_download() as download:
        page.get_by_role("link", name="PDF file").click()
    assert download.value.suggested_filename == f"report-{LAST_WEEK}.pdf"
    assert download.value.path().read_bytes().startswith(b"%PDF-")
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation")).to_be_hidden()
    expect(page.get_by_role("button", name="Print")).to_be_hidden()
    expect(worse).to_be_visible()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("events", "#/events"),
        ("grouped", "#/events?grouped=true"),
        ("report", f"#/report?week={LAST_WEEK}"),
    ],
)
def test_on_a_phone_nothing_is_read_sideways(plant, open_page, name, path):
    page = open_page(plant, path, color_scheme="dark", **PHONE)
    expect(page.get_by_role("table").first).to_be_visible()
    assert has_no_sideways_scroll(page)
    assert not barriers(page)
    shot(page, f"history-{name}-phone-dark")
