"""Monitoring as people meet it, with PostgreSQL behind it and Mosquitto to tell."""

from __future__ import annotations

import json
import re

import pytest
from monitor_service import (
    SLOW,
    Broker,
    PlantOnFile,
    Sender,
    Subscriber,
    card,
    panel,
    postgres_schema,
    until,
)
from playwright.sync_api import expect

from ssdpt.monitor.store import Store

pytestmark = [
    pytest.mark.needs_browser,
    pytest.mark.needs_postgres,
    pytest.mark.needs_mosquitto,
]

SPEED = 8.0  # of the plant's clock
LIVE = {"seed": 7, "speed": SPEED}
# Chromium says each reply that is no success; these belong to their scenes.
NO_NORMAL_SAMPLE = r"404.*normal\.flac"
NO_PICTURE_YET = r"404.*/spectrogram"
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
    """Two machines that have learnt, with PostgreSQL behind them and a broker to tell."""
    machines = [
        {
            **{"id": id, "name": name, "site": "Hall C", "alarm": {"smoothing": 5.0}},
            # Faults that are plain to a model of a minute.
            "source": {"kind": "simulated", "machine": kind, "section": section, **LIVE},
        }
        for id, name, kind, section in (
            ("fan-1", "Roof fan", "fan", 0),
            ("gearbox-1", "Mill gearbox", "gearbox", 1),
        )
    ]
    plant = {
        **{"name": "Works", "zone": "Europe/Berlin", "speed": SPEED, "store": store_url},
        "machines": machines,
        "retention": {"post_roll": 24.0},  # time to open the page of an event before it is kept
        "outputs": [{"kind": "mqtt", "host": "127.0.0.1", "port": broker.port, "prefix": "works"}],
    }
    with PlantOnFile(command, tmp_path_factory.mktemp("works"), plant) as service:
        service.learn("fan-1", "gearbox-1")
        yield service


def focus_by_tab(page, target):
    """Reach something with the Tab key only."""
    for _ in range(80):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail("the Tab key does not reach it")


def test_a_fault_is_shown_announced_listed_and_published(works, broker, open_page):
    works.heal("fan-1")
    page = open_page(works)
    page.watch.expect(NO_PICTURE_YET)
    page.watch.expect(NO_NORMAL_SAMPLE)
    expect(card(page, "Roof fan", "Normal")).to_be_visible()
    known = {event["id"] for event in works.events("fan-1")}
    with Subscriber(broker.port, "works/#") as heard:
        works.break_down("fan-1")
        expect(card(page, "Roof fan", "Alarm")).to_be_visible(timeout=SLOW)
        expect(page.get_by_role("status")).to_contain_text("Alarm: Roof fan.")
        event = next(e for e in works.events("fan-1") if e["id"] not in known)
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Events").click()
        row = page.get_by_role("row").filter(has_text="Roof fan").first
        expect(row).to_contain_text("Alarm")
        expect(row).to_contain_text("Not acknowledged")
        row.get_by_role("link").first.click()
        # The recording is made some seconds later; it comes to a page that is open already.
        sound = panel(page, "What was heard")
        expect(sound.get_by_role("button", name="Play: the event")).to_be_visible()
        expect(sound.get_by_role("img", name=re.compile("^Spectrogram"))).to_be_visible()
        until(lambda: json.loads(heard.last("works/fan-1/state"))["state"] == "alarm")
        until(lambda: event["id"] in [e["id"] for e in heard.contents("works/fan-1/event")])


def test_an_event_is_acknowledged_by_keyboard(works, store_url, tmp_path, open_page):
    event = works.new_alarm_of("fan-1")
    page = open_page(works, f"#/event/{event['id']}")
    page.watch.expect(NO_NORMAL_SAMPLE)
    todo = panel(page, "What to do")
    focus_by_tab(page, todo.get_by_label("Comment"))
    page.keyboard.type("bearing is dry; greased")
    focus_by_tab(page, todo.get_by_role("button", name="Acknowledge"))
    page.keyboard.press("Enter")
    life = panel(page, "Life of the event")
    expect(life).to_contain_text("Acknowledged by local")
    page.reload()
    expect(life).to_contain_text("Acknowledged by local")
    expect(life).to_contain_text("bearing is dry; greased")
    expect(todo.get_by_role("button", name="Acknowledge")).to_have_count(0)
    with Store.open(store_url, tmp_path) as store:
        kept = store.event(event["id"])
    assert kept.acknowledged_by == "local"
    assert [comment.text for comment in kept.comments] == ["bearing is dry; greased"]


def test_the_key_a_acknowledges(works, open_page):
    event = works.new_alarm_of("fan-1")
    page = open_page(works, f"#/event/{event['id']}")
    page.watch.expect(NO_NORMAL_SAMPLE)
    expect(panel(page, "What to do").get_by_role("button", name="Acknowledge")).to_be_enabled()
    page.keyboard.press("a")
    expect(panel(page, "Life of the event")).to_contain_text("Acknowledged by local")


def test_a_page_that_is_loaded_again_during_an_event_shows_it(works, open_page):
    event = works.new_alarm_of("fan-1")
    page = open_page(works)
    page.watch.expect(NO_NORMAL_SAMPLE)
    expect(card(page, "Roof fan", "Alarm")).to_be_visible()
    page.reload()
    expect(card(page, "Roof fan", "Alarm, score .*, 1 event goes on")).to_be_visible()
    banner = panel(page, "Events to acknowledge")
    banner.get_by_role("link", name="Alarm: Roof fan").click()
    expect(page).to_have_url(re.compile(event["id"]))
    page.reload()
    expect(panel(page, "Life of the event")).to_contain_text("Still going on")


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
    expect(page.get_by_role("alert")).to_have_count(0, timeout=30_000)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(card(page, "Roof fan", "Alarm")).to_be_visible(timeout=SLOW)
    expect(acknowledge).to_have_count(0)
    newest = works.events("fan-1")[0]
    assert newest["id"] == event["id"], "the event that went on was ended, and begun anew"
    assert (newest["state"], newest["ended"]) == ("acknowledged", None)
    assert newest["acknowledged"]["who"] == "local"


def test_this_is_normal_teaches_the_machine(works, open_page):
    works.heal("gearbox-1")
    event = works.alarm_of("gearbox-1")
    page = open_page(works, f"#/event/{event['id']}")
    page.watch.expect(NO_NORMAL_SAMPLE)
    todo = panel(page, "What to do")
    button = todo.get_by_role("button", name="This is normal")
    button.click()
    expect(todo).to_contain_text("Mill gearbox takes this sound as normal from now on")
    todo.get_by_role("button", name="Cancel").click()
    expect(button).to_be_focused()
    assert works.get(f"v1/events/{event['id']}")["label"] == ""
    button.click()
    todo.get_by_role("button", name="It is normal: learn it").click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(todo).to_contain_text("Taken up: Mill gearbox learns this sound as normal.")
    until(lambda: any("as normal from now on" in w for w in works.get("v1/plant")["notes"]), 60)
    page.goto(f"{works.address}#/settings")
    page.reload()
    expect(panel(page, "About this plant")).to_contain_text(
        "Mill gearbox takes the sound of this event as normal from now on"
    )
    page.goto(f"{works.address}#/events?machine=gearbox-1")
    expect(page.get_by_role("row").nth(1)).to_contain_text("was normal")
    page.goto(f"{works.address}#/event/{event['id']}")
    todo.get_by_role("button", name="Confirmed fault").click()
    expect(todo).to_contain_text("learnt this sound as normal before, and that stays")


def test_all_that_is_listed_is_acknowledged_at_once(works, open_page):
    works.new_alarm_of("fan-1")
    page = open_page(works, "#/events?machine=fan-1")
    page.get_by_role("button", name="Acknowledge all").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("row").filter(has_text="Not acknowledged")).to_have_count(1)
    page.get_by_role("button", name="Acknowledge all").click()
    expect(page.get_by_text("Acknowledge 1 event of this list?")).to_be_visible()
    page.get_by_role("button", name="Acknowledge 1 event").click()
    expect(page.get_by_text("1 event acknowledged.")).to_be_focused()
    expect(page.get_by_role("row").filter(has_text="Not acknowledged")).to_have_count(0)
    expect(page.get_by_role("button", name="Acknowledge all")).to_have_count(0)
    assert all(e["state"] != "active" for e in works.events("fan-1"))


def test_a_plant_file_that_is_not_taken_is_told_until_it_is(works, open_page):
    page = open_page(works)
    expect(card(page, "Roof fan")).to_be_visible()
    good = works.path.read_text()
    works.path.write_text(good + "surprise: 1\n")
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("surprise", timeout=SLOW)
    works.path.write_text(good)
    expect(trouble).to_have_count(0, timeout=SLOW)


def test_a_machine_learns_a_new_baseline(works, open_page):
    works.heal("gearbox-1")
    page = open_page(works, "#/machine/gearbox-1")
    baseline = panel(page, "Baseline")
    baseline.get_by_label("Minutes").fill("1")
    baseline.get_by_role("button", name="Learn a new baseline").click()
    baseline.get_by_role("button", name="The machine runs normally: learn now").click()
    expect(baseline.get_by_role("progressbar", name="Normal sound heard")).to_be_visible()
    standing = page.get_by_role("main").get_by_text(re.compile(r"^(Its normal|Sounds as)"))
    expect(standing).to_contain_text("Its normal sound is being learnt.")
    expect(standing).to_contain_text("Sounds as it was learnt.", timeout=SLOW)


def test_the_slider_changes_the_limits(works, open_page):
    page = open_page(works, "#/machine/gearbox-1")
    limits = panel(page, "False alarms")
    slider = limits.get_by_role("slider", name="False alarms put up with")
    alert = limits.get_by_role("definition").first
    before = alert.inner_text()
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "1 in 10 weeks")
    expect(alert).not_to_have_text(before)
    rare = alert.inner_text()
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "3 a day")
    expect(alert).not_to_have_text(rare)
    limits.get_by_role("button", name="Use these limits").click()
    expect(limits.get_by_role("button", name="Use these limits")).to_have_count(0)
    kept = works.machine("gearbox-1")["thresholds"]
    assert kept["per_week"] == 21
    assert float(alert.inner_text()) == pytest.approx(kept["alert"], rel=0.01)
    assert kept["alert"] < float(rare)
    page.reload()
    expect(slider).to_have_attribute("aria-valuetext", "3 a day")
    works.put("v1/machines/gearbox-1/thresholds", json={"per_week": 1})


def test_a_machine_is_muted_and_heard_again(works, open_page):
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


def test_a_new_machine_whose_sound_is_sent_is_watched(works, open_page):
    page = open_page(works)
    page.get_by_role("link", name="Add a machine").click()
    page.get_by_label("Name", exact=True).fill("Compressor")
    page.get_by_label("Site").fill("Hall D")
    expect(page.get_by_label("Short name")).to_have_value("compressor")
    page.watch.expect(r"404.*machines/compressor")  # asked for while it is taken back
    page.get_by_role("radio", name="Simulated").check()
    page.get_by_label("Seconds until a fault grows").fill("90")
    page.get_by_role("button", name="Listen").click()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_label("Site")).to_have_value("Hall D")
    expect(page.get_by_label("Seconds until a fault grows")).to_have_value("90")
    assert "compressor" not in [each["id"] for each in works.get("v1/machines")]
    page.get_by_role("radio", name="Sent to here").check()
    page.get_by_role("button", name="Listen").click()
    good = page.get_by_role("button", name="It hears the right machine")
    expect(good).to_be_disabled()
    expect(page.get_by_text("does not arrive yet")).to_be_visible()
    expect(page.get_by_text("Knock near the microphone")).to_have_count(0)
    with Sender(works, "compressor"):
        expect(good).to_be_enabled()
        expect(page.get_by_role("img", name=re.compile("^Live spectrogram"))).to_be_visible()
        good.click()
        page.get_by_label("Minutes").fill("1")
        page.get_by_role("button", name="Learn now").click()
        progress = page.get_by_role("progressbar", name="Normal sound heard")
        expect(progress).to_be_visible()
        page.get_by_role("button", name="Watch it").click(timeout=SLOW)
        watched = panel(page, "It is watched from now on")
        expect(watched).to_contain_text("Normal", timeout=SLOW)
        watched.get_by_role("link", name="To the overview").click()
        expect(card(page, "Compressor", "Hall D, Normal, score")).to_be_visible()


def test_a_machine_that_has_learnt_nothing_says_what_it_waits_for(works, open_page):
    source = {"kind": "pushed"}
    works.post("v1/machines", json={"id": "press", "name": "Press", "source": source})
    page = open_page(works, "#/machine/press")
    head = page.get_by_role("main").get_by_text(re.compile("^Waits "))
    expect(head).to_contain_text("Waits for the first sound.")
    expect(panel(page, "Trend")).to_contain_text("No scores in this time.")
    spectrum = panel(page, "Spectrum against the baseline")
    expect(spectrum).to_contain_text("No sound just now.")
    with Sender(works, "press"):
        expect(head).to_contain_text("Waits to learn its normal sound.")
        expect(spectrum).to_contain_text("There is no normal band to compare with yet.")
    # By now its sound is old: the sender is minutes behind, and the plant's clock runs ahead.
    expect(head).to_contain_text(re.compile(r"Last sound \d+ (min|h|d)"), timeout=20_000)
    expect(panel(page, "Source and operation")).to_contain_text("nothing yet")
    page.get_by_role("button", name="To its baseline").click()
    baseline = panel(page, "Baseline")
    expect(baseline).to_be_focused()
    expect(baseline).to_contain_text("Learn its normal sound first")
    baseline.get_by_label("Minutes").fill("4")
    expect(baseline).to_contain_text("hardly worth anything")
    baseline.get_by_label("Minutes").fill("15")
    expect(baseline).not_to_contain_text("hardly worth anything")
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
    expect(question).to_contain_text("Its scores and its events stay.")
    expect(question.get_by_role("button", name="Keep it")).to_be_focused()
    question.get_by_role("button", name="Remove Mixer").click()
    for shown in (page, other):
        expect(card(shown, "Roof fan")).to_be_visible()
        expect(card(shown, "Mixer")).to_have_count(0)
    page.goto(f"{works.address}#/machine/fan-1")
    expect(panel(page, "Baseline")).to_be_visible()
    expect(panel(page, "Remove this machine")).to_have_count(0)
