"""The first hour: `ssdpt` alone, `ssdpt doctor`, completion."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from free_ports import free_port
from ssdpt.cli import app
from ssdpt.doctor import hardware


def test_the_command_alone_says_what_to_do_next_in_six_lines() -> None:
    result = CliRunner().invoke(app, [])
    lines = result.output.splitlines()
    assert (result.exit_code, len(lines)) == (0, 6)
    assert all(len(line) <= 80 for line in lines)
    for line in lines[1:]:
        name = line.split()[1]
        assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0


def test_doctor_prints_every_part_and_its_remedy() -> None:
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    for title in ("what is installed", "this computer", "servers"):
        assert title in result.output
    assert "fit, score, evaluate, reports" in result.output


def test_doctor_ends_with_1_where_something_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1.0))
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 1
    faults = [one for one in json.loads(result.output) if one["state"] == "faulty"]
    assert [one["name"] for one in faults] == ["disk"]
    assert faults[0]["remedy"] == hardware.disk(hardware.Path()).remedy


def test_doctor_opens_what_a_configuration_names(tmp_path: Path) -> None:
    config = tmp_path / "monitor.yaml"
    port = free_port()
    config.write_text(
        f"""
store: postgresql://me:s3cret@127.0.0.1:{port}/plant
machines: [{{id: sent, source: {{kind: pushed}}}}]
outputs: [{{kind: mqtt, host: 127.0.0.1, port: {port}}}]
"""
    )
    result = CliRunner().invoke(app, ["doctor", "--json", "--config", str(config)])
    assert result.exit_code == 1
    states = {one["name"]: one["state"] for one in json.loads(result.output)}
    assert (states["sent"], states[f"mqtt 127.0.0.1:{port}"]) == ("ready", "faulty")
    assert states["history"] == "faulty"
    assert "s3cret" not in result.output


def test_the_shell_can_complete_commands() -> None:
    environment = {"_SSDPT_COMPLETE": "complete_bash", "COMP_WORDS": "ssdpt doc", "COMP_CWORD": "1"}
    result = CliRunner().invoke(app, [], env=environment, prog_name="ssdpt")
    assert result.output.split() == ["doctor"]
