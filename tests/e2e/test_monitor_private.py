"""No secret of the service shows anywhere, and nobody else can read its files."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import subprocess
import tarfile
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from monitor_service import ConfiguredService
from private_plant import ROLES, SECRETS, PrivatePlant

from receivers import Broker, MailSink, Subscriber, WebReceiver
from ssdpt.common.files import private_files
from ssdpt.server.access_rules import access_rules
from ssdpt.server.app import create_api
from waiting import wait_until

pytestmark = [pytest.mark.full, pytest.mark.needs_mosquitto]

STORE_0003 = Path(__file__).parents[1] / "monitor" / "store" / "store_0003.db.xz"
HASHED = ("password", "session", "token")  # nothing but a hash of these is kept
MACHINES = ("fan-1", "camera-1", "camera-2", "camera-3", "mill-1", "mill-2")


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """Takes anyone without a name, and of those with one only who knows the password."""
    folder = tmp_path_factory.mktemp("broker")
    passwords = folder / "passwords"
    subprocess.run(
        ["mosquitto_passwd", "-b", "-c", passwords, "ssdpt", SECRETS["mqtt password"]],
        check=True,
        capture_output=True,
    )
    passwords.chmod(0o600)
    with Broker(folder, "allow_anonymous true", f"password_file {passwords}") as broker:
        yield broker


@contextlib.contextmanager
def _umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.fixture(scope="module")
def plant(command, broker, tmp_path_factory):
    """A service that was upgraded and has used every feature, under the most open umask."""
    folder = tmp_path_factory.mktemp("private")
    with (
        WebReceiver() as receiver,
        MailSink("ssdpt", "another password") as mailbox,
        Subscriber(broker.port, "#") as subscriber,
    ):
        plant = PrivatePlant(command, folder, broker, receiver, mailbox)
        with private_files():  # as the release before did
            plant.data.mkdir()
            (plant.data / "ssdpt.db").write_bytes(lzma.decompress(STORE_0003.read_bytes()))
        with _umask(0o000):
            plant.add_users()
            plant.start()
        try:
            _use_everything(plant)
            plant.outside = [receiver, subscriber, mailbox]
            yield plant
        finally:
            plant.stop()


def _use_everything(plant):
    """What people and programs do: right, wrong, and with secrets in it."""
    plant.learn("fan-1")
    event = plant.alarm_of("fan-1")["id"]
    plant.event = event
    plant.post(f"v1/events/{event}/acknowledge", json={"comment": "seen"})
    plant.post(f"v1/events/{event}/comment", json={"text": "greased"})
    plant.put(f"v1/events/{event}/details", json={"cause": "dry bearing", "fault": "bearing"})
    plant.note = plant.post(
        "v1/machines/fan-1/notes", json={"at": 1.79e9, "kind": "repair", "text": "bearing"}
    )["id"]
    plant.recording = plant.post("v1/machines/fan-1/recordings", json={"minutes": 1})["id"]
    camera = f"rtsp://root:{SECRETS['added camera']}@127.0.0.1:1/axis"
    plant.post("v1/machines", json={"id": "camera-3", "source": {"kind": "network", "url": camera}})
    camera = f"rtsp://root:{SECRETS['tried camera']}@127.0.0.1:1/axis"
    tried = {"id": "camera-4", "source": {"kind": "network", "url": camera}}
    plant.trial = plant.post("v1/trials", json=tried)["id"]
    for number in range(1, 6):
        plant.ask("POST", f"v1/outputs/{number}/test")
    plant.add_user("gone", "viewer", SECRETS["old password"])
    changed = {"password": SECRETS["password that was changed"]}
    plant.ask("PUT", "v1/users/gone/password", json=changed)
    plant.sessions = []
    for name, password in (
        ("viewer", SECRETS["password of viewer"]),
        ("viewer", SECRETS["wrong password"]),
        (SECRETS["wrong password"], "12345678"),
    ):
        reply = plant.ask("POST", "v1/session", None, json={"name": name, "password": password})
        plant.sessions += reply.cookies.values()
    wait_until(lambda: plant.get(f"v1/events/{event}")["has_audio"])


def _found(content, secrets):
    """The names of the secrets in some text or bytes, also as part of an address or of JSON."""
    text = content if isinstance(content, str) else content.decode("latin-1")
    return [name for name, secret in secrets.items() if secret in text or quote(secret) in text]


def _addresses(plant):
    """Every address that can be read, with everything that there is."""
    for rule in access_rules(create_api()):
        if rule.method != "GET" or rule.path in ("/v1/live", "/v1/backup"):
            continue
        machines = MACHINES if "{machine}" in rule.path else ("",)
        for machine in machines:
            path = rule.path.format(
                machine=machine, event=plant.event, recording=plant.recording, trial=plant.trial
            )
            yield path + ("?false_alerts_per_week=2" if path.endswith("/thresholds") else "")


def _all_secrets(plant):
    sessions = {f"session {number}": it for number, it in enumerate(plant.sessions)}
    tokens = {f"token of {role}": token for role, token in plant.tokens.items()}
    return {**SECRETS, **sessions, **tokens}


def test_no_answer_shows_a_secret(plant):
    secrets = _all_secrets(plant)
    leaks, statuses = [], set()
    for path in _addresses(plant):
        for role in (None, *ROLES):
            reply = plant.ask("GET", path, role)
            statuses.add(reply.status_code)
            for where in (reply.content, str(reply.headers.raw)):
                leaks += [(path, role, name) for name in _found(where, secrets)]
    assert leaks == []
    assert {200, 401, 403} <= statuses
    assert 500 not in statuses


def test_no_error_repeats_the_secret_that_was_sent(plant):
    """A mistyped address must not put its password on the screen, or in the log of a proxy."""
    secret = SECRETS["refused camera"]
    leaks = []
    for url in (
        f"file:///root:{secret}@host/x",
        f"rtsp://root:{secret}@[bad/x",
        f"http://host/x?listen=1&pwd={secret}",
        f"nonsense://{secret}",
        f"rtsp://root:{secret}/@127.0.0.1:99999/x",
    ):
        settings = {"id": "camera-9", "source": {"kind": "network", "url": url, "channel": "x"}}
        for more in ({}, {"channel": 0}):
            body = {**settings, "source": {**settings["source"], **more}}
            for path in ("v1/machines", "v1/trials", "v1/machines/camera-9/settings/effect"):
                reply = plant.ask("POST", path, json=body)
                assert reply.status_code < 500
                leaks += [(path, url, reply.text) for _ in _found(reply.content, {"it": secret})]
        plant.ask("DELETE", "v1/machines/camera-9")
    assert leaks == []


def test_the_live_stream_shows_no_secret(plant):
    secrets = _all_secrets(plant)
    address, lines = plant.address + "v1/live", []
    with httpx.stream("GET", address, headers=plant.headers(), timeout=60) as reply:
        for line in reply.iter_lines():
            lines.append(line)
            if len(lines) > 200:
                break
    assert _found("\n".join(lines), secrets) == []


def test_nothing_that_is_sent_shows_a_secret(plant):
    receiver, subscriber, mailbox = plant.outside
    # A receiver is told its own: its address, and what its template says.
    wait_until(lambda: subscriber.messages and any(body for _, _, body, _ in receiver.posts))
    secrets = _all_secrets(plant)
    sent = [*(f"{topic} {payload}" for topic, payload, _ in subscriber.messages)]
    sent += [body for _, _, body, _ in receiver.posts]
    sent += [text for _, text in mailbox.mails]
    for headers in (headers for _, headers, _, _ in receiver.posts):
        sent.append(str({name: it for name, it in headers.items() if name != "Authorization"}))
    assert [name for each in sent for name in _found(each, secrets)] == []


def test_backups_have_no_passwords_and_no_telling_names(plant, tmp_path):
    secrets = _all_secrets(plant)
    reply = plant.ask("GET", "v1/backup")
    assert _found(str(reply.headers.raw), secrets) == []
    plant.run("history", "backup", tmp_path / "backup.tar", "--data", plant.data)
    never = {name: it for name, it in secrets.items() if name.startswith(HASHED)}
    for content in (reply.content, (tmp_path / "backup.tar").read_bytes()):
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            assert _found("\n".join(tar.getnames()), secrets) == []
            for member in tar:
                data = tar.extractfile(member).read()
                data = gzip.decompress(data) if member.name.endswith(".gz") else data
                assert _found(data, never) == [], member.name
    names = "\n".join(str(path) for path in plant.data.rglob("*"))
    assert _found(names, secrets) == []
    stored = b"".join(path.read_bytes() for path in plant.data.glob("ssdpt.db*"))
    assert _found(stored, never) == []


def test_commands_and_the_list_of_processes_show_no_secret(plant):
    secrets = _all_secrets(plant)
    assert _found(plant.arguments, secrets) == []
    for arguments in (
        ("serve", "--check", "--config", plant.path),
        ("--verbose", "serve", "--check", "--config", plant.path),
        ("user", "list", "--json", "--data", plant.data),
        ("report", "--config", plant.path, "--data", plant.data),
        ("upgrade-config", plant.path),
    ):
        output = plant.run(*arguments)
        assert output.strip()
        assert _found(output, secrets) == [], (arguments, output)


def test_a_configuration_that_is_not_taken_shows_no_secret(plant):
    """The page says what is wrong with it, for people who may not read the file."""
    good = plant.path.read_text()
    plant.change_config(good.replace("- kind: webhook\n", "- kind: webhok\n", 1))
    problems = wait_until(lambda: plant.get("v1/status")["problems"], "it is refused")
    assert _found(str(problems), _all_secrets(plant)) == []
    plant.change_config(good)
    wait_until(lambda: not plant.get("v1/status")["problems"], "the good one is taken again")


def test_the_log_shows_no_secret(plant):
    """Last: it has heard of everything above, at the level of debugging."""
    secrets = _all_secrets(plant)
    lines = plant.log.splitlines()
    assert any(line.startswith("INFO ssdpt.") for line in lines)
    assert [(name, line) for line in lines for name in _found(line, secrets)] == []


def _open_to_others(folder):
    """What anyone but the user of the service could read or change."""
    expected = {True: 0o700, False: 0o600}
    return [
        (str(path.relative_to(folder)), oct(mode))
        for path in (folder, *folder.rglob("*"))
        if (mode := path.lstat().st_mode & 0o777) != expected[path.is_dir()]
    ]


def test_nobody_else_can_read_the_data(plant, tmp_path):
    kinds = {path.name for path in plant.data.iterdir()}
    assert {"ssdpt.db", "machines.json", "models", "backups"} <= kinds
    assert _open_to_others(plant.data) == []
    with _umask(0o000):
        plant.run("history", "backup", tmp_path / "backup.tar", "--data", plant.data)
        plant.run("history", "restore", tmp_path / "backup.tar", "--data", tmp_path / "restored")
    assert (tmp_path / "backup.tar").stat().st_mode & 0o777 == 0o600
    assert {"ssdpt.db", "machines.json", "models"} <= {
        path.name for path in (tmp_path / "restored").iterdir()
    }
    assert _open_to_others(tmp_path / "restored") == []


@pytest.mark.parametrize("mask", ["000", "077"])
def test_a_new_folder_is_private_from_the_start(command, tmp_path, mask):
    config = {"machines": [{"id": "mill-1", "source": {"kind": "pushed"}}]}
    with _umask(int(mask, 8)), ConfiguredService(command, tmp_path, config) as service:
        service.post("v1/machines", json={"id": "mill-2", "source": {"kind": "pushed"}})
        assert _open_to_others(tmp_path / "data") == []
