"""Diagnosis in a browser: a bearing with a damaged outer race, beside one of the same type.

The sound is made by formula, so that its lines are known: a shaft at 2100 rpm and a bearing whose
outer race is passed 107.9 times a second.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from browser_pages import PHONE, shot
from monitor_service import ConfiguredService, barriers, panel
from playwright.sync_api import expect

from sounds import write_clip

pytestmark = pytest.mark.needs_browser

SPEED = 8.0  # of the service's clock
RATE = 16000
SECONDS = 40.0  # of a recording, which is played again and again
RPM, BPFO = 2100.0, 107.907
RINGING = 2900.0  # Hz
NO_PICTURE_YET = r"404.*/spectrogram"


def running(seed, knocks=0.0):
    """(samples,): shaft, its harmonics and air; knocks of the outer race in a resonance."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(SECONDS * RATE)) / RATE
    shaft = sum(np.sin(2 * np.pi * RPM / 60 * k * time + rng.uniform(0, 6)) / k for k in (1, 2, 3))
    wave = 0.01 * shaft + 0.01 * rng.standard_normal(len(time))
    ringing = np.exp(-np.arange(320) / 48) * np.sin(2 * np.pi * RINGING / RATE * np.arange(320))
    for moment in np.arange(0, SECONDS - 0.1, 1 / BPFO):
        first = round(moment * RATE)
        wave[first : first + 320] += knocks * rng.uniform(0.8, 1.2) * ringing
    return wave.astype(np.float32)


class Works(ConfiguredService):
    """Two pumps that play recordings; the first can be damaged."""

    def damage(self, folder):
        self.config["machines"][0]["source"]["path"] = str(folder / "damaged.wav")
        self.write()


@pytest.fixture(scope="module")
def works(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pumps")
    write_clip(folder / "healthy.wav", running(0))
    write_clip(folder / "sibling.wav", running(1))
    write_clip(folder / "damaged.wav", running(2, knocks=0.2))
    machines = [
        {
            **{"id": id, "name": name, "type": "pump"},
            "alarm": {"smoothing": 5.0},
            "source": {"kind": "replay", "path": str(folder / file), "loop": True, "speed": SPEED},
            "machine_data": {
                "speed_rpm": RPM,
                "bearings": [{"label": "drive end", "name": "UER204"}],
                "blades": 6,
            },
        }
        for id, name, file in (
            ("pump-1", "Feed pump 1", "healthy.wav"),
            ("pump-2", "Feed pump 2", "sibling.wav"),
        )
    ]
    config = {"name": "Works", "speed": SPEED, "machines": machines}
    with Works(command, tmp_path_factory.mktemp("works"), config) as service:
        service.learn("pump-1")
        service.damage(folder)
        yield service


@pytest.fixture(scope="module")
def event(works):
    """The event of the damaged bearing, with its recording."""
    return works.wait_until(
        lambda: next((e for e in works.events("pump-1") if e["has_audio"]), None)
    )


def readout(page, chart):
    return page.locator(f"[data-readout={chart}]")


def hertz(text):
    return float(re.match(r"([\d.,]+) Hz", text)[1].replace(",", ""))


def place_on(page, slider, hz):
    """Click where a frequency lies in a chart."""
    plot = slider.locator(".u-over")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    highest = float(slider.get_attribute("aria-valuemax"))
    page.mouse.click(box["x"] + hz / highest * box["width"], box["y"] + box["height"] / 2)


def test_the_event_names_the_line(works, event, open_page):
    assert event["speed_rpm"] == RPM
    assert "on the line of the outer race of bearing drive end (BPFO, 108 Hz" in event["message"]
    lines = {
        line["kind"]: line["hz"] for line in works.get(f"v1/events/{event['id']}/lines")["lines"]
    }
    assert lines["bpfo"] == pytest.approx(BPFO, abs=0.01)
    page = open_page(works, f"#/event/{event['id']}")
    page.watch.expect(NO_PICTURE_YET)
    expect(panel(page, "What has changed")).to_contain_text(
        "on the line of the outer race of bearing drive end (BPFO, 108 Hz"
    )
    diagnosis = panel(page, "Diagnosis")
    expect(diagnosis).to_contain_text("Shaft at 2100 rpm during the event.")
    slider = diagnosis.get_by_role("slider", name="Cursor in the envelope spectrum")
    place_on(page, slider, BPFO)
    expect(readout(page, "envelope")).to_contain_text("BPFO drive end")
    assert hertz(readout(page, "envelope").inner_text()) == pytest.approx(BPFO, abs=0.3)
    assert barriers(page) == []
    shot(page, "diagnosis-event")
    page.emulate_media(color_scheme="dark")
    assert barriers(page) == []
    shot(page, "diagnosis-event-dark")


def test_cursor_by_mouse_and_keyboard_with_harmonics(works, event, open_page):
    page = open_page(works, f"#/event/{event['id']}")
    page.watch.expect(NO_PICTURE_YET)
    diagnosis = panel(page, "Diagnosis")
    slider = diagnosis.get_by_role("slider", name="Cursor in the spectrum")
    place_on(page, slider, 3 * RPM / 60)
    text = readout(page, "spectrum")
    expect(text).to_contain_text("3 × shaft")
    expect(text).to_contain_text("3 × shaft speed")
    before = hertz(text.inner_text())
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(text).not_to_contain_text(f"{before:g} Hz")
    assert hertz(text.inner_text()) == pytest.approx(before + 0.5)
    page.keyboard.press("Home")
    page.keyboard.press("PageUp")  # to the first peak: the shaft
    expect(slider).to_have_attribute("aria-valuenow", "35")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^35 Hz, .*dB.*shaft"))
    picture = panel(page, "Recording").get_by_role("slider", name="Cursor in the spectrogram")
    picture.focus()
    page.keyboard.press("ArrowUp")
    expect(picture).to_have_attribute("aria-valuetext", re.compile(r"\d\d:\d\d:\d\d, .*Hz, .*dB"))


def test_the_live_sound_beside_a_sibling(works, event, open_page):
    page = open_page(works, "#/machine/pump-1")
    diagnosis = panel(page, "Diagnosis")
    expect(diagnosis).to_contain_text("Shaft at 2100 rpm, from its machine data.")
    diagnosis.get_by_role("button", name="Hold").click()
    with page.expect_response(lambda reply: "machines/pump-2/analysis" in reply.url):
        diagnosis.get_by_label("Compare with").select_option(label="Feed pump 2")
    place_on(page, diagnosis.get_by_role("slider", name="Cursor in the envelope spectrum"), BPFO)
    text = readout(page, "envelope")
    expect(text).to_contain_text(re.compile("Feed pump 2 -?[0-9]+ dB"))
    own, normal, other = (int(db) for db in re.findall(r"([-−]?\d+) dB", text.inner_text()))
    assert own > max(normal, other) + 10  # only the damaged one knocks
    diagnosis.get_by_text("Calculated frequencies").click()
    row = diagnosis.get_by_role("row").filter(has_text="BPFI drive end")
    expect(row).to_contain_text("172.1")
    assert barriers(page) == []
    shot(page, "diagnosis-sibling")


def test_level_and_bands_are_beside_the_score(works, event, open_page):
    page = open_page(works, "#/machine/pump-1")
    trend = panel(page, "Trend")
    trend.get_by_label("Band").select_option(label="Whole sound")
    expect(trend).to_contain_text(re.compile(r"Whole sound: now -?\d+ dBFS\."))
    bands = [(band["low_hz"], band["high_hz"]) for band in works.machine("pump-1")["bands"]]
    (knocking,) = (index for index, (low, high) in enumerate(bands) if low <= RINGING < high)
    (quiet,) = (index for index, (low, high) in enumerate(bands) if low <= RPM / 60 < high)
    trend.get_by_label("Band").select_option(str(knocking))
    expect(trend).to_contain_text(re.compile(r"Hz: now [1-9]\d* dB above usual, alarm\."))
    trend.get_by_label("Band").select_option(str(quiet))
    expect(trend).to_contain_text(re.compile(r"Hz: now (as usual|\d dB (above|below) usual)\."))
    shot(page, "diagnosis-bands")


def test_a_phone_has_the_whole_diagnosis_and_no_sideways_scrolling(works, event, open_page):
    page = open_page(works, f"#/event/{event['id']}", **PHONE)
    page.watch.expect(NO_PICTURE_YET)
    diagnosis = panel(page, "Diagnosis")
    slider = diagnosis.get_by_role("slider", name="Cursor in the envelope spectrum")
    plot = slider.locator(".u-over")
    plot.scroll_into_view_if_needed()
    plot.tap()
    expect(readout(page, "envelope")).to_contain_text(" dB")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert barriers(page) == []
    shot(page, "diagnosis-phone")


def test_a_bearing_that_is_not_in_the_catalogue_changes_nothing(works):
    data = works.config["machines"][1]["machine_data"]
    data["bearings"][0]["name"] = "UER-240"
    works.write()
    problem = works.wait_until(lambda: works.get("v1/status")["problems"])
    data["bearings"][0]["name"] = "UER204"
    works.write()
    assert "machine pump-2: its machine data cannot be used: bearing 'UER-240'" in problem[0]
    assert "the nearest names are UER204" in problem[0]
    works.wait_until(lambda: not works.get("v1/status")["problems"])
