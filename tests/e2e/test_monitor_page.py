"""The page of the demo: first start, recordings, accessibility."""

from __future__ import annotations

import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from browser_pages import SCREENSHOTS, Pages
from monitor_service import (
    SLOW,
    ConfiguredService,
    Fingers,
    Service,
    barriers,
    card,
    in_page,
    panel,
)
from playwright.sync_api import expect

pytestmark = pytest.mark.needs_browser

QUICK = 24.0  # speed of a clock
MACHINE = re.compile(", Hall [AB], ")  # in the name of every card


@pytest.fixture(scope="module")
def demo(command, tmp_path_factory, browser):
    """The demo, on a clock that runs four times as fast, and a page that saw it start."""
    folder = tmp_path_factory.mktemp("demo")
    with Service(command, folder, "--demo", "--speed", 4) as service, Pages(browser) as pages:
        service.first_page = pages.open(service)
        expect(card(service.first_page, "Coolant pump 2", "(Waiting|Learning)")).to_be_visible()
        yield service


@pytest.fixture
def harmless(command, tmp_path):
    """A pump that can be broken, on a fast clock: an alarm must last before it is accepted."""
    source = {"kind": "simulated", "machine": "pump", "seed": 7, "speed": QUICK}
    # A score that comes and goes around the threshold would begin the five minutes anew.
    alarm = {"smoothing": 5.0, "clear_after": 3600.0}
    machine = {"id": "pump-1", "name": "Pump", "alarm": alarm, "source": source}
    with ConfiguredService(command, tmp_path, {"speed": QUICK, "machines": [machine]}) as service:
        service.learn("pump-1")
        yield service


def screenshot(page, name):
    """One of the README's, where they are asked for; 256 colours are enough and half the size."""
    if SCREENSHOTS:
        from PIL import Image

        page.evaluate("scrollTo(0, 0)")
        with Image.open(io.BytesIO(page.screenshot())) as picture:
            path = Path(SCREENSHOTS) / f"{name}.png"
            picture = picture.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE)
            picture.save(path, optimize=True)
        assert path.stat().st_size < 250_000


def demo_alarm(demo):
    demo.wait_for_state("coolant-pump-1", "alarm")
    return demo.wait_until(
        lambda: next((e for e in demo.events("coolant-pump-1") if e["has_audio"]), 0)
    )


def test_first_start_shows_machines_that_learn_and_become_normal(demo):
    page = demo.first_page
    expect(page).to_have_title(re.compile("Demo plant"))
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
    sound = panel(page, "Recording")
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
    sound.get_by_role("button", name="Pause: the event").click()
    in_page(page, "window.played.paused")
    normal = panel(page, "Compare with a normal sample")
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_people_out(demo, open_page, scheme):
    page = open_page(demo, color_scheme=scheme)
    for path in pages_of(demo, page):
        assert barriers(page) == [], path
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    assert barriers(page) == []


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
        # On itself, or on what stretches it over its card.
        outlines = page.evaluate(
            "[null, '::after'].map((part) =>"
            " getComputedStyle(document.activeElement, part).outlineStyle)"
        )
        assert set(outlines) != {"none"}, page.evaluate("document.activeElement.outerHTML")
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


def _times(url):
    """Begin and end of a requested trend, in seconds; nothing for other addresses."""
    asked = parse_qs(urlsplit(url).query) if "/trend?" in url else {}
    return [float(asked[name][0]) for name in ("begin", "end") if name in asked]


def _span(url):
    times = _times(url)
    return times[1] - times[0] if times else 0


def test_fingers_zoom_and_move_the_trend(demo, open_page):
    demo.wait_until(lambda: demo.machine("coolant-pump-2")["thresholds"], "its baseline is learned")
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    page = open_page(demo, "#/machine/coolant-pump-2", **phone)

    def drag(begin, end):
        """Times that are requested when the fingers are lifted."""
        with page.expect_request(lambda request: 0 < _span(request.url) < 500) as asked:
            fingers.drag(begin, end)
        return _times(asked.value.url)

    trend = panel(page, "Trend")
    follow = trend.get_by_role("button", name="Follow live")
    charts = trend.locator(".u-over")
    expect(charts).to_have_count(2, timeout=SLOW)  # of the scores, and of the levels below it
    fingers = Fingers(page, charts.first)
    begin, end = drag([0.4, 0.6], [0.1, 0.9])
    assert end - begin == pytest.approx(600 / 4, rel=0.1)
    expect(follow).to_have_attribute("aria-pressed", "false")
    assert drag([0.2], [0.7]) == pytest.approx((begin - 75, end - 75), abs=10)
    fingers.tap_twice(0.5)
    expect(follow).to_have_attribute("aria-pressed", "true")
    expect(trend.get_by_role("button", name="10 min")).to_have_attribute("aria-pressed", "true")


def test_an_operating_point_is_given_a_name(demo, open_page):
    demo.wait_until(lambda: len(demo.machine("extraction-fan")["operating_points"]) == 2)
    page = open_page(demo, "#/machine/extraction-fan")
    points = panel(page, "Operating points")
    expect(points.get_by_role("row")).to_have_count(3)  # with the heads of the columns
    name = points.get_by_role("button", name="Add a name: Point 1")
    name.click()
    page.keyboard.type("fast")
    page.keyboard.press("Escape")
    expect(name).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("half load")
    page.keyboard.press("Enter")
    expect(points.get_by_role("button", name="Rename half load")).to_be_focused()
    assert demo.machine("extraction-fan")["operating_points"][0]["name"] == "half load"
    points.get_by_role("button", name="Add a name: Point 2").click()
    page.keyboard.type("full load")
    page.keyboard.press("Enter")
    # It goes over from one to the other now and then.
    load = "(half|full) load"
    expect(points).to_contain_text(re.compile(rf"Now running at {load}\."), timeout=SLOW)
    expect(points.get_by_role("row").filter(has_text="current")).to_have_count(1, timeout=SLOW)
    expect(panel(page, "Spectrum against the baseline")).to_contain_text(
        re.compile(rf"normal at {load}"), timeout=SLOW
    )


def test_the_machine_in_alarm_comes_first(demo, open_page):
    demo_alarm(demo)
    page = open_page(demo)
    expect(page.get_by_role("link", name=MACHINE).first).to_have_accessible_name(
        re.compile(r"^Coolant pump 1, Hall A, Alarm, score [\d.]+, 1 active event$")
    )
    ago = re.compile(r"Last event [1-9]\d* (s|min) ago")
    first = page.get_by_role("listitem").filter(has=card(page, "Coolant pump 1"))
    expect(first).to_contain_text(ago, timeout=20_000)
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
    listed = panel(page, "Events").get_by_role("row").filter(has_text=", active")
    expect(listed.get_by_role("link")).to_have_attribute("href", f"#/event/{event['id']}")
    # The service's clock is ahead of the computer's; the page follows it.
    expect(
        page.get_by_text(re.compile(r"Very unusual sound\. Alarm for ([1-9]\d* s|\d+ min)"))
    ).to_be_visible()
    expect(panel(page, "Trend")).to_contain_text(re.compile(r"\d min.*: mean score"))
    screenshot(page, "monitor-machine")


def test_an_active_alarm_that_is_harmless_is_accepted_as_normal(harmless, open_page):
    event = harmless.alarm_of("pump-1")

    page = open_page(harmless, "#/machine/pump-1")
    page.watch.expect(r"4\d\d .*/accept-drift")  # too early
    baseline = panel(page, "Baseline")
    accept = baseline.get_by_role("button", name="Accept the drift")
    accept.click()
    expect(baseline).to_contain_text("Is the change harmless?")
    baseline.get_by_role("button", name="Cancel").click()
    expect(accept).to_be_focused()

    def accepted():
        """Only after five minutes that were judged; a busy computer leaves out some of them."""
        accept.click()
        baseline.get_by_role("button", name="It is harmless: accept").click()
        expect(accept).to_be_visible()
        problems = baseline.get_by_role("alert").all_inner_texts()
        assert all("less than five minutes" in problem for problem in problems)
        return not problems

    harmless.wait_until(accepted, "the alarm has lasted long enough to be accepted", timeout=300)
    harmless.wait_until(lambda: harmless.get(f"v1/events/{event['id']}")["ended"], "it has ended")
