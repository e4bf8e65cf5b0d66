"""The page on the plant to try: first start, listening, and that everybody can use it."""

from __future__ import annotations

import io
import os
import re

import pytest
from monitor_service import IMAGES, SLOW, Service, card, in_page, panel, until
from playwright.sync_api import expect

pytestmark = pytest.mark.needs_browser

MACHINE = re.compile(", Hall [AB], ")  # in the name of every card


@pytest.fixture(scope="module")
def demo(command, tmp_path_factory):
    """The plant to try, on a clock that runs four times as fast."""
    with Service(command, tmp_path_factory.mktemp("demo"), "--demo", "--speed", 4) as service:
        yield service


def screenshot(page, name):
    """One of the README's, where they are asked for; 256 colours are enough and half the size."""
    if os.environ.get("SSDPT_SCREENSHOTS") == "1":
        from PIL import Image

        page.evaluate("scrollTo(0, 0)")
        with Image.open(io.BytesIO(page.screenshot())) as picture:
            path = IMAGES / f"{name}.png"
            picture = picture.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE)
            picture.save(path, optimize=True)
        assert path.stat().st_size < 250_000


def demo_alarm(demo):
    demo.wait_for_state("coolant-pump-1", "alarm")
    return until(lambda: next((e for e in demo.events("coolant-pump-1") if e["has_audio"]), 0), 60)


def test_first_start_shows_machines_that_learn_and_become_normal(demo, open_page):
    page = open_page(demo)
    expect(page).to_have_title(re.compile("Demo plant"))
    expect(card(page, "Coolant pump 2", "(Starting|Learning)")).to_be_visible()
    expect(page.get_by_role("link", name=MACHINE)).to_have_count(6)
    expect(card(page, "Coolant pump 2", "Normal, score")).to_be_visible(timeout=SLOW)
    expect(card(page, "Coolant pump 1", "Alarm, score")).to_be_visible(timeout=SLOW)
    expect(card(page, "Extraction fan", "Normal, score")).to_be_visible(timeout=SLOW)
    expect(card(page, "Door slide rail", "Off")).to_be_visible(timeout=SLOW)
    expect(card(page, "Inlet valve", "Normal, score")).to_be_visible(timeout=SLOW)
    expect(panel(page, "Events to acknowledge")).to_contain_text("Coolant pump 1")
    expect(page).to_have_title("(1) Demo plant")


def test_the_recording_of_an_event_plays_also_slowly(demo, open_page):
    event = demo_alarm(demo)
    page = open_page(demo)
    # The player keeps its audio element to itself; whoever plays is taken note of.
    page.add_init_script(
        "const play = HTMLMediaElement.prototype.play;"
        "HTMLMediaElement.prototype.play = function () { window.played = this;"
        " return play.call(this) }"
    )
    with page.expect_response(lambda reply: reply.url.endswith("/audio")) as loaded:
        page.goto(f"{demo.address}#/event/{event['id']}")
        page.reload()  # the script above takes hold
    assert loaded.value.headers["content-type"] == "audio/flac"
    sound = panel(page, "What was heard")
    expect(sound.get_by_role("img", name=re.compile("^Spectrogram of the event"))).to_be_visible()
    sound.get_by_text(re.compile(r"0\.0 / \d\d\.\d s")).wait_for()
    sound.get_by_role("button", name="Play: the event").click()
    in_page(page, "window.played?.currentTime > 0.3")
    assert page.evaluate("window.played.duration") > 19.5  # ten seconds before and after, at least
    sound.get_by_role("button", name="¼×").click()
    expect(sound.get_by_role("button", name="¼×")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("[window.played.playbackRate, window.played.preservesPitch]") == [
        0.25,
        True,
    ]
    before = page.evaluate("window.played.currentTime")
    in_page(page, f"window.played.currentTime > {before} + 0.1")
    screenshot(page, "monitor-event")
    sound.get_by_role("button", name="Stop: the event").click()
    in_page(page, "window.played.paused")
    normal = panel(page, "To compare: a normal sample")
    normal.get_by_role("button", name="Play: a normal sample").click()
    in_page(page, "!window.played.paused && window.played.duration < 15")


PAGES = ("overview", "machine/coolant-pump-1", "event", "events", "add", "models", "settings")


def pages_of(demo, page):
    """Every page, one after the other, once it shows what it has."""
    for path in PAGES:
        where = f"event/{demo_alarm(demo)['id']}" if path == "event" else path
        page.goto(f"{demo.address}#/{where}")
        expect(page.get_by_role("heading", level=1)).to_be_attached()
        expect(page.get_by_text("Loading")).to_have_count(0)
        yield path


def test_everything_that_can_be_used_has_a_name(demo, open_page):
    page = open_page(demo)
    tree = page.context.new_cdp_session(page)
    nameless = []
    for path in pages_of(demo, page):
        seen = 0
        for node in tree.send("Accessibility.getFullAXTree")["nodes"]:
            facts = {
                fact["name"]: fact["value"].get("value") for fact in node.get("properties", ())
            }
            role = node.get("role", {}).get("value")
            if node.get("ignored") or not facts.get("focusable") or role == "RootWebArea":
                continue
            seen += 1
            if not node.get("name", {}).get("value") and role != "main":
                nameless.append(f"{path}: {role} {node.get('backendDOMNodeId')}")
        assert seen > 5, path
    assert not nameless


def test_the_tab_key_reaches_everything_on_the_overview_in_order(demo, open_page):
    demo_alarm(demo)
    page = open_page(demo)
    expect(page.get_by_role("link", name=MACHINE)).to_have_count(6)
    expect(page.get_by_role("button", name="Acknowledge Coolant pump 1")).to_be_visible()
    page.evaluate(
        """() => {
          window.reached = []
          addEventListener('focusin', (event) => window.reached.push(event.target))
        }"""
    )
    usable = "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled)"
    count = page.locator("body").locator(usable).locator("visible=true").count()
    assert count > 15
    for _ in range(count):
        page.keyboard.press("Tab")
        style = page.evaluate(
            "(({outlineStyle, boxShadow}) => outlineStyle + boxShadow)"
            "(getComputedStyle(document.activeElement))"
        )
        assert style != "nonenone", page.evaluate("document.activeElement.outerHTML")
    missed = page.evaluate(
        """(usable) => [...document.querySelectorAll(usable)]
          .filter((each) => each.checkVisibility() && !window.reached.includes(each))
          .map((each) => each.outerHTML)""",
        usable,
    )
    assert not missed
    assert page.evaluate(
        """() => window.reached.slice(1).every((each, number) => window.reached[number]
          .compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING)"""
    )


def test_nothing_moves_for_those_who_want_it_still(demo, open_page):
    demo_alarm(demo)
    page = open_page(demo, reduced_motion="reduce")
    for path in pages_of(demo, page):
        moving = page.evaluate(
            """() => [...document.querySelectorAll('*')].filter((each) => {
              const {animationName, transitionDuration} = getComputedStyle(each)
              return animationName !== 'none' || !/^0s(, 0s)*$/.test(transitionDuration)
            }).map((each) => each.outerHTML.slice(0, 200))"""
        )
        assert not moving, path
        assert page.evaluate("document.getAnimations().length") == 0, path


def test_a_phone_shows_all_pages_without_scrolling_sideways(demo, open_page):
    page = open_page(demo, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    for path in pages_of(demo, page):
        wide = page.evaluate(
            """() => [...document.querySelectorAll('body *')]
              .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
              .map((each) => each.outerHTML.slice(0, 120)).slice(0, 3)"""
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, (path, wide)
    page.goto(f"{demo.address}#/overview")
    expect(card(page, "Coolant pump 1", "Alarm")).to_be_visible()
    screenshot(page, "monitor-phone")


def test_the_machine_in_alarm_comes_first(demo, open_page):
    demo_alarm(demo)
    page = open_page(demo)
    expect(page.get_by_role("link", name=MACHINE).first).to_have_accessible_name(
        re.compile(r"^Coolant pump 1, Hall A, Alarm, score [\d.]+, 1 open event$")
    )
    ago = re.compile(r"Last event [1-9]\d* (s|min) ago")
    expect(card(page, "Coolant pump 1")).to_contain_text(ago, timeout=20_000)
    page.get_by_role("button", name=re.compile("^Normal")).click()
    expect(card(page, "Coolant pump 1")).to_have_count(0)
    page.get_by_role("button", name=re.compile("^All")).click()
    expect(page.get_by_role("link", name=MACHINE)).to_have_count(6)
    screenshot(page, "monitor-overview")


def test_the_page_of_a_machine_tells_how_it_is_in_the_dark(demo, open_page):
    event = demo_alarm(demo)
    page = open_page(demo, "#/machine/coolant-pump-1", color_scheme="dark")
    expect(page.get_by_role("heading", name="Coolant pump 1", level=1)).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Live spectrogram"))).to_be_visible()
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", shade)[:3])) < 64
    listed = panel(page, "Events").get_by_role("row").filter(has_text="goes on")
    expect(listed.get_by_role("link")).to_have_attribute("href", f"#/event/{event['id']}")
    # The plant's clock is ahead of the computer's; the page follows it.
    expect(
        page.get_by_text(re.compile(r"clearly unlike .* For ([1-9]\d* s|\d+ min)"))
    ).to_be_visible()
    expect(panel(page, "Trend")).to_contain_text(re.compile(r"\d min.*: score"))
    screenshot(page, "monitor-machine")
