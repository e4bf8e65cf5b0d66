"""ssdpt serve and ssdpt history, as commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request

import pytest
from typer.testing import CliRunner

from ssdpt.cli import app


def invoke(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def words(result):
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "say what to listen to: --config plant.yaml, or --demo to try it"),
        (("--demo", "--config", "plant.yaml"), "say what to listen to"),
        (("--demo", "--check"), "the demo needs no check"),
        (("--config", "nowhere.yaml"), "nowhere.yaml: there is no such file"),
    ],
)
def test_what_cannot_be_served_is_told(arguments, sentence):
    result = invoke("serve", *arguments)
    assert result.exit_code == 2
    assert sentence in words(result)


def test_a_plant_file_is_checked_without_listening(tmp_path, models):
    plant = tmp_path / "plant.yaml"
    plant.write_text(
        f"""
name: Works
zone: Europe/Berlin
machines:
  - {{id: pump, source: {{kind: pushed}}}}
  - {{id: fan, model: {models["texture"]}, section: "00", source: {{kind: pushed}}}}
outputs:
  - {{kind: webhook, url: "https://example.org/hook"}}
"""
    )
    result = invoke("serve", "--check", "--config", plant)
    assert result.exit_code == 0, result.output
    assert "Works, 2 machines, times in Europe/Berlin" in words(result)
    assert "pump: pushed source, learns its own baseline" in words(result)
    assert "(texture)" in words(result)
    plant.write_text(plant.read_text().replace('"00"', '"77"'))
    result = invoke("serve", "--check", "--config", plant)
    assert result.exit_code == 2
    assert "machine fan: its model does not know section '77'" in words(result)
    plant.write_text("zone: Mars/Olympus")
    assert "no time zone is called 'Mars/Olympus'" in words(
        invoke("serve", "--check", "--config", plant)
    )


def get(address):
    with urllib.request.urlopen(address, timeout=5) as reply:
        return json.load(reply)


def test_it_serves_reads_its_file_again_and_stops_when_told(tmp_path, command):
    plant = tmp_path / "plant.yaml"
    plant.write_text("machines: [{id: a, source: {kind: pushed}}]")
    data = tmp_path / "data"
    service = subprocess.Popen(
        [command, "serve", "--config", plant, "--data", data, "--port", "0"],
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
        second = invoke("serve", "--config", plant, "--data", data, "--port", "0")
        assert "works on this store already" in words(second)
        plant.write_text(
            "machines: [{id: a, source: {kind: pushed}}, {id: b, source: {kind: pushed}}]"
        )
        end = time.monotonic() + 30
        while len(get(f"{address}v1/machines")) < 2:
            assert time.monotonic() < end
            time.sleep(0.1)
        plant.write_text("machines: [{id: a")
        while not any("not taken" in note for note in get(f"{address}v1/plant")["notes"]):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert len(get(f"{address}v1/machines")) == 2
    finally:
        service.send_signal(signal.SIGTERM)
        assert service.wait(10) == 0
        service.stdout.close()
        service.stderr.close()
    backup = tmp_path / "backup.tar"
    assert invoke("history", "backup", backup, "--data", data).exit_code == 0
    result = invoke("history", "restore", backup, "--data", tmp_path / "again")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "again" / "ssdpt.db").exists()
    result = invoke("history", "restore", backup, "--data", data)
    assert "there is a store already" in words(result)
