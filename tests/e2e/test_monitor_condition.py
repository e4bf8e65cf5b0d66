"""What the page says of a machine's condition: changes, baselines, sensors, what comes next.

The mock of the service has machines that show all of it at once.
"""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from monitor_service import MockService, barriers, card, in_page, panel
from playwright.sync_api import expect

pytestmark = pytest.mark.needs_browser

TONE = "New tone at 2.6 kHz, 27 dB above normal"
BASELINE = re.compile(r"baseline of \d+ \w+ \d{4}, \d\d:\d\d")


# The share of the columns of the trend's picture in which the series is drawn, in the light theme.
DRAWN = """(() => {
  const canvas = document.querySelector('.chart canvas')
  if (!canvas) return 0
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  const columns = new Set()
  for (let at = 0; at < data.length; at += 4)
    if (Math.abs(data[at] - 11) + Math.abs(data[at + 1] - 92) + Math.abs(data[at + 2] - 138) < 30)
      columns.add((at / 4) % canvas.width)
  return columns.size / canvas.width
})()"""


@pytest.fixture(scope="module")
def plant():
    with MockService() as service:
        yield service


@pytest.fixture
def fresh_plant():
    """One that the test may change."""
    with MockService() as service:
        yield service


@pytest.fixture
def viewers_plant():
    with MockService("--role", "viewer") as service:
        yield service


def came_three_times(plant):
    return next(e for e in plant.get("v1/events?machine=pump-1") if len(e["episodes"]) == 3)


def test_a_machine_that_sounds_different_from_the_start_asks_once(fresh_plant, open_page):
    page = open_page(fresh_plant)
    asking = card(page, "Press hydraulics, main aggregate north", "is it healthy")
    expect(asking).to_be_visible()
    asking.click()
    question = panel(page, "Is it healthy?")
    expect(question).to_contain_text("steadily since the start: is it healthy?")
    thresholds = panel(page, "Thresholds")
    expect(thresholds).to_contain_text("Provisional threshold")
    expect(thresholds).to_contain_text("not commissioned yet")
    expect(panel(page, "Baseline")).to_contain_text("from 1 recording.")
    question.get_by_role("button", name="Yes, healthy").click()
    expect(question).to_have_count(0)
    expect(thresholds).to_contain_text("Commissioned on ")
    page.goto(f"{fresh_plant.address}#/overview")
    expect(card(page, "Press hydraulics, main aggregate north")).to_be_visible()
    expect(asking).to_have_count(0)


def test_a_viewer_reads_the_question_and_cannot_answer(viewers_plant, open_page):
    question = panel(open_page(viewers_plant, "#/machine/press-hydraulics"), "Is it healthy?")
    expect(question).to_contain_text("To answer you need the role operator.")
    expect(question.get_by_role("button")).to_have_count(0)


def test_how_bad_it_is_and_when_it_reaches_alarm(plant, open_page):
    page = open_page(plant, "#/machine/fan-roof")
    main = page.get_by_role("main")
    expect(main).to_contain_text(
        "Clear change: 74 % of the way to alarm; higher than on 97 % of its days; "
        "second worst of 3 machines like it"
    )
    expect(main).to_contain_text("Reaches alarm in 3 to 9 days")
    expect(panel(page, "Baseline")).to_contain_text(
        re.compile(r"Baseline of .*, from 12 recordings\.")
    )
    expect(panel(page, "Spectrum against the baseline")).to_contain_text(BASELINE)


def test_measurements_of_a_sensor_are_points_in_its_unit(plant, open_page):
    page = open_page(plant, "#/machine/mill-2")
    page.watch.expect("willReadFrequently")  # the test looks at the picture
    source = panel(page, "Source and operation")
    for fact in ("vibration in g, full scale 50 g", "25.6 kHz", "x, y", "0.42 g RMS"):
        expect(source).to_contain_text(fact)
    trend = panel(page, "Trend")
    expect(trend).to_contain_text("Points: measurements.")
    trend.get_by_role("button", name="1 h", exact=True).click()
    expect(trend).to_contain_text(re.compile(r"\d+ min: mean score"))
    assert 0 < in_page(page, DRAWN) < 0.5  # nothing between two measurements
    page.goto(f"{plant.address}#/machine/fan-roof")
    in_page(page, f"{DRAWN} > 0.8")  # sound without gaps is a line


def test_lasting_changes_are_marked_on_the_trend(plant, open_page):
    page = open_page(plant, "#/machine/mill-2")
    trend = panel(page, "Trend")
    expect(trend.locator(".change-point")).to_have_count(0)  # it began before these ten minutes
    trend.get_by_role("button", name="1 h", exact=True).click()
    tip = trend.locator(".change-point .tip")
    expect(tip).to_be_hidden()
    trend.locator(".change-point").hover()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("New tone at 130 Hz, 30 dB above normal")
    changes = trend.get_by_role("list", name="Lasting changes")
    expect(changes.get_by_role("listitem")).to_have_text(tip.inner_text())


def test_a_band_is_chosen_and_has_its_own_thresholds(plant, open_page):
    page = open_page(plant, "#/machine/mill-2")
    trend = panel(page, "Trend")
    with page.expect_request(lambda request: "/bands?" in request.url):
        trend.get_by_role("button", name="1 d", exact=True).click()
    trend.get_by_label("Band").select_option(label="240–490 Hz: as usual")
    expect(trend).to_contain_text("240–490 Hz: now as usual.")


def test_an_event_says_what_has_changed_and_how_often_it_came(plant, open_page):
    event = came_three_times(plant)
    page = open_page(plant, f"#/event/{event['id']}")
    changed = panel(page, "What has changed")
    expect(changed.get_by_role("listitem")).to_have_text(
        [
            TONE,
            "2 to 3.9 kHz, 14 dB above normal",
            "Strength rises and falls 29.8 times per second, from 2 to 3.9 kHz",
        ]
    )
    changed.get_by_role("button", name="Show all 5").click()
    expect(changed.get_by_role("listitem")).to_have_count(5)
    expect(changed).to_contain_text("New knocks, 24.8 per second, from 3.9 to 7.8 kHz, 9 dB above")
    changed.get_by_role("button", name="Show fewer").click()
    expect(changed.get_by_role("listitem")).to_have_count(3)
    expect(changed).to_contain_text(BASELINE)
    episodes = panel(page, "Episodes")
    expect(episodes).to_contain_text("Came 3 times, 1 min 5 s in all.")
    expect(episodes.get_by_role("listitem")).to_have_text(
        [re.compile(r"Alert20 s$"), re.compile(r"Alert5 s$"), re.compile(r"Alert40 s$")]
    )
    expect(panel(page, "Compare with a normal sample")).to_contain_text(BASELINE)
    expect(panel(page, "Spectrum of the event")).to_contain_text(BASELINE)
    page.goto(f"{plant.address}#/events?machine=pump-1")
    row = page.get_by_role("row").filter(has_text="came 3 times, 1 min 5 s in all")
    expect(row).to_contain_text(f"{TONE} (and 4 more)")


def test_a_score_below_zero_is_not_taken_for_a_fault(plant, open_page):
    page = open_page(plant)
    lower = card(page, "Press hydraulics, main aggregate north", "lower than usual")
    expect(lower).to_be_visible()
    expect(card(page, "Exhaust fan, roof", "lower than usual")).to_have_count(0)
    page.goto(f"{plant.address}#/machine/press-hydraulics")
    gauge = page.get_by_role("meter", name="Score against the alarm threshold")
    expect(gauge).to_have_attribute("aria-valuetext", re.compile(r"^-\d\.\d\d, lower than usual;"))
    assert gauge.locator(".fill").bounding_box()["width"] == 0  # the bar begins at the usual score
    expect(panel(page, "Thresholds")).to_contain_text(re.compile(r"Score now-\d\.\d\d low"))
    expect(panel(page, "Trend")).to_contain_text("Below 0: lower than usual.")
    page.keyboard.press("?")
    help_text = page.get_by_role("dialog", name="Help")
    expect(help_text).to_contain_text("A score below 0 is lower than usual and no sign of a fault.")
    assert barriers(page) == []


def test_a_page_that_fails_leaves_the_way_to_the_others_open(plant, open_page):
    page = open_page(plant)
    page.watch.expect("Cannot read properties of null")  # React writes it to the console
    page.route("**/v1/report?*", lambda route: route.fulfill(json=broken_report(plant)))
    page.get_by_role("link", name="Report").click()
    failed = page.get_by_role("alert").filter(has_text="This page has failed")
    expect(failed).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    expect(card(page, "Mill 2")).to_be_visible()
    expect(failed).to_have_count(0)


def broken_report(plant):
    """Of the week that is shown, without its machines: as no service sends it."""
    week = datetime.now(ZoneInfo("Europe/Berlin")).strftime("%G-W%V")
    return {**plant.get(f"v1/report?week={week}"), "machines": None}


def test_models_are_listed_by_the_names_of_machines(plant, open_page):
    page = open_page(plant, "#/models")
    model = page.locator("summary")
    expect(model.get_by_role("heading", level=2)).to_have_text("Coolant pump 1")
    expect(model).to_contain_text("pump-1 · model: ensemble")


def test_a_machine_with_a_sensor_is_added(fresh_plant, open_page):
    page = open_page(fresh_plant, "#/add")
    page.get_by_label("Name", exact=True).fill("Bearing 4")
    expect(page.get_by_role("group", name="Sensor")).to_have_count(0)
    page.get_by_role("radio", name="MQTT").check()
    page.get_by_label("Broker", exact=True).fill("broker.example")
    page.get_by_label("Topic").fill("hall-a/bearing-4")
    page.get_by_label("Encrypted (TLS)").check()
    sensor = page.get_by_role("group", name="Sensor")
    sensor.get_by_label("Unit").select_option("mm/s")
    sensor.get_by_label("Full scale, in mm/s").fill("25.4")
    sensor.get_by_label("Sample rate, in Hz").fill("4096")
    sensor.get_by_label("Axes").fill("x, y")
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("button", name="Next").click()
    assert sent.value.post_data_json == {
        "id": "bearing-4",
        "name": "Bearing 4",
        "site": "",
        "source": {
            "kind": "mqtt",
            "host": "broker.example",
            "topic": "hall-a/bearing-4",
            "tls": True,
        },
        "sensor": {
            "unit": "mm/s",
            "full_scale": 25.4,
            "sample_rate": 4096,
            "axes": ["x", "y"],
            "snapshots": True,
        },
    }
    expect(panel(page, "Check the sound")).to_be_visible()


def pages_of(plant, page):
    """Every page that has something new, once it shows what it has."""
    paths = ("overview", "events", "add", f"event/{came_three_times(plant)['id']}")
    machines = ("press-hydraulics", "mill-2", "fan-roof")
    for path in (*paths, *(f"machine/{id}" for id in machines)):
        page.goto(f"{plant.address}#/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_attached()
        expect(page.get_by_text("Loading")).to_have_count(0)
        if path == "add":
            page.get_by_role("radio", name="MQTT").check()
            page.get_by_label("Unit").select_option("g")
        yield path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_people_out(plant, open_page, scheme):
    page = open_page(plant, color_scheme=scheme)
    for path in pages_of(plant, page):
        assert barriers(page) == [], path


def test_a_phone_shows_all_pages_without_scrolling_sideways(plant, open_page):
    page = open_page(plant, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    for path in pages_of(plant, page):
        wide = page.evaluate(
            """() => [...document.querySelectorAll('body *')]
              .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
              .map((each) => each.outerHTML.slice(0, 120)).slice(0, 3)"""
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, (path, wide)
