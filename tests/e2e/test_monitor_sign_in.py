"""Signing in, once other computers can reach the service."""

from __future__ import annotations

import pytest
from monitor_service import Service, barriers, card, panel
from playwright.sync_api import expect

from ssdpt.monitor.messages import Event
from ssdpt.monitor.store import Store

pytestmark = pytest.mark.needs_browser

PASSWORD = "correct horse battery"
# Of long ago: one to look at, and one to acknowledge.
SEEN, SEEN_MESSAGE = "0" * 32, "Mixer: unusual sound"
DONE, DONE_MESSAGE = "1" * 32, "Mixer: another sound"
# Chromium says each reply that is no success; these belong to the scenes.
NOT_SIGNED_IN, NO_SOUND_KEPT = r"401 .*/v1/", r"404 .*(normal\.flac|/spectrogram)"


@pytest.fixture(scope="module")
def guarded(command, tmp_path_factory):
    """A service that others can reach, a viewer, an operator and events of long ago."""
    folder = tmp_path_factory.mktemp("guarded")
    data = folder / "data"
    with Store.open(f"sqlite:///{data}/ssdpt.db", data) as store:
        for name, role in (("vera", "viewer"), ("olga", "operator")):
            store.add_user(name, role, PASSWORD)
        for id, message in ((SEEN, SEEN_MESSAGE), (DONE, DONE_MESSAGE)):
            event = Event(
                id=id,
                machine="mixer",
                kind="anomaly",
                level="alarm",
                began=1.7e9,
                ended=1.7e9 + 60,
                message=message,
            )
            store.save_event(event)
    config = folder / "monitor.yaml"
    config.write_text("machines: [{id: mixer, name: Mixer, source: {kind: pushed}}]\n")
    with Service(command, folder, "--config", config, "--host", "0.0.0.0") as service:
        yield service


def to_acknowledge(page, message):
    """An event in the list of those to acknowledge; the machine that sends nothing has another."""
    return panel(page, "Events to acknowledge").get_by_role("listitem").filter(has_text=message)


def sign_in(page, name, password):
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_only_a_right_password_lets_in_and_a_viewer_only_looks(guarded, open_page):
    page = open_page(guarded)
    page.watch.expect(NOT_SIGNED_IN)
    page.watch.expect(NO_SOUND_KEPT)
    sign_in(page, "vera", "wrong horse")
    expect(page.get_by_role("alert")).to_contain_text("the name or the password is wrong")
    expect(card(page, "Mixer")).to_have_count(0)
    sign_in(page, "vera", PASSWORD)
    expect(card(page, "Mixer")).to_be_visible()
    expect(to_acknowledge(page, SEEN_MESSAGE)).to_be_visible()
    expect(page.get_by_role("button", name="Acknowledge")).to_have_count(0)
    expect(page.get_by_role("link", name="Add a machine")).to_have_count(0)
    to_acknowledge(page, SEEN_MESSAGE).get_by_role("link").click()
    todo = panel(page, "Actions")
    expect(todo).to_contain_text("To acknowledge, comment and label you need the role operator.")
    expect(todo.get_by_role("button")).to_have_count(0)
    expect(todo.get_by_role("textbox")).to_have_count(0)
    page.keyboard.press("a")
    page.reload()
    expect(panel(page, "Timeline")).to_contain_text("Waiting for acknowledgement")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Help")
    expect(keys).to_contain_text("play and pause")
    expect(keys).not_to_contain_text("acknowledge")
    page.keyboard.press("Escape")
    page.goto(f"{guarded.address}#/machine/mixer")
    for title, sentence in (
        ("Mute", "To mute you need the role operator."),
        ("Baseline", "To change the baseline you need the role admin."),
    ):
        expect(panel(page, title)).to_contain_text(sentence)
        expect(panel(page, title).get_by_role("button")).to_have_count(0)
        expect(panel(page, title).get_by_role("spinbutton")).to_have_count(0)
    page.goto(f"{guarded.address}#/settings")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_signing_in_keeps_nobody_out(guarded, open_page, scheme):
    page = open_page(guarded, color_scheme=scheme)
    page.watch.expect(NOT_SIGNED_IN)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert barriers(page) == []
    sign_in(page, "nobody", "wrong horse")
    expect(page.get_by_role("alert")).to_be_visible()
    assert barriers(page) == []


def test_an_operator_acknowledges_with_a_login(guarded, open_page):
    page = open_page(guarded)
    page.watch.expect(NOT_SIGNED_IN)
    page.watch.expect(NO_SOUND_KEPT)
    sign_in(page, "olga", PASSWORD)
    to_acknowledge(page, DONE_MESSAGE).get_by_role("button", name="Acknowledge Mixer").click()
    expect(to_acknowledge(page, DONE_MESSAGE)).to_have_count(0)
    page.goto(f"{guarded.address}#/event/{DONE}")
    expect(panel(page, "Timeline")).to_contain_text("Acknowledged by olga")
