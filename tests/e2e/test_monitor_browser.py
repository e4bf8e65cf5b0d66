"""The page of a service with PostgreSQL and Mosquitto, in a browser."""

from __future__ import annotations

import json
import re
import time
import uuid

import pytest
from monitor_service import (
    SLOW,
    Broker,
    ConfiguredService,
    Sender,
    Subscriber,
    card,
    panel,
    postgres_schema,
)
from playwright.sync_api import expect

from ssdpt.monitor.messages import Event
from ssdpt.monitor.store import Store
from waiting import wait_until

pytestmark = [
    pytest.mark.needs_browser,
    pytest.mark.needs_postgres,
    pytest.mark.needs_mosquitto,
]

SPEED = 8.0  # of the service's clock
LIVE = {"seed": 7, "speed": SPEED}
# Chromium says each reply that is no success; these belong to their scenes.
NO_NORMAL_SAMPLE = r"404.*normal\.flac"
NO_PICTURE_YET = r"404.*/spectrogram"
# Which of them depends on how much of its minute a busy computer has learned from.
UNUSUAL = "(Alert|Alarm)"
SERVICE_AWAY = r"ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_)"


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with Broker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture(scope="module")
def store_url():
    with postgres_schema() as url:
        yield url


@pytest.fixture(scope="module")
def works(command, broker, store_url, tmp_path_factory):
    """Two machines that have learned a baseline, with PostgreSQL and an MQTT broker."""
    machines = [
        {
            **{"id": id, "name": name, "site": "Hall C"},
            # Every fault is another event here.
            "alarm": {"smoothing": 5.0, "rejoin_within": 0},
            # Faults that are plain to a model of a minute.
            "source": {"kind": "simulated", "machine": kind, "section": section, **LIVE},
        }
        for id, name, kind, section in (
            ("fan-1", "Roof fan", "fan", 0),
            ("gearbox-1", "Mill gearbox", "gearbox", 1),
        )
    ]
    config = {
        **{"name": "Works", "timezone": "Europe/Berlin", "speed": SPEED, "store": store_url},
        "machines": machines,
        "retention": {"post_roll": 24.0},  # time to open the page of an event before it is kept
        "outputs": [{"kind": "mqtt", "host": "127.0.0.1", "port": broker.port, "prefix": "works"}],
    }
    with ConfiguredService(command, tmp_path_factory.mktemp("works"), config) as service:
        service.learn("fan-1", "gearbox-1")
        yield service


def focus_by_tab(page, target):
    """Reach something with the Tab key only."""
    for _ in range(80):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail("the Tab key does not reach it")


@pytest.fixture
def earlier_event(works, store_url, tmp_path):
    """An event of an hour ago, the only unacknowledged one of fan-1: quicker than a new fault."""
    for event in works.events("fan-1"):
        if event["state"] == "active":
            works.post(f"v1/events/{event['id']}/acknowledge", json={"comment": ""})
    began = time.time() - 3600
    event = Event(
        id=uuid.uuid4().hex,
        machine="fan-1",
        kind="anomaly",
        level="alarm",
        began=began,
        ended=began + 60,
        message="Unusual sound",
    )
    with Store.open(store_url, tmp_path) as store:
        store.save_event(event)
    return event


def test_a_fault_is_shown_announced_listed_and_published(works, broker, open_page):
    works.heal("fan-1")
    page = open_page(works)
    page.watch.expect(NO_PICTURE_YET)
    page.watch.expect(NO_NORMAL_SAMPLE)
    expect(card(page, "Roof fan", "Normal")).to_be_visible()
    earlier = {event["id"] for event in works.events("fan-1")}
    with Subscriber(broker.port, "works/#") as subscriber:
        works.break_down("fan-1")
        expect(card(page, "Roof fan", UNUSUAL)).to_be_visible(timeout=SLOW)
        expect(page.get_by_role("status")).to_contain_text(re.compile(rf"{UNUSUAL}: Roof fan\."))
        event = next(e for e in works.events("fan-1") if e["id"] not in earlier)
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Events").click()
        row = page.get_by_role("row").filter(has_text="Roof fan").first
        expect(row).to_contain_text(re.compile(UNUSUAL))
        expect(row).to_contain_text("Unacknowledged")
        row.get_by_role("link").first.click()
        # The recording is made some seconds later; it comes to a page that is open already.
        sound = panel(page, "Recording")
        expect(sound.get_by_role("button", name="Play: the event")).to_be_visible()
        expect(sound.get_by_role("img", name=re.compile("^Spectrogram"))).to_be_visible()
        published = ("alert", "alarm")
        wait_until(lambda: json.loads(subscriber.last("works/fan-1/state"))["state"] in published)
        wait_until(
            lambda: event["id"] in [e["id"] for e in subscriber.contents("works/fan-1/event")]
        )


def test_a_page_that_is_loaded_again_during_an_event_shows_it(works, open_page):
    event = works.new_alarm_of("fan-1")
    page = open_page(works)
    page.watch.expect(NO_NORMAL_SAMPLE)
    expect(card(page, "Roof fan", UNUSUAL)).to_be_visible()
    page.reload()
    expect(card(page, "Roof fan", f"{UNUSUAL}, score .*, 1 active event")).to_be_visible()
    banner = panel(page, "Events to acknowledge")
    banner.get_by_role("link", name=re.compile(f"{UNUSUAL}: Roof fan")).click()
    expect(page).to_have_url(re.compile(event["id"]))
    page.reload()
    expect(panel(page, "Timeline")).to_contain_text("Still active")


def test_a_service_killed_during_an_event_comes_back_with_it(works, open_page):
    event = works.new_alarm_of("fan-1")
    page = open_page(works)
    page.watch.expect(SERVICE_AWAY)
    acknowledge = page.get_by_role("button", name="Acknowledge Roof fan")
    acknowledge.click()
    expect(acknowledge).to_have_count(0)
    works.kill()
    expect(page.get_by_role("alert")).to_contain_text("Connection lost")
    expect(page.get_by_text("Not live")).to_be_visible()
    works.start()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(card(page, "Roof fan", UNUSUAL)).to_be_visible(timeout=SLOW)
    expect(acknowledge).to_have_count(0)
    newest = works.events("fan-1")[0]
    assert newest["id"] == event["id"], "the event that went on was ended, and begun anew"
    assert (newest["state"], newest["ended"]) == ("acknowledged", None)
    assert newest["acknowledged"]["who"] == "local"


def test_an_event_is_acknowledged_by_keyboard(works, earlier_event, store_url, tmp_path, open_page):
    page = open_page(works, f"#/event/{earlier_event.id}")
    page.watch.expect(NO_PICTURE_YET)
    page.watch.expect(NO_NORMAL_SAMPLE)
    todo = panel(page, "Actions")
    focus_by_tab(page, todo.get_by_label("Comment"))
    page.keyboard.type("bearing is dry; greased")
    focus_by_tab(page, todo.get_by_role("button", name="Acknowledge"))
    page.keyboard.press("Enter")
    timeline = panel(page, "Timeline")
    expect(timeline).to_contain_text("Acknowledged by local")
    page.reload()
    expect(timeline).to_contain_text("Acknowledged by local")
    expect(timeline).to_contain_text("bearing is dry; greased")
    expect(todo.get_by_role("button", name="Acknowledge")).to_have_count(0)
    with Store.open(store_url, tmp_path) as store:
        kept = store.event(earlier_event.id)
    assert kept.acknowledged.who == "local"
    assert [comment.text for comment in kept.comments] == ["bearing is dry; greased"]


def test_the_key_a_acknowledges(works, earlier_event, open_page):
    page = open_page(works, f"#/event/{earlier_event.id}")
    page.watch.expect(NO_PICTURE_YET)
    page.watch.expect(NO_NORMAL_SAMPLE)
    expect(panel(page, "Actions").get_by_role("button", name="Acknowledge")).to_be_enabled()
    page.keyboard.press("a")
    expect(panel(page, "Timeline")).to_contain_text("Acknowledged by local")


def test_an_event_marked_as_normal_is_learned(works, open_page):
    works.heal("gearbox-1")
    event = works.alarm_of("gearbox-1")
    page = open_page(works, f"#/event/{event['id']}")
    page.watch.expect(NO_NORMAL_SAMPLE)
    todo = panel(page, "Actions")
    button = todo.get_by_role("button", name="Mark as normal")
    button.click()
    expect(todo).to_contain_text("Mill gearbox learns this sound as normal")
    todo.get_by_role("button", name="Cancel").click()
    expect(button).to_be_focused()
    assert works.get(f"v1/events/{event['id']}")["label"] == ""
    button.click()
    todo.get_by_role("button", name="It is normal: learn it").click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(todo).to_contain_text(
        "Mill gearbox learns this sound as normal. Only a new baseline undoes this."
    )
    works.wait_until(
        lambda: any("is normal from now on" in w for w in works.get("v1/status")["notes"])
    )
    page.goto(f"{works.address}#/settings")
    page.reload()
    expect(panel(page, "About this service")).to_contain_text(
        "Mill gearbox: the sound of an event is normal from now on"
    )
    page.goto(f"{works.address}#/events?machine=gearbox-1")
    expect(page.get_by_role("row").nth(1)).to_contain_text("marked as normal")
    page.goto(f"{works.address}#/event/{event['id']}")
    todo.get_by_role("button", name="Mark as a fault").click()
    expect(todo).to_contain_text("has learned this sound as normal before")


def test_all_that_is_listed_is_acknowledged_at_once(works, earlier_event, open_page):
    page = open_page(works, "#/events?machine=fan-1")
    page.get_by_role("button", name="Acknowledge all").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("row").filter(has_text="Unacknowledged")).to_have_count(1)
    page.get_by_role("button", name="Acknowledge all").click()
    expect(page.get_by_text("Acknowledge 1 event of this list?")).to_be_visible()
    page.get_by_role("button", name="Acknowledge 1 event").click()
    expect(page.get_by_text("1 event acknowledged.")).to_be_focused()
    expect(page.get_by_role("row").filter(has_text="Unacknowledged")).to_have_count(0)
    expect(page.get_by_role("button", name="Acknowledge all")).to_have_count(0)
    assert all(e["state"] != "active" for e in works.events("fan-1"))


def test_an_error_in_the_configuration_is_shown_until_it_is_corrected(works, open_page):
    page = open_page(works)
    expect(card(page, "Roof fan")).to_be_visible()
    works.write(surprise=1)
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("surprise")
    works.write()
    expect(problem).to_have_count(0)


def test_a_machine_learns_a_new_baseline(works, open_page):
    works.heal("gearbox-1")
    page = open_page(works, "#/machine/gearbox-1")
    baseline = panel(page, "Baseline")
    baseline.get_by_label("Minutes").fill("1")
    baseline.get_by_role("button", name="Learn a new baseline").click()
    baseline.get_by_role("button", name="The machine runs normally: learn now").click()
    expect(baseline.get_by_role("progressbar", name="Normal sound collected")).to_be_visible()
    state = page.get_by_role("main").get_by_text(re.compile(r"^(A baseline|Normal sound)"))
    expect(state).to_contain_text("A baseline is being learned.")
    expect(state).to_contain_text("Normal sound.", timeout=SLOW)


def test_the_slider_changes_the_thresholds(works, open_page):
    page = open_page(works, "#/machine/gearbox-1")
    thresholds = panel(page, "Thresholds")
    slider = thresholds.get_by_role("slider", name="Acceptable false alerts")
    alert = thresholds.get_by_role("definition").first
    before = alert.inner_text()
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "1 false alert per 10 weeks")
    expect(alert).not_to_have_text(before)
    rare = alert.inner_text()
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "3 false alerts per day")
    expect(alert).not_to_have_text(rare)
    thresholds.get_by_role("button", name="Use these thresholds").click()
    expect(thresholds.get_by_role("button", name="Use these thresholds")).to_have_count(0)
    kept = works.machine("gearbox-1")["thresholds"]
    assert kept["false_alerts_per_week"] == 21
    assert float(alert.inner_text()) == pytest.approx(kept["alert"], rel=0.01)
    assert kept["alert"] < float(rare)
    page.reload()
    expect(slider).to_have_attribute("aria-valuetext", "3 false alerts per day")
    works.put("v1/machines/gearbox-1/thresholds", json={"false_alerts_per_week": 1})


def test_a_machine_is_muted_and_unmuted(works, open_page):
    page = open_page(works, "#/machine/gearbox-1")
    mute = panel(page, "Mute")
    mute.get_by_role("button", name="For 1 h").click()
    expect(mute).to_contain_text("Muted until")
    assert works.machine("gearbox-1")["muted_until"] is not None
    page.goto(f"{works.address}#/overview")
    expect(card(page, "Mill gearbox", "muted")).to_be_visible()
    page.goto(f"{works.address}#/machine/gearbox-1")
    mute.get_by_role("button", name="Unmute").click()
    expect(mute.get_by_role("button", name="For 1 h")).to_be_visible()
    assert works.machine("gearbox-1")["muted_until"] is None
    page.goto(f"{works.address}#/overview")
    expect(card(page, "Mill gearbox", "muted")).to_have_count(0)


def test_a_new_machine_whose_sound_is_pushed_is_monitored(works, open_page):
    page = open_page(works)
    page.get_by_role("link", name="Add a machine").click()
    page.get_by_label("Name", exact=True).fill("Compressor")
    page.get_by_label("Site").fill("Hall D")
    expect(page.get_by_label("Id, for addresses and messages")).to_have_value("compressor")
    page.get_by_role("radio", name="Simulated").check()
    page.get_by_label("Seconds until a fault develops").fill("90")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_label("Site")).to_have_value("Hall D")
    expect(page.get_by_label("Seconds until a fault develops")).to_have_value("90")
    assert "compressor" not in [each["id"] for each in works.get("v1/machines")]
    page.get_by_role("radio", name="Pushed by HTTP").check()
    page.get_by_role("button", name="Next").click()
    good = page.get_by_role("button", name="This is the right sound")
    expect(good).to_be_disabled()
    expect(page.get_by_text("not arriving yet")).to_be_visible()
    expect(page.get_by_text("Knock near the microphone")).to_have_count(0)
    with Sender(works, "compressor"):
        expect(good).to_be_enabled()
        expect(page.get_by_role("img", name=re.compile("^Live spectrogram"))).to_be_visible()
        good.click()
        page.get_by_label("Minutes").fill("1")
        page.get_by_role("button", name="Learn now").click()
        progress = page.get_by_role("progressbar", name="Normal sound collected")
        expect(progress).to_be_visible()
        page.get_by_role("button", name="Finish").click(timeout=SLOW)
        done = panel(page, "The machine is monitored")
        expect(done).to_contain_text("Normal", timeout=SLOW)
        done.get_by_role("link", name="Show the overview").click()
        expect(card(page, "Compressor", "Hall D, Normal, score")).to_be_visible()


def test_a_machine_without_a_baseline_says_what_it_is_waiting_for(works, open_page):
    source = {"kind": "pushed"}
    works.post("v1/machines", json={"id": "press", "name": "Press", "source": source})
    page = open_page(works, "#/machine/press")
    head = page.get_by_role("main").get_by_text(re.compile("^Waiting for "))
    expect(head).to_contain_text("Waiting for the first sound.")
    expect(panel(page, "Trend")).to_contain_text("No scores in this time range.")
    spectrum = panel(page, "Spectrum against the baseline")
    expect(spectrum).to_contain_text("No sound at the moment.")
    with Sender(works, "press"):
        expect(head).to_contain_text("Waiting for a baseline to be learned.")
        expect(spectrum).to_contain_text("No normal band yet: learn a baseline first.")
    # By now its sound is old: the sender is minutes behind, and the service's clock runs ahead.
    expect(head).to_contain_text(re.compile(r"Last sound \d+ (min|h|d)"))
    expect(panel(page, "Source and operation")).to_contain_text("none yet")
    page.get_by_role("button", name="Learn a baseline…").click()
    baseline = panel(page, "Baseline")
    expect(baseline).to_be_focused()
    expect(baseline).to_contain_text("Learn a baseline first")
    baseline.get_by_label("Minutes").fill("4")
    expect(baseline).to_contain_text("too short for reliable thresholds")
    baseline.get_by_label("Minutes").fill("15")
    expect(baseline).not_to_contain_text("too short for reliable thresholds")
    page.goto(f"{works.address}#/overview")
    expect(card(page, "Press", "Waiting, Last sound")).to_be_visible()


def test_a_machine_that_was_added_is_removed_and_no_page_shows_it(works, open_page):
    source = {"kind": "pushed"}
    works.post("v1/machines", json={"id": "mixer", "name": "Mixer", "source": source})
    page, other = open_page(works, "#/machine/mixer"), open_page(works)
    # What its page had asked just before it was gone.
    page.watch.expect(r"404 .*/v1/machines/mixer/")
    expect(card(other, "Mixer")).to_be_visible()
    panel(page, "Remove this machine").get_by_role("button", name="Remove").click()
    question = panel(page, "Remove this machine")
    expect(question).to_contain_text("Its scores and events stay.")
    expect(question.get_by_role("button", name="Keep it")).to_be_focused()
    question.get_by_role("button", name="Remove Mixer").click()
    for shown in (page, other):
        expect(card(shown, "Roof fan")).to_be_visible()
        expect(card(shown, "Mixer")).to_have_count(0)
    page.goto(f"{works.address}#/machine/fan-1")
    expect(panel(page, "Baseline")).to_be_visible()
    expect(panel(page, "Remove this machine")).to_have_count(0)
