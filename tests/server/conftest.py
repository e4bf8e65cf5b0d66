"""A server with a fake service and a real store."""

from __future__ import annotations

import shutil
import time

import examples
import pytest
from examples import EVENT
from fake_service import FakeService
from serving import PASSWORD, ROLES, flac, of_app
from sqlalchemy import delete

from ssdpt.monitor.store import Store
from ssdpt.monitor.store import users as store_users
from ssdpt.monitor.store.tables import actions
from ssdpt.server import app as server_app
from ssdpt.server.app import create_app
from ssdpt.server.settings import ServerSettings


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords():
    """Hashing is slow on purpose; tests add many users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_users, "_COST", (2**4, 8, 1))
        yield


@pytest.fixture(scope="session", autouse=True)
def _routes_built_once():
    """FastAPI builds routes at the first request of an app, which takes longer than most tests."""
    create_api = server_app.create_api
    routes = create_api().router.routes

    def with_the_same_routes(lifespan=None):
        api = create_api(lifespan)
        api.router.routes[:] = routes
        return api

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_app, "create_api", with_the_same_routes)
        yield create_api


@pytest.fixture
def own_routes(_routes_built_once, monkeypatch):
    """An app builds its own routes, as it does outside of tests."""
    monkeypatch.setattr(server_app, "create_api", _routes_built_once)


@pytest.fixture(scope="session")
def _made_store(tmp_path_factory):
    """A store with some history and no users; copied for every test."""
    folder = tmp_path_factory.mktemp("store")
    with Store.open(f"sqlite:///{folder / 'ssdpt.db'}", folder) as store:
        now = time.time()
        store.add_readings(
            [examples.reading(time=now - 30 + n, smoothed=1.0 + n / 30) for n in range(30)]
        )
        store.save_event(
            examples.event_with_everything(
                began=now - 60, audio_begin=now - 70, looks_like=examples.looks_like()
            )
        )
        store.add_note("fan-1", now - 30, "repair", "bearing changed", who="ann", now=now)
        store.save_event(
            examples.event("f" * 32, machine="pump_2", began=now - 7200, ended=now - 7100)
        )
        store.attach(EVENT, "audio", flac(2.0), ".flac")
        store.attach(EVENT, "spectrogram", b"picture", ".bin")
        store.keep_recording(examples.kept_recording(), flac(2.0), ".flac")
        with store.database.write() as connection:
            connection.execute(delete(actions))  # tests look at what they do themselves
    return folder


@pytest.fixture
def store(_made_store, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(_made_store, folder)
    with Store.open(f"sqlite:///{folder / 'ssdpt.db'}", folder) as opened:
        yield opened


@pytest.fixture
def service(store):
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
def client(service, store, settings):
    """Anyone at the computer, without users."""
    with of_app(create_app(service, store, settings)) as opened:
        yield opened


@pytest.fixture
def tokens(store):
    """A token of a user of each role; the users are called like their roles."""
    for role in ROLES:
        store.add_user(role, role, PASSWORD)
    return {role: store.new_token(role, None) for role in ROLES}


@pytest.fixture
def network(service, store, settings, tokens):
    """A client of a server on a network address, not signed in."""
    app = create_app(service, store, settings.model_copy(update={"host": "0.0.0.0"}))
    with of_app(app, "http://plant.example:8765") as opened:
        yield opened
