"""Every test of a store runs on both databases."""

from __future__ import annotations

import os
import uuid

import pytest

POSTGRES = os.environ.get("SSDPT_TEST_POSTGRES", "postgresql+psycopg://root@localhost/test")


@pytest.fixture
def new_url(tmp_path):
    """Makes addresses of empty databases of a kind."""
    from sqlalchemy import create_engine, make_url, text

    server = create_engine(POSTGRES)
    schemas = []

    def new(kind):
        if kind == "sqlite":
            return f"sqlite:///{tmp_path}/{uuid.uuid4().hex}.db"
        schemas.append(f"ssdpt_{uuid.uuid4().hex}")
        with server.begin() as connection:
            connection.execute(text(f"CREATE SCHEMA {schemas[-1]}"))
        url = make_url(POSTGRES).update_query_dict({"options": f"-csearch_path={schemas[-1]}"})
        return url.render_as_string(hide_password=False)

    yield new
    for schema in schemas:
        with server.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    server.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs_postgres)])
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def _cheap_passwords(monkeypatch):
    """Hashes that take a moment only."""
    monkeypatch.setattr("ssdpt.monitor.store.users._COST", (2, 8, 1))


@pytest.fixture
def url(kind, new_url):
    return new_url(kind)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "files"


@pytest.fixture
def store(url, folder):
    from ssdpt.monitor.store import Store

    with Store.open(url, folder) as store:
        yield store
