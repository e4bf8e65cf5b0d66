"""A server over a monitor without sound and a real store."""

from __future__ import annotations

import shutil
import time

import pytest
from fake_plant import EVENT, FakeService, an_event
from serving import PASSWORD, ROLES, flac, of_app

from ssdpt.monitor.messages import Reading
from ssdpt.monitor.store import Store
from ssdpt.monitor.store import users as store_users
from ssdpt.server.app import create_app
from ssdpt.server.settings import ServerSettings


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords():
    """Hashing is meant to take long; tests make many users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_users, "_COST", (2**4, 8, 1))
        yield


@pytest.fixture(scope="session")
def _made_store(tmp_path_factory):
    """A store with some history and no users; copied for every test."""
    folder = tmp_path_factory.mktemp("store")
    with Store.open(f"sqlite:///{folder / 'ssdpt.db'}", folder) as store:
        now = time.time()
        store.add_readings(
            [
                Reading("fan-1", now - 30 + n, "normal", -30.0, 1.0, 1.0 + n / 30, 0.5)
                for n in range(30)
            ]
        )
        store.save_event(an_event(audio_begin=now - 70))
        store.save_event(an_event("f" * 32, "pump_2", now - 7200, ended=now - 7100))
        store.attach(EVENT, "audio", flac(2.0), ".flac")
        store.attach(EVENT, "spectrogram", b"picture", ".bin")
    return folder


@pytest.fixture
def store(_made_store, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(_made_store, folder)
    with Store.open(f"sqlite:///{folder / 'ssdpt.db'}", folder) as opened:
        yield opened


@pytest.fixture
def plant(store):
    return FakeService(store)


@pytest.fixture
def page(tmp_path):
    """A page as it is built."""
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>plant</title>")
    (folder / "assets" / "index-B1c2D3.js").write_text("let a = 1\n" * 500)
    (folder.parent / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def settings(page):
    return ServerSettings(page=page)


@pytest.fixture
def client(plant, store, settings):
    """Whoever sits at the computer, with no users."""
    with of_app(create_app(plant, store, settings)) as opened:
        yield opened


@pytest.fixture
def tokens(store):
    """A token of a user of each role; the users are called like their roles."""
    for role in ROLES:
        store.add_user(role, role, PASSWORD)
    return {role: store.new_token(role, None) for role in ROLES}


@pytest.fixture
def network(plant, store, settings, tokens):
    """A server that anyone can reach, and nobody's client of it."""
    app = create_app(plant, store, settings.model_copy(update={"host": "0.0.0.0"}))
    with of_app(app, "http://plant.example:8765") as opened:
        yield opened
