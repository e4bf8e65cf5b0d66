"""Everything without a mouse: a machine, questions and dialogs, settings, and a new machine.

What a key pressed away hands the focus on: to what opened it, or to the part in which it was.
"""

from __future__ import annotations

import pytest
from browser_pages import PHONE
from keyboard import assert_focus_is_seen, enter, tab_through, tab_to, use
from monitor_service import ConfiguredService, MockService, panel
from playwright.sync_api import expect

pytestmark = pytest.mark.needs_browser

PASSWORD, NEW_PASSWORD = "correct horse battery", "another long sentence"
NOT_SIGNED_IN = r"401 .*/v1/"
PAGES = {
    "overview": 20,
    "machine/pump-1": 45,
    "machine/press-hydraulics": 35,
    "event": 12,
    "events": 30,
    "report": 10,
    "models": 7,
    "settings": 25,
    "add": 15,
    "edit/mixer-1": 7,
}


@pytest.fixture(scope="module")
def plant():
    """Machines that show everything."""
    with MockService("--fault-after", "1") as service:
        yield service


@pytest.fixture
def works(command, tmp_path):
    """A service without users, which only this computer reaches."""
    machine = {"id": "fan", "name": "Fan", "source": {"kind": "pushed"}}
    with ConfiguredService(command, tmp_path, {"machines": [machine]}) as service:
        yield service


@pytest.fixture
def pump(plant, open_page):
    page = open_page(plant, "#/machine/pump-1")
    expect(panel(page, "Trend").get_by_role("figure").first).to_be_visible()
    return page


def expect_focus_in(part):
    """On it or in it, so that the next key goes on from there."""
    expect(part.locator(":focus").or_(part.and_(part.page.locator(":focus")))).to_have_count(1)


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize(("path", "least"), PAGES.items(), ids=PAGES)
def test_the_tab_key_goes_through_every_page(plant, open_page, path, least, phone):
    if path == "event":
        path = f"event/{plant.get('v1/events')[0]['id']}"
    page = open_page(plant, f"#/{path}", **(PHONE if phone else {}))
    expect(page.get_by_role("heading", level=1)).to_be_attached()
    expect(page.get_by_text("Loading")).to_have_count(0)
    assert tab_through(page) >= least


def test_thresholds_and_cursors_follow_arrows(pump):
    slider = panel(pump, "Thresholds").get_by_role("slider", name="Acceptable false alerts")
    tab_to(slider)
    before = slider.get_attribute("aria-valuetext")
    pump.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    use(panel(pump, "Thresholds").get_by_role("button", name="Cancel"))
    expect(slider).to_have_attribute("aria-valuetext", before)
    expect_focus_in(panel(pump, "Thresholds"))
    cursor = pump.get_by_role("slider", name="Cursor").first
    tab_to(cursor, "Shift+Tab")
    nowhere = cursor.get_attribute("aria-valuetext")
    pump.keyboard.press("ArrowUp")
    expect(cursor).not_to_have_attribute("aria-valuetext", nowhere)
    pump.keyboard.press("Tab")
    expect(cursor).not_to_be_focused()
    assert assert_focus_is_seen(pump)


def test_what_takes_the_place_of_a_button_is_near(pump):
    mute = panel(pump, "Mute")
    for name, other in (("For 1 h", "Unmute"), ("Unmute", "For 1 h")):
        use(mute.get_by_role("button", name=name))
        expect(mute.get_by_role("button", name=other)).to_be_visible()
        expect_focus_in(mute)


def test_a_button_that_worked_has_the_focus_again(plant, open_page):
    page = open_page(plant, "#/settings")
    send = panel(page, "Outputs").get_by_role("button", name="Send a test").first
    use(send)
    expect(panel(page, "Outputs").get_by_role("status").first).not_to_be_empty()
    expect(send).to_be_focused()


def test_a_question_is_left_by_escape(pump):
    baseline = panel(pump, "Baseline")
    learn = baseline.get_by_role("button", name="Learn a new baseline")
    for leave in ("Escape", "Enter"):
        use(learn)
        expect(baseline.get_by_role("button", name="Cancel")).to_be_focused()
        pump.keyboard.press(leave)
        expect(learn).to_be_focused()


def test_notes_are_added_changed_and_removed(pump):
    notes = panel(pump, "Trend").get_by_role("region", name="Notes")
    add = notes.get_by_role("button", name="Add a note")
    use(add)
    expect(notes.get_by_placeholder("What was done or seen")).to_be_focused()
    use(notes.get_by_role("button", name="Cancel"))
    expect(add).to_be_focused()
    pump.keyboard.press("Enter")
    pump.keyboard.type("belt changed")
    use(notes.get_by_role("button", name="Save"))
    expect(add).to_be_focused()
    edit = notes.get_by_role("button", name="Edit the note “belt changed”")
    tab_to(edit, "Shift+Tab")
    pump.keyboard.press("Enter")
    enter(notes.get_by_placeholder("What was done or seen"), "belt and pulley changed")
    use(notes.get_by_role("button", name="Save"))
    changed = "the note “belt and pulley changed”"
    expect(notes.get_by_role("button", name=f"Edit {changed}")).to_be_focused()
    remove = notes.get_by_role("button", name=f"Remove {changed}")
    use(remove)
    pump.keyboard.press("Escape")
    expect(remove).to_be_focused()
    pump.keyboard.press("Enter")
    tab_to(notes.get_by_role("group").get_by_role("button", name="Remove"), "Shift+Tab")
    pump.keyboard.press("Enter")
    expect(remove).to_have_count(0)
    expect_focus_in(notes)


def test_the_help_is_a_dialog_that_hands_the_focus_back(pump):
    where = pump.url
    button = pump.get_by_role("button", name="Help: keys and states")
    dialog = pump.get_by_role("dialog", name="Help")
    use(button)
    expect(dialog).to_be_visible()
    for _ in range(5):
        pump.keyboard.press("Tab")
        inside = "document.activeElement.closest('dialog, body').tagName"
        assert pump.evaluate(inside) in ("DIALOG", "BODY"), "the page below is reached"
        assert pump.evaluate("document.activeElement.matches('body, dialog *')")
    pump.keyboard.press("g")
    pump.keyboard.press("e")
    assert pump.url == where, "a key worked on the page below"
    pump.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    pump.keyboard.press("?")
    expect(dialog).to_be_visible()
    pump.keyboard.press("?")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()


def test_a_machine_is_added(works, open_page):
    page = open_page(works)
    use(page.get_by_role("link", name="Add a machine"))
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("Saw")
    tab_to(page.get_by_role("radio", name="Microphone"))
    simulated = page.get_by_role("radio", name="Simulated")
    for _ in range(8):
        if not simulated.is_checked():
            page.keyboard.press("ArrowDown")
    expect(simulated).to_be_checked()
    use(page.get_by_role("button", name="Next"))
    expect_focus_in(panel(page, "Check the sound"))
    use(page.get_by_role("button", name="Back"))
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    use(page.get_by_role("button", name="Next"))
    right = page.get_by_role("button", name="This is the right sound")
    expect(right).to_be_enabled()
    use(right)
    expect_focus_in(panel(page, "Learn a baseline"))
    use(page.get_by_role("button", name="Learn now"))
    expect(page.get_by_role("progressbar", name="Normal sound collected")).to_be_visible()
    expect_focus_in(panel(page, "Learn a baseline"))
    use(page.get_by_role("button", name="Continue"))
    expect_focus_in(panel(page, "The machine is monitored"))
    use(page.get_by_role("link", name="Show the machine"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Saw")
    expect(page.get_by_role("main")).to_be_focused()
    use(page.get_by_role("link", name="Change settings"))
    enter(page.get_by_label("Seconds until a fault develops"), "900")
    use(page.get_by_role("button", name="Save"))
    question = page.get_by_role("group", name="What becomes of the baseline?")
    expect(question.get_by_role("button", name="Do not save yet")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Save")).to_be_focused()


def test_accounts_are_managed(works, open_page):
    page = open_page(works, "#/settings")
    page.watch.expect(NOT_SIGNED_IN)
    dark = page.get_by_role("button", name="Dark")
    use(dark, "Space")
    expect(dark).to_have_attribute("aria-pressed", "true")
    users = panel(page, "Users")
    enter(users.get_by_label("Name"), "ann")
    enter(users.get_by_label("Password"), PASSWORD)
    page.keyboard.press("Enter")
    expect(users).to_contain_text("You are signed in as ann.")
    enter(users.get_by_label("Name"), "bob")
    enter(users.get_by_label("Password"), PASSWORD)
    use(users.get_by_role("button", name="Add user"))
    reset = users.get_by_role("button", name="Reset password of bob")
    expect(reset).to_be_visible()
    tab_to(reset, "Shift+Tab")
    for leave in ("Escape", "Enter"):
        page.keyboard.press("Enter")
        enter(users.get_by_label("New password of bob"), NEW_PASSWORD)
        page.keyboard.press(leave)
        expect(reset).to_be_focused()
    expect(users).to_contain_text("bob has a new password")
    use(users.get_by_role("button", name="Remove bob"))
    expect(users.get_by_role("button", name="Keep")).to_be_focused()
    tab_to(users.get_by_role("button", name="Remove bob"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(reset).to_have_count(0)
    expect_focus_in(users)
    tab_to(page.get_by_role("button", name="Sign out"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("ann")
    enter(page.get_by_label("Password"), PASSWORD)
    page.keyboard.press("Enter")
    expect(panel(page, "Account")).to_contain_text("ann, admin")
