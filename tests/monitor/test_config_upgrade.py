"""Configuration files of earlier releases."""

from __future__ import annotations

import stat
from unittest.mock import Mock

import pytest
import yaml
from typer.testing import CliRunner

from ssdpt.cli import app, first_run
from ssdpt.errors import SsdptError
from ssdpt.monitor import config_upgrade
from ssdpt.monitor.config import MachineSettings, read_monitor_config
from ssdpt.monitor.config_upgrade import CONFIG_UPGRADES, ConfigUpgrade, upgrade_content
from ssdpt.monitor.service.added_machines import AddedMachines

OLD = """\
# our plant
zone: Europe/Berlin
machines:
  - id: pump  # the old one
    source: {kind: pushed, every: 60}
    alarm: {per_week: 2, shortest: 4, settle: 20}
retention: {least_free_mb: 100}
"""


def invoke(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def output_of(result):
    return " ".join(result.output.split())


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text(OLD)
    path.chmod(0o600)
    return path


def test_old_settings_are_read_as_the_present_ones(old):
    config = read_monitor_config(old)
    (pump,) = config.machines
    assert config.timezone == "Europe/Berlin"
    assert pump.source.max_silence == 60
    assert (pump.alarm.false_alerts_per_week, pump.alarm.min_duration) == (2, 4)
    assert (pump.alarm.clear_after, config.retention.min_free_mb) == (20, 100)
    assert len(config.upgrades) == 6
    assert config.upgrades[0] == "the setting 'zone' is called 'timezone' now"
    assert old.read_text() == OLD


def test_a_file_of_this_release_says_nothing(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("timezone: UTC\nmachines: [{id: a, source: {kind: pushed}}]")
    assert read_monitor_config(path).upgrades == ()


def test_the_time_between_the_snapshots_of_a_replay_keeps_its_name(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("machines: [{id: a, source: {kind: replay, path: a.wav, every: 10}}]")
    config = read_monitor_config(path)
    assert config.machines[0].source.every == 10
    assert config.upgrades == ()


def test_old_and_new_name_together_are_an_error_of_the_file(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("zone: UTC\ntimezone: UTC")
    with pytest.raises(SsdptError, match="there is no setting 'zone'"):
        read_monitor_config(path)


@pytest.mark.parametrize(
    "content",
    [
        None,
        3,
        [],
        {"machines": 3},
        {"machines": [3, {"alarm": 1, "source": None}]},
        {"outputs": {}},
    ],
)
def test_content_of_any_form_is_left_to_the_check(content):
    assert upgrade_content(content) == ()


def test_machines_that_were_added_on_the_page_are_upgraded_too(tmp_path):
    path = tmp_path / "machines.json"
    path.write_text('[{"id": "a", "source": {"kind": "pushed", "every": 60}}]')
    assert AddedMachines(path).machines[0].source.max_silence == 60


def test_the_list_of_the_release_before_is_kept_once_when_the_page_changes_it(tmp_path):
    path = tmp_path / "machines.json"
    path.write_text(old := '[{"id": "a", "source": {"kind": "pushed", "every": 60}}]')
    added = AddedMachines(path)
    kept = path.with_name("machines.json.bak")
    assert not kept.exists()  # nothing is written yet
    for machine in ("b", "c"):
        added.add(MachineSettings.model_validate({"id": machine, "source": {"kind": "pushed"}}))
    assert kept.read_text() == old
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    AddedMachines(path).remove("b")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["machines.json", kept.name]


def test_a_file_that_the_first_run_replaces_is_kept(old, monkeypatch):
    monkeypatch.setattr("sys.stdin", Mock(isatty=lambda: True))
    monkeypatch.setattr("typer.confirm", lambda *_, **__: True)
    monkeypatch.setattr(first_run, "_ask", lambda *_: "Works")
    monkeypatch.setattr(first_run, "_ask_timezone", lambda: "UTC")
    monkeypatch.setattr(first_run, "_ask_source", lambda: {"kind": "pushed"})
    first_run.first_run(old, old.with_name("data"))
    assert read_monitor_config(old).name == "Works"
    assert old.with_name("monitor.yaml.bak").read_text() == OLD


def test_upgrades_are_applied_in_order(monkeypatch):
    second = ConfigUpgrade("again", lambda content: content.pop("timezone", None) is not None)
    monkeypatch.setattr(config_upgrade, "CONFIG_UPGRADES", (*CONFIG_UPGRADES, second))
    content = {"zone": "UTC"}
    assert upgrade_content(content)[-1] == "again"
    assert content == {}


def test_check_names_what_was_upgraded(old):
    result = invoke("serve", "--check", "--offline", "--config", old)
    assert result.exit_code == 0, result.output
    sentence = "the setting 'zone' is called 'timezone' now; `ssdpt upgrade-config` changes"
    assert sentence in output_of(result)


def test_the_file_is_rewritten_on_demand_and_kept_as_it_was(old):
    before = read_monitor_config(old)
    result = invoke("upgrade-config", old)
    assert result.exit_code == 0, result.output
    assert "the setting 'per_week' of an alarm is called 'false_alerts_per_week'" in output_of(
        result
    )
    after = read_monitor_config(old)
    assert after.upgrades == ()
    assert after.model_dump() == before.model_dump()
    assert next(iter(yaml.safe_load(old.read_text()))) == "timezone"
    kept = old.with_name("monitor.yaml.bak")
    assert kept.read_text() == OLD
    assert {stat.S_IMODE(file.stat().st_mode) for file in (old, kept)} == {0o600}
    assert "up to date" in output_of(invoke("upgrade-config", old))
    old.write_text(OLD)
    invoke("upgrade-config", old)
    assert kept.read_text() == OLD
    assert old.with_name("monitor.yaml.bak2").exists()


def test_a_file_with_a_mistake_is_not_rewritten(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("zone: Mars")
    result = invoke("upgrade-config", path)
    assert result.exit_code != 0
    assert "'Mars' is not a time zone" in output_of(result)
    assert path.read_text() == "zone: Mars"
    assert list(tmp_path.iterdir()) == [path]
