"""The health of outputs on the settings page, and test messages that arrive."""

from __future__ import annotations

import pytest
from browser_pages import PHONE, shot
from monitor_service import ConfiguredService, barriers, panel
from playwright.sync_api import expect

from free_ports import free_port
from receivers import MailSink, WebReceiver
from waiting import wait_until

pytestmark = pytest.mark.needs_browser

SILENT = {"kind": "pushed", "max_silence": 1}


@pytest.fixture(scope="module")
def people():
    with WebReceiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def mailbox():
    with MailSink() as sink:
        yield sink


@pytest.fixture(scope="module")
def plant(command, tmp_path_factory, people, mailbox):
    """A service with an output that works, one that nobody listens to, and mail."""
    address = people.url.removeprefix("http://")
    config = {
        "name": "Northside works",
        "machines": [{"id": "mixer", "name": "Mixer", "source": SILENT}],
        "outputs": [
            {"kind": "notify", "urls": [f"json://{address}/s3cr3t"]},
            {"kind": "webhook", "url": f"http://127.0.0.1:{free_port()}/s3cr3t"},
            {
                "kind": "notify",
                "urls": [f"mailto://127.0.0.1:{mailbox.port}/?from=a@example.org&to=b@example.org"],
            },
            {"kind": "heartbeat", "url": f"{people.url}/ping/s3cr3t", "every": 5},
        ],
    }
    with ConfiguredService(command, tmp_path_factory.mktemp("plant"), config) as service:
        yield service


def article(page, name):
    return panel(page, "Outputs").get_by_role("article", name=name)


def test_settings_show_every_output_and_a_test_arrives(plant, people, mailbox, open_page):
    page = open_page(plant, "#/settings")
    outputs = panel(page, "Outputs").get_by_role("article")
    expect(outputs).to_have_count(4)
    ok = article(page, f"notify JSON {people.url.removeprefix('http://')}")
    ok.get_by_role("button", name="Send a test").click()
    expect(ok.get_by_role("status")).to_have_text("Test sent: accepted")
    wait_until(lambda: any(b"Test: Northside works" in body for _, _, body, _ in people.posts))
    mail = article(page, f"notify E-Mail 127.0.0.1:{mailbox.port}")
    mail.get_by_role("button", name="Send a test").press("Enter")
    expect(mail.get_by_role("status")).to_have_text("Test sent: accepted")
    assert "Subject: Test: Northside works" in mailbox.mails[0][1]
    failing = outputs.nth(1)
    failing.get_by_role("button", name="Send a test").click()
    expect(failing.get_by_role("alert")).to_contain_text(
        "The test did not arrive: cannot be reached"
    )
    expect(article(page, f"heartbeat {people.url}")).to_contain_text("Working")
    expect(ok).to_contain_text("Nothing sent yet")  # a test is no message of the service
    assert "s3cr3t" not in page.content()
    shot(page, "outputs")
    assert barriers(page) == []


def test_an_output_that_fails_says_why_on_a_phone(plant, open_page):
    # The machine that sends nothing is an alert, which the webhook cannot deliver.
    plant.wait_until(lambda: not plant.get("v1/outputs")[1]["healthy"])
    page = open_page(plant, "#/settings", **PHONE)
    failing = panel(page, "Outputs").get_by_role("article").nth(1)
    expect(failing).to_contain_text("Not working: cannot be reached")
    expect(failing).to_contain_text("0 sent, 1 waiting")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shot(page, "outputs-phone")
    assert barriers(page) == []
    dark = open_page(plant, "#/settings", color_scheme="dark", **PHONE)
    expect(panel(dark, "Outputs").get_by_role("article")).to_have_count(4)
    shot(dark, "outputs-phone-dark")
    assert barriers(dark) == []
