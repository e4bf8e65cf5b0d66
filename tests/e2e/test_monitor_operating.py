"""The page of a machine whose control system speaks, and the notice after an upgrade."""

from __future__ import annotations

import json
import lzma
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from browser_pages import shot
from monitor_service import ConfiguredService, barriers, card, in_page, panel
from playwright.sync_api import expect

from receivers import Broker, Subscriber

pytestmark = [pytest.mark.needs_browser, pytest.mark.needs_mosquitto]

PHONE = {"width": 390, "height": 844}
STORE_0003 = Path(__file__).parents[1] / "monitor" / "store" / "store_0003.db.xz"


@pytest.fixture(scope="module")
def plant(command, tmp_path_factory):
    """A service over a store of the release before, and a broker; machines that are on and loud."""
    folder = tmp_path_factory.mktemp("operating")
    (folder / "data").mkdir()
    store = folder / "data" / "ssdpt.db"
    store.write_bytes(lzma.decompress(STORE_0003.read_bytes()))
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DELETE FROM users")  # so that nobody has to sign in
    with Broker(folder) as broker:
        drive = {"topic": "plant/pump/drive"}
        config = {
            "name": "Works",
            "zone": "Europe/Berlin",
            "machines": [
                {
                    "id": "pump",
                    "name": "Pump",
                    "source": {"kind": "simulated", "machine": "pump"},
                    "operating_data": {
                        "kind": "mqtt",
                        "host": "127.0.0.1",
                        "port": broker.port,
                        "max_age": 4,
                        "running": {**drive, "pointer": "/run"},
                        "speed_rpm": {**drive, "pointer": "/hz", "scale": 60},
                        "load_percent": {**drive, "pointer": "/load"},
                    },
                },
                {
                    "id": "fan",
                    "name": "Fan",
                    "source": {"kind": "simulated", "machine": "fan"},
                    "operating_data": {"kind": "pushed"},
                },
            ],
        }
        service = ConfiguredService(command, folder, config)
        with service, Subscriber(broker.port, "x", keep=False) as publisher:
            service.publisher = publisher
            yield service


class Drive:
    """Reports what it does again and again, as a drive does: what is old counts as unknown."""

    def __init__(self, publisher):
        self._publisher = publisher
        self._values = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.fall_silent()

    def fall_silent(self):
        self._stop.set()
        self._thread.join()

    def say(self, **values):
        self._values = values

    def _work(self):
        while not self._stop.wait(0.2):
            if self._values is not None:
                self._publisher.say("plant/pump/drive", json.dumps(self._values))


def check_width(page):
    """Nothing is cut off, once the charts have taken their new size."""
    in_page(page, "document.documentElement.scrollWidth <= innerWidth")


def test_what_is_new_is_shown_once(plant, open_page):
    page = open_page(plant)
    news = page.get_by_role("region", name="What is new")
    expect(news).to_contain_text("Upgraded to ssdpt")
    expect(news).to_contain_text("tables 0003 to")
    expect(news).to_contain_text("backups/before-tables-")
    expect(news).to_contain_text("the setting 'zone' is called 'timezone' now")
    assert not barriers(page)
    shot(page, "upgrade-desktop")
    page.emulate_media(color_scheme="dark")
    shot(page, "upgrade-dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    check_width(page)
    page.reload()
    expect(news).to_contain_text("Upgraded to ssdpt")
    expect(news.get_by_text("backups/before-tables-")).to_be_hidden()  # machines come first
    shot(page, "upgrade-phone")
    news.get_by_text("What changed").click()
    expect(news.get_by_text("backups/before-tables-")).to_be_visible()
    news.get_by_role("button", name="Dismiss").click()
    expect(news).to_be_hidden()
    page.reload()
    expect(card(page, "Pump")).to_be_visible()
    expect(news).to_be_hidden()


def test_a_machine_that_is_off_by_its_control_system_is_off_on_the_page(plant, open_page):
    with Drive(plant.publisher) as drive:
        drive.say(run=False, hz=0, load=0)
        plant.wait_for_state("pump", "off")
        page = open_page(plant, "#/machine/pump")
        data = panel(page, "Operating data")
        expect(data).to_contain_text("stopped")
        expect(data).to_contain_text("0 rpm")
        assert plant.machine("pump")["level_dbfs"] > -60  # it is loud
        drive.say(run=True, hz=24.5, load=61)
        expect(data).to_contain_text("running")
        expect(data).to_contain_text("1470 rpm")
        expect(data).to_contain_text("61 %")
        expect(data).to_contain_text("MQTT, connected")
        assert not barriers(page)
        data.scroll_into_view_if_needed()
        shot(page, "operating-desktop")
        drive.say(run=True, hz=1e9, load=61)
        expect(data).to_contain_text(
            "a speed of 60,000,000,000 rpm is not plausible (0 to 100,000 rpm)"
        )
        drive.fall_silent()
        expect(data).to_contain_text("counts as unknown")
        expect(data).to_contain_text("told by its sound")
        page.set_viewport_size(PHONE)
        check_width(page)
        assert not barriers(page)
        shot(page, "operating-stale-phone")


def test_operating_data_by_http(plant, open_page):
    page = open_page(plant, "#/machine/fan")
    data = panel(page, "Operating data")
    expect(data).to_contain_text("Nothing was reported yet")
    plant.put("v1/machines/fan/operating-data", json={"running": True, "speed_rpm": 990})
    expect(data).to_contain_text("990 rpm")
    expect(data).to_contain_text("HTTP, connected")
    plant.post("v1/machines/fan/operating-data", json={"running": False})
    plant.wait_for_state("fan", "off")
    plant.wait_until(
        lambda: plant.machine("fan")["operating_data"]["speed_rpm"] == 990, "it is kept"
    )
    page.emulate_media(color_scheme="dark")
    shot(page, "operating-dark")
