"""Setting up and changing without a file: machines, accounts, backup."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest
from browser_pages import PHONE, shot
from monitor_service import ConfiguredService, Sender, barriers, panel
from playwright.sync_api import expect
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ssdpt.monitor.store import Store
from ssdpt.server.problems import NO_TRIAL

pytestmark = pytest.mark.needs_browser

PASSWORD, NEW_PASSWORD = "correct horse battery", "another long sentence"
# Chromium says each reply that is no success; these belong to the scenes.
NOT_SIGNED_IN, REFUSED = r"401 .*/v1/", r"40[39] .*/v1/"
# Presses a button if it is still there.
PRESS = """(text) =>
  [...document.querySelectorAll('button')].find((each) => each.textContent === text)?.click()"""


@pytest.fixture(scope="module")
def works(command, tmp_path_factory):
    """A machine of the file, which the page has defined as well, and two of the page."""
    folder = tmp_path_factory.mktemp("works")
    mixer = {"id": "mixer", "name": "Mixer", "source": {"kind": "pushed"}}
    mill = {"id": "mill", "group": "Day shift", "source": {"kind": "pushed"}}
    config = {"name": "Works", "machines": [mill]}
    with ConfiguredService(command, folder, config) as service:
        service.post("v1/machines", json=mixer)
        pump = {"kind": "simulated", "machine": "pump"}
        service.post("v1/machines", json={"id": "pump", "name": "Pump", "source": pump})
        service.config["machines"].append({**mixer, "name": "Mixer of the file"})
        service.write()
        service.wait_until(lambda: service.machine("mixer")["name"] == "Mixer of the file")
        yield service


@pytest.fixture(scope="module")
def fresh(command, tmp_path_factory):
    """A service without users, which only this computer reaches."""
    folder = tmp_path_factory.mktemp("fresh")
    machine = {"id": "fan", "name": "Fan", "source": {"kind": "pushed"}}
    with ConfiguredService(command, folder, {"machines": [machine]}) as service:
        service.data = folder / "data"
        yield service


def shots(service, open_page, path, name, ready, *, dark=False):
    """The same on a phone, or in the dark too: no barriers, nothing is scrolled sideways."""
    ways = {"phone": PHONE, "dark": {"color_scheme": "dark"}} if dark else {"phone": PHONE}
    for suffix, options in ways.items():
        page = open_page(service, path, **options)
        ready(page)
        assert barriers(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        shot(page, f"{name}-{suffix}")


def machine_ids(service):
    return [machine["id"] for machine in service.get("v1/machines")]


def test_a_machine_is_changed_with_a_level_meter_before_it_is_saved(works, open_page):
    page = open_page(works, "#/machine/pump")
    page.get_by_role("link", name="Change settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings of Pump")
    form = panel(page, "Machine")
    expect(form.get_by_label("Name", exact=True)).to_have_value("Pump")
    in_use = form.get_by_text("This is the source in use:")
    expect(in_use).to_be_visible()
    assert in_use.evaluate("text => parseFloat(getComputedStyle(text).columnGap)") > 4
    form.get_by_label("Name", exact=True).fill("Feed pump")
    form.get_by_label("Group").fill("Night shift")
    form.get_by_role("textbox", name="Simulated machine").fill("valve")
    form.get_by_label("Switched off below, in dBFS").fill("-62")
    assert barriers(page) == []
    form.get_by_role("button", name="Try this source").click()
    expect(form.get_by_role("meter", name="Level")).to_be_visible()
    expect(form.get_by_role("img", name=re.compile("^Live spectrogram"))).to_be_visible()
    shot(page, "edit")
    with page.expect_request(is_end_of_trial):
        form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Feed pump")
    works.wait_until(
        lambda: works.machine("pump")["source"]["message"].startswith("simulated valve")
    )
    kept = works.get("v1/machines/pump/settings")
    assert kept["settings"]["group"] == works.machine("pump")["group"] == "Night shift"
    assert kept["settings"]["alarm"]["off_below_dbfs"] == -62
    assert machine_ids(works).count("pump") == 1
    shots(
        *(works, open_page, "#/edit/pump", "edit"),
        lambda page: expect(page.get_by_label("Group")).to_have_value("Night shift"),
        dark=True,
    )


def is_end_of_trial(request):
    return request.method == "DELETE" and "/v1/trials/" in request.url


def test_another_source_asks_what_becomes_of_the_baseline(works, open_page):
    source = {"kind": "simulated", "machine": "fan", "speed": 1}
    works.post("v1/machines", json={"id": "fan-9", "name": "Fan 9", "source": source})
    works.wait_for_state("fan-9", "starting")
    works.post("v1/machines/fan-9/learn", json={"minutes": 5})
    page = open_page(works, "#/edit/fan-9")
    form = panel(page, "Machine")
    form.get_by_label("Seconds until a fault develops").fill("900")
    form.get_by_role("button", name="Save").click()
    question = form.get_by_role("group", name="What becomes of the baseline?")
    expect(question).to_contain_text("If it is the same sensor at the same place")
    assert works.machine("fan-9")["learning"] is not None
    assert barriers(page) == []
    shot(page, "edit-baseline")
    question.get_by_role("button", name="Another sound: save, and learn a new baseline").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Fan 9")
    assert works.machine("fan-9")["learning"] is None
    assert works.get("v1/machines/fan-9/settings")["settings"]["source"]["fault_after"] == 900


def test_a_machine_of_the_file_is_read_only_and_the_ignored_definition_goes(works, open_page):
    page = open_page(works, "#/edit/mill")
    expect(page.get_by_role("note")).to_contain_text(
        "This machine is defined in monitor.yaml; change it there."
    )
    form = panel(page, "Machine")
    expect(form.get_by_label("Name", exact=True)).to_be_disabled()
    expect(form.get_by_role("button", name="Save")).to_have_count(0)
    # An example in an empty field would read as what was entered.
    example = "getComputedStyle(field, '::placeholder').color"
    site = form.get_by_label("Site")
    assert site.evaluate(f"field => {example}") == "rgba(0, 0, 0, 0)"
    page.goto(f"{works.address}#/edit/mixer")
    note = page.get_by_role("note")
    expect(note).to_contain_text("The configuration file’s definition is used")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Mixer of the file")
    assert barriers(page) == []
    shot(page, "edit-both")
    note.get_by_role("button", name="Remove the one made on the page").click()
    note.get_by_role("button", name="Remove the one made on the page").click()
    expect(note).not_to_contain_text("The configuration file’s definition is used")
    assert works.get("v1/machines/mixer/settings")["also_on_page"] is False
    shots(
        *(works, open_page, "#/edit/mill", "edit-file"),
        lambda page: expect(page.get_by_role("note")).to_be_visible(),
    )


def is_heard(service, trial):
    """Whether a source on trial is open; unlike a request, listening does not prolong it."""
    address = urlsplit(service.address)
    with (
        connect(f"ws://{address.netloc}/v1/trials/{trial}/listen") as socket,
        suppress(ConnectionClosed),
    ):
        return len(socket.recv()) > 0
    assert socket.close_reason == NO_TRIAL
    return False


@pytest.mark.parametrize("way", ["leave", "close"])
def test_leaving_the_wizard_leaves_nothing_behind(works, open_page, way):
    before = machine_ids(works)
    page = open_page(works, "#/add")
    page.get_by_label("Name", exact=True).fill("Trial saw")
    page.get_by_role("radio", name="Simulated").check()
    with page.expect_response(lambda reply: reply.url.endswith("/v1/trials")) as opened:
        page.get_by_role("button", name="Next").click()
    trial = opened.value.json()["id"]
    expect(page.get_by_role("button", name="This is the right sound")).to_be_enabled()
    expect(page.get_by_role("meter", name="Level")).to_be_visible()
    assert is_heard(works, trial)
    if way == "leave":
        shot(page, "wizard-check")
        with page.expect_request(is_end_of_trial):
            page.get_by_role("link", name="Overview").click()
    page.close()  # the service ends a trial that nobody looks at
    works.wait_until(lambda: not is_heard(works, trial), "the source on trial is closed")
    assert machine_ids(works) == before
    assert "trial-saw" not in (works.path.parent / "data" / "machines.json").read_text()


def test_a_trial_that_the_service_has_closed_is_opened_again(works, open_page):
    """As after a line that was slow for ten seconds: nobody is sent back to the first step."""
    page = open_page(works, "#/add")
    page.watch.expect(r"404 .*/v1/trials/")
    page.get_by_label("Name", exact=True).fill("Trial mill")
    page.get_by_role("radio", name="Simulated").check()
    with page.expect_response(lambda reply: reply.url.endswith("/v1/trials")) as opened:
        page.get_by_role("button", name="Next").click()
    with page.expect_response(lambda reply: reply.url.endswith("/v1/trials")) as again:
        httpx.delete(f"{works.address}v1/trials/{opened.value.json()['id']}").raise_for_status()
    assert again.value.json()["id"] != opened.value.json()["id"]
    expect(page.get_by_role("meter", name="Level")).to_be_visible()
    expect(page.get_by_role("button", name="This is the right sound")).to_be_enabled()
    expect(page.get_by_role("alert")).to_be_hidden()


def test_the_wizard_adds_the_machine_whose_sound_is_right(works, open_page):
    page = open_page(works, "#/add")
    # A name without Latin letters gives no id: the browser shows which field is missing.
    page.get_by_label("Name", exact=True).fill("丸鋸")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_label("Id, for addresses and messages")).to_be_focused()
    # Groups of other machines can be chosen: one that is mistyped may be told to nobody.
    known = page.locator("#known-groups option").first
    expect(known).to_have_attribute("value", "Day shift")
    page.get_by_label("Name", exact=True).fill("Mixer of the file")
    page.get_by_label("Id, for addresses and messages").fill("mixer")
    expect(page.get_by_role("alert")).to_contain_text("already a machine with the id mixer")
    page.get_by_label("Name", exact=True).fill("Line saw")
    page.get_by_label("Id, for addresses and messages").fill("line-saw")
    assert barriers(page) == []
    shot(page, "wizard")
    page.get_by_role("radio", name="Pushed by HTTP").check()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("not arriving yet")).to_be_visible()
    address = f"{works.address}v1/machines/line-saw/audio"
    example = page.get_by_text(f"--data-binary @recording.wav {address}")
    expect(example).to_be_visible()
    shot(page, "wizard-push")
    assert barriers(page) == []
    with Sender(works, "line-saw"):
        expect(example).to_be_hidden()  # sound arrives
        page.get_by_role("button", name="This is the right sound").click()
        expect(panel(page, "Learn a baseline")).to_be_visible()
    assert "line-saw" in machine_ids(works)
    shots(
        *(works, open_page, "#/add", "wizard"),
        lambda page: expect(page.get_by_label("Microphone of the service")).to_be_visible(),
    )


def sign_in(page, name, password):
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_accounts_from_the_first_admin_to_a_reset_and_a_backup(command, fresh, open_page, tmp_path):
    page = open_page(fresh, "#/settings")
    other = open_page(fresh, "#/settings")  # another tab, which has no account then
    for each in (page, other):
        each.watch.expect(NOT_SIGNED_IN)
        each.watch.expect(REFUSED)
    panel(other, "Users").get_by_label("Name").fill("mallory")
    panel(other, "Users").get_by_label("Password").fill(PASSWORD)
    users = panel(page, "Users")
    expect(users).to_contain_text("Create an admin first")
    expect(users).to_contain_text("At least 8 characters.")
    users.get_by_label("Name").fill("ann")
    users.get_by_label("Password").fill("short")
    shot(page, "first-admin")
    users.get_by_role("button", name="Create the admin").click()
    expect(users.get_by_role("alert")).to_contain_text("Password too short (5 of at least 8")
    users.get_by_label("Password").fill(PASSWORD)
    users.get_by_role("button", name="Create the admin").click()
    expect(users).to_contain_text("You are signed in as ann.")
    expect(panel(page, "Account")).to_contain_text("ann, admin")
    assert barriers(page) == []
    # The other tab comes to the sign-in page, not to a broken one: by itself or when it is used.
    other.evaluate(PRESS, "Create the admin")
    expect(other.get_by_role("button", name="Sign in")).to_be_visible()

    users.get_by_label("Name").fill("bob")
    users.get_by_label("Password").fill(PASSWORD)
    users.get_by_role("combobox", name="Role", exact=True).select_option("viewer")
    users.get_by_role("button", name="Add user").click()
    users.get_by_label("Role of bob").select_option("operator")
    sign_in(other, "bob", PASSWORD)
    expect(panel(other, "Account")).to_contain_text("bob, operator")
    expect(panel(other, "Backup")).to_have_count(0)

    users.get_by_role("button", name="Reset password of bob").click()
    users.get_by_label("New password of bob").fill(NEW_PASSWORD)
    shot(page, "users")
    assert barriers(page) == []
    users.get_by_role("button", name="Set the password").click()
    expect(users).to_contain_text("bob has a new password and must sign in again everywhere.")
    other.reload()
    sign_in(other, "bob", PASSWORD)
    expect(other.get_by_role("alert")).to_contain_text("the name or the password is wrong")
    sign_in(other, "bob", NEW_PASSWORD)
    expect(panel(other, "Account")).to_contain_text("bob, operator")

    own = panel(page, "Change password")
    own.get_by_label("Old password").fill("wrong horse")
    own.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    own.get_by_label("New password again").fill(NEW_PASSWORD)
    own.get_by_role("button", name="Change password").click()
    expect(own.get_by_role("alert")).to_contain_text("the old password is wrong")
    own.get_by_label("Old password").fill(PASSWORD)
    own.get_by_role("button", name="Change password").click()
    expect(own).to_contain_text("Your password is changed.")
    page.reload()  # still signed in, with the new session
    expect(panel(page, "Account")).to_contain_text("ann, admin")

    backup = panel(page, "Backup")
    expect(backup).to_contain_text(re.compile(r"Now at most about [\d.]+ [kM]B"))
    expect(backup).to_contain_text("ssdpt history restore")
    with page.expect_download() as download:
        backup.get_by_role("link", name="Download a backup").click()
    assert re.fullmatch(r"ssdpt-\d{4}-\d\d-\d\d-\d{4}\.tar", download.value.suggested_filename)
    download.value.save_as(tmp_path / "backup.tar")
    shot(page, "settings")
    restored = tmp_path / "restored"
    subprocess.run(
        [command, "history", "restore", tmp_path / "backup.tar", "--data", restored],
        check=True,
        capture_output=True,
    )
    with Store.open(f"sqlite:///{restored}/ssdpt.db", restored) as store:
        assert {user.name: user.role for user in store.users()} == {
            "ann": "admin",
            "bob": "operator",
        }
        assert store.check_password("ann", NEW_PASSWORD)
    assert not list(fresh.data.glob("*.tar"))
    assert httpx.get(f"{fresh.address}v1/backup").status_code == 401
    users.get_by_role("button", name="Remove bob").click()
    users.get_by_role("button", name="Remove bob").click()
    expect(users.get_by_label("Role of bob")).to_have_count(0)
    # A stolen session is of no use any more.
    other.reload()
    expect(other.get_by_role("button", name="Sign in")).to_be_visible()

    def signed_in(page):
        page.watch.expect(NOT_SIGNED_IN)
        sign_in(page, "ann", NEW_PASSWORD)
        expect(panel(page, "Backup")).to_contain_text("Now at most")

    shots(fresh, open_page, "#/settings", "settings", signed_in, dark=True)
