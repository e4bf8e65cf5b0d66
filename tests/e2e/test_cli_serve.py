"""ssdpt serve and ssdpt history, as commands."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request

import pytest
from typer.testing import CliRunner

from free_ports import free_port
from receivers import Broker, MailSink, WebReceiver
from sounds import hum, write_clip
from ssdpt.cli import app
from waiting import wait_until

PASSWORD = "correct-horse-battery"


def invoke(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def output_of(result):
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "choose what to monitor: --config monitor.yaml, or --demo to try it"),
        (("--demo", "--config", "monitor.yaml"), "choose what to monitor"),
        (("--demo", "--check"), "the demo needs no check"),
        (("--demo", "--offline"), "--offline needs --check"),
        (("--demo", "--key", "site.key"), "TLS needs a certificate and its key"),
        (("--demo", "--proxy", "10.0.0.0/8,nginx"), "'nginx' is not an address or network"),
        (("--demo", "--proxy", "10.0.0.0/99"), "'10.0.0.0/99' is not an address or network"),
        (("--config", "nowhere.yaml"), "nowhere.yaml: there is no such file"),
    ],
)
def test_what_cannot_be_served_is_reported(arguments, sentence):
    result = invoke("serve", *arguments)
    assert result.exit_code == 2
    assert sentence in output_of(result)


def test_a_configuration_is_checked_without_opening_anything(tmp_path, models):
    config = tmp_path / "monitor.yaml"
    config.write_text(
        f"""
name: Works
timezone: Europe/Berlin
machines:
  - {{id: pump, source: {{kind: pushed}}}}
  - {{id: fan, model: {models["texture"]}, section: "00", source: {{kind: pushed}}}}
outputs:
  - {{kind: webhook, url: "https://example.org/hook"}}
"""
    )
    result = invoke("serve", "--check", "--offline", "--config", config)
    assert result.exit_code == 0, result.output
    assert "Works, 2 machines, times in Europe/Berlin" in output_of(result)
    assert "pump: pushed source, learns its own baseline" in output_of(result)
    assert "(texture)" in output_of(result)
    config.write_text(config.read_text().replace('"00"', '"77"'))
    result = invoke("serve", "--check", "--offline", "--config", config)
    assert result.exit_code == 2
    assert "machine fan: its model has no section '77'" in output_of(result)
    config.write_text("timezone: Mars/Olympus")
    assert "'Mars/Olympus' is not a time zone" in output_of(
        invoke("serve", "--check", "--offline", "--config", config)
    )


@pytest.mark.needs_mosquitto
def test_everything_that_a_configuration_names_is_opened(tmp_path):
    write_clip(tmp_path / "tone.wav", hum(2.0))
    (tmp_path / "inbox").mkdir()
    (tmp_path / "password").write_text(PASSWORD)
    config = tmp_path / "monitor.yaml"
    with Broker(tmp_path) as broker, WebReceiver() as web, MailSink("ann", PASSWORD) as mail:
        config.write_text(
            f"""
machines:
  - {{id: tone, source: {{kind: replay, path: tone.wav}}}}
  - {{id: inbox, source: {{kind: folder, path: inbox}}}}
  - {{id: sent, source: {{kind: pushed}}}}
outputs:
  - {{kind: mqtt, host: 127.0.0.1, port: {broker.port}}}
  - {{kind: webhook, url: "{web.url}/hook?token={PASSWORD}"}}
  - {{kind: mail, host: 127.0.0.1, port: {mail.port}, tls: none, user: ann,
     password_file: password, sender: a@example.org, to: [b@example.org]}}
"""
        )
        result = invoke("serve", "--check", "--config", config)
        assert result.exit_code == 0, result.output
        assert result.output.splitlines()[-6:] == [
            "tone: playing tone.wav, 16000 Hz, sound arrives at -23 dBFS",
            f"inbox: watching {tmp_path / 'inbox'}",
            "sent: waiting for the first sound",
            f"mqtt 127.0.0.1:{broker.port}: reachable (nothing sent)",
            f"webhook {web.url}: reachable (nothing sent)",
            f"notify E-Mail 127.0.0.1:{mail.port}: signed in (nothing sent)",
        ]
        assert (web.posts, mail.mails) == ([], [])
        (tmp_path / "inbox").rmdir()
        (tmp_path / "password").write_text("Tr0ub4dor")
        port = free_port()
        url = f"rtsp://me:s3cret@127.0.0.1:{port}/"
        camera = f"machines:\n  - {{id: camera, source: {{kind: network, url: '{url}'}}}}"
        config.write_text(config.read_text().replace("machines:", camera))
        result = invoke("serve", "--check", "--config", config)
    assert result.exit_code == 1
    output = output_of(result)
    assert f"camera: rtsp://…@127.0.0.1:{port}/: connection refused" in output
    assert "inbox: cannot be listed (No such file or directory)" in output
    assert "rejects user or password" in output
    assert "3 cannot be opened: camera, inbox, notify E-Mail" in output
    assert not {"s3cret", "Tr0ub4dor", PASSWORD} & set(re.split(r"[\s:@'=]", output))


def get(address):
    with urllib.request.urlopen(address, timeout=60) as reply:
        return json.load(reply)


def add(address, machine):
    request = urllib.request.Request(
        address, json.dumps(machine).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        assert reply.status == 201


def test_it_serves_reads_its_file_again_and_stops_on_sigterm(tmp_path, command):
    config = tmp_path / "monitor.yaml"

    def write(*ids):
        machines = [{"id": id, "source": {"kind": "pushed"}} for id in ids]
        output = {"kind": "notify", "urls": [people.url.replace("http:", "json:")]}
        config.write_text(json.dumps({"machines": machines, "outputs": [output]}))

    data = tmp_path / "data"
    with WebReceiver() as people:
        write("a")
        service = subprocess.Popen(
            [command, "serve", "--config", config, "--data", data, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            line = service.stdout.readline()
            assert line.startswith("listening; open http://127.0.0.1:"), service.stderr.read()
            address = line.split()[-1]
            assert [one["id"] for one in get(f"{address}v1/machines")] == ["a"]
            second = invoke("serve", "--config", config, "--data", data, "--port", "0")
            assert "this store is already used by" in output_of(second)
            assert invoke("serve", "--check", "--config", config).exit_code == 0
            write("a", "b")
            wait_until(lambda: len(get(f"{address}v1/machines")) == 2, "the second one is added")
            config.write_text("machines: [{id: a")
            wait_until(
                lambda: any("has an error" in note for note in get(f"{address}v1/status")["notes"]),
                "the error in the file is reported",
            )
            assert len(get(f"{address}v1/machines")) == 2
            add(f"{address}v1/machines", {"id": "c", "source": {"kind": "pushed"}})
        finally:
            service.send_signal(signal.SIGTERM)
            assert service.wait(60) == 0
            service.stdout.close()
            service.stderr.close()
        assert [post["title"] for post in people.taken] == ["Monitoring stopped: Plant"]
    backup = tmp_path / "backup.tar"
    assert invoke("history", "backup", backup, "--data", data).exit_code == 0
    result = invoke("history", "restore", backup, "--data", tmp_path / "again")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "again" / "ssdpt.db").exists()
    (added,) = json.loads((tmp_path / "again" / "machines.json").read_text())
    assert added["id"] == "c"
    result = invoke("history", "restore", backup, "--data", data)
    assert "has a store already" in output_of(result)


def asking(address, request):
    """A connection on which a request was sent."""
    host, _, port = address.split("/")[2].partition(":")
    line = socket.create_connection((host, int(port)), timeout=60)
    line.sendall(request.encode().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    return line


def test_it_stops_without_a_traceback_whatever_is_under_way(tmp_path, command):
    """An open event stream, an incomplete upload and a long export."""
    config = tmp_path / "monitor.yaml"
    machines = ", ".join(f"{{id: m{n}, source: {{kind: pushed}}}}" for n in range(8))
    config.write_text(f"machines: [{machines}]")
    service = subprocess.Popen(
        [command, "serve", "--config", config, "--data", tmp_path / "data", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        address = service.stdout.readline().split()[-1]
        head = "HTTP/1.1\nHost: localhost"
        sound = "Content-Type: audio/wav\nContent-Length: 9999"
        with (
            asking(address, f"GET /v1/live {head}") as live,
            asking(address, f"POST /v1/machines/m0/audio {head}\n{sound}") as upload,
            asking(address, f"GET /v1/export?begin={time.time() - 8e7:.0f} {head}") as export,
        ):
            assert live.recv(15) == b"HTTP/1.1 200 OK"
            assert export.recv(15) == b"HTTP/1.1 200 OK"
            service.send_signal(signal.SIGTERM)
            reply = b"".join(iter(lambda: upload.recv(4096), b""))
            assert b"".join(iter(lambda: live.recv(4096), b"")).endswith(b"0\r\n\r\n")
        assert reply.startswith(b"HTTP/1.1 503")
        error = json.loads(reply.partition(b"\r\n\r\n")[2])["error"]
        assert error == "the service is stopping; try again later"
        _, errors = service.communicate(timeout=60)
        assert service.returncode == 0
        assert "Traceback" not in errors
    finally:
        service.kill()
        service.communicate()
