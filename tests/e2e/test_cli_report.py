"""ssdpt report."""

from __future__ import annotations

import time

import pytest
import yaml
from typer.testing import CliRunner

from plant_history import ZONE, fill_plant
from ssdpt.cli import app
from ssdpt.monitor.config import STORE_FILE
from ssdpt.monitor.store import Store
from ssdpt.monitor.week import Week


@pytest.fixture
def report(tmp_path):
    with Store.open(f"sqlite:///{tmp_path / STORE_FILE}", tmp_path) as store:
        fill_plant(store, time.time())
    path = tmp_path / "monitor.yaml"
    source = {"kind": "simulated", "machine": "pump"}
    machines = [{"id": "pump-1", "name": "Coolant pump", "source": source}]
    path.write_text(yaml.safe_dump({"name": "Mill", "timezone": ZONE, "machines": machines}))

    def run(*arguments):
        given = ["report", "--config", str(path), "--data", str(tmp_path), *map(str, arguments)]
        return CliRunner().invoke(app, given)

    return run


def test_the_last_week_as_text_and_as_pdf(report, tmp_path):
    week = str(Week.of(time.time(), ZONE).shifted(-1))
    text = report().stdout
    assert f"Weekly report: Mill, {week}" in text
    assert "Coolant pump" in text
    assert "cause: dry bearing; WO-4711" in text
    out = tmp_path / "week.pdf"
    assert report("--out", out, "--week", week).exit_code == 0
    assert out.read_bytes().startswith(b"%PDF-")


def test_bad_input_is_said(report, tmp_path):
    refused = report("--week", "last")
    assert refused.exit_code != 0
    assert "'last' is not a week; an example is 2026-W46" in refused.output
    assert "ends in .pdf" in report("--out", tmp_path / "week.txt").output
