"""HTML in everything that people and files name: the page shows it, and never builds it."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from pathlib import Path

import pytest
from monitor_service import ConfiguredService, panel
from playwright.sync_api import Error, expect

from plant_history import DAY, event, event_id, fill_plant
from ssdpt.monitor.config import STORE_FILE
from ssdpt.monitor.messages import Acknowledgement, Comment, KeptRecording, LooksLike
from ssdpt.monitor.store import Store

pytestmark = pytest.mark.needs_browser

# It would end an attribute as well, and each element that came of it is found by its own.
MARK = '"><i data-built>'
MODEL = Path(__file__).parents[1] / "golden" / "formats" / "5" / "texture"
MISSING = r"404.*(normal\.flac|/spectrogram|/audio|/analysis)"
# The page, and a text of which it must show the whole.
PAGES = {
    "#/": "roof fan",
    "#/machine/fan-1": "roof fan",
    f"#/event/{event_id(0)}": "greased",
    f"#/event/{event_id(3)}": "loose belt",
    "#/events": "new tone",
    "#/report": "roof fan",
    "#/add": "works",
    "#/edit/mixer": "works",
    "#/models": "card",
    "#/settings": "works",
}


def named(text):
    return f"{MARK}{text}"


def described(id, **settings):
    names = {"name": "roof fan", "site": "hall", "group": "shift", "type": "blower"}
    named_fields = {field: named(text) for field, text in names.items()}
    return {"id": id, **named_fields, "source": {"kind": "pushed"}, **settings}


def fill(store, now):
    fill_plant(store, now)
    texts = {"fault": named("loose belt"), "cause": named("dust"), "work_order": named("WO-1")}
    by = named("ann")
    said = Comment(who=by, at=now, text=named("greased"))
    alike = LooksLike(fault=named("loose belt"), earlier_events=3, similarity=0.9)
    for number, changes in (
        (0, {"comments": (said,), "acknowledged": Acknowledgement(who=by, at=now), **texts}),
        (3, {"looks_like": alike, "ended": None}),
    ):
        message = named("new tone")
        store.save_event(event(number, now - 8 * DAY, message=message, findings=(), **changes))
    store.add_note("pump-1", now - DAY, "repair", named("bearing changed"), who=by, now=now)
    times = {"begin": now - DAY, "end": now - DAY + 60, "at": now - DAY + 60}
    facts = {"id": event_id(7), "machine": "fan-1", "bytes": 5, "sample_rate": 16000}
    kept = KeptRecording(who=by, note=named("knocks"), **times, **facts)
    store.keep_recording(kept, b"sound", ".flac")


@pytest.fixture(scope="module")
def plant(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("markup")
    with Store.open(f"sqlite:///{folder / 'data' / STORE_FILE}", folder / "data") as store:
        fill(store, time.time())
    model = folder / named("model").replace("/", "")
    shutil.copytree(MODEL, model)
    config = (model / "config.json").read_text("utf-8")
    name = json.dumps(named("card"))
    (model / "config.json").write_text(config.replace('"machine": "fan"', f'"machine": {name}'))
    gears = {"speed_rpm": 1500, "gears": [{"label": named("wheel"), "teeth": 17}]}
    machines = [described("fan-1", machine_data=gears), described("pump-1", model=str(model))]
    output = {"kind": "webhook", "url": "http://127.0.0.1:9"}
    config = {"name": named("works"), "machines": machines, "outputs": [output]}
    with ConfiguredService(command, folder, config) as service:
        service.post("v1/machines", json=described("mixer"))
        yield service


def shows_as_text(page, text):
    expect(page.locator("body")).to_contain_text(re.compile(re.escape(named(text))))
    return page.locator("[data-built]").count() == 0


@pytest.mark.parametrize(("path", "text"), PAGES.items(), ids=PAGES)
def test_no_element_comes_of_a_name(plant, open_page, path, text):
    page = open_page(plant, path)
    page.watch.expect(MISSING)
    assert shows_as_text(page, text)


def test_nor_of_a_note(plant, open_page):
    page = open_page(plant, "#/machine/pump-1")
    page.watch.expect(MISSING)
    panel(page, "Trend").get_by_role("button", name="1 mo", exact=True).click()
    assert shows_as_text(page, "bearing changed")


@pytest.mark.parametrize("text", ["knocks", "ann"])
def test_nor_of_a_recording_that_someone_kept(plant, open_page, text):
    page = open_page(plant, "#/machine/fan-1")
    page.watch.expect(MISSING)
    kept = page.get_by_role("list", name="Kept recordings")
    expect(kept).to_contain_text(named(text))
    assert shows_as_text(page, text)


def changed(page, address, change):
    """Load the page again; replies of this address hold what the service would not let in."""

    def answer(route):
        with contextlib.suppress(Error):  # the page was closed: it asks again every few seconds
            reply = route.fetch()
            content = reply.json()
            change(content)
            route.fulfill(response=reply, json=content)

    page.watch.expect(MISSING)
    page.route(re.compile(address), answer)
    page.reload()


def test_nor_of_a_user(plant, open_page):
    page = open_page(plant, "#/settings")
    bob = {"name": named("bob"), "role": "viewer"}
    changed(page, r"/v1/users$", lambda users: users.append(bob))
    assert shows_as_text(page, "bob")


@pytest.mark.parametrize("text", ["mail", "night shift", "refused by the server"])
def test_nor_of_an_output(plant, open_page, text):
    said = {"name": named("mail"), "message": named("refused by the server"), "sentence": None}
    page = open_page(plant, "#/settings")
    fields = {**said, "groups": [named("night shift")], "healthy": False}
    changed(page, r"/v1/outputs$", lambda outputs: outputs[0].update(fields))
    assert shows_as_text(page, text)


def test_nor_of_an_operating_point(plant, open_page):
    facts = {"share": 0.5, "level_dbfs": -30, "usual_score": 1, "speed_rpm": None}
    points = [
        {"number": number, "name": named(name), "load_percent": None, **facts}
        for number, name in enumerate(("half load", "full load"), 1)
    ]

    def learn(status):
        for machine in status["machines"]:
            machine["operating_points"] = points

    page = open_page(plant, "#/machine/fan-1")
    changed(page, r"/v1/status$", learn)
    expect(panel(page, "Operating points")).to_contain_text(named("full load"))
    assert shows_as_text(page, "half load")


def test_nor_of_a_source_on_trial(plant, open_page):
    page = open_page(plant, "#/add")
    said = {"message": named("hum of the fan"), "sentence": None}
    changed(page, r"/v1/trials(/[0-9a-f]+)?$", lambda trial: trial.update(said))
    page.get_by_label("Name", exact=True).fill(named("saw"))
    page.get_by_role("radio", name="Simulated").check()
    page.get_by_role("button", name="Next").click()
    assert shows_as_text(page, "hum of the fan")
    expect(page.get_by_role("img", name=named("saw"))).to_be_visible()
