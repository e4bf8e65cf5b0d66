"""The configuration file: all mistakes are reported at once, in sentences."""

from __future__ import annotations

import pytest

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    SourceSettings,
    read_monitor_config,
)
from ssdpt.monitor.sources.folder_source import FolderSettings
from ssdpt.monitor.sources.microphone_source import MicrophoneSettings
from ssdpt.monitor.sources.mqtt_source import MqttSourceSettings
from ssdpt.monitor.sources.network_source import NetworkSettings
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.sources.replay_source import ReplaySettings
from ssdpt.monitor.sources.simulated_source import SimulatedSettings

KINDS = ", ".join(SourceSettings.registry.names())


@pytest.fixture
def error_of(tmp_path, monkeypatch):
    """The error that a configuration file with some text gives."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path.joinpath("monitor.yaml").relative_to(tmp_path)

    def error_of(text):
        path.write_text(text)
        with pytest.raises(SsdptError) as caught:
            read_monitor_config(path)
        message = str(caught.value)
        assert message.startswith("monitor.yaml: ")
        assert "\n" not in message
        return message.removeprefix("monitor.yaml: ")

    return error_of


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        (
            "{id: a, sight: x, source: {kind: pushed}}",
            "machine a: there is no setting 'sight'; did you mean 'site'?",
        ),
        (
            "{id: a, false_alerts_per_week: 2, source: {kind: pushed}}",
            "machine a: there is no setting 'false_alerts_per_week'; did you mean "
            "'alarm.false_alerts_per_week'?",
        ),
        (
            "{id: a, source: {kind: folder, path: x, speed: 2}}",
            "machine a: there is no setting 'source.speed'; there are kind, "
            "max_silence, channel, path",
        ),
        (
            "{id: Pump 1, source: {kind: pushed}}",
            "machine Pump 1: setting id: does not fit; an id has at most 64 lower-case letters, "
            "digits, - and _",
        ),
        ("{source: {kind: pushed}}", "machine number 1: setting id: is missing"),
        ("{id: a}", "machine a: setting source: is missing"),
        ("{id: a, source: }", "machine a: setting source: is empty"),
        ("pump", "machine number 1: must be lines of `name: value`"),
        (
            "{id: a, source: {kind: dir, path: x}}",
            f"machine a: setting source.kind: 'dir' is not valid; choose {KINDS}",
        ),
        (
            "{id: a, source: {path: x}}",
            f"machine a: setting source.kind: is missing; choose {KINDS}",
        ),
        ("{id: a, source: {kind: folder}}", "machine a: setting source.path: is missing"),
        (
            "{id: a, source: {kind: pushed, max_silence: 0}}",
            "machine a: setting source.max_silence: must be more than 0",
        ),
        (
            "{id: a, source: {kind: folder, path: x, chanel: 1}}",
            "machine a: there is no setting 'source.chanel'; did you mean 'source.channel'?",
        ),
        (
            "{id: a, source: {kind: [folder]}}",
            f"machine a: setting source.kind: must be text; choose {KINDS}",
        ),
        (
            "{id: a, source: {kind: pushed}, alarm: {false_alerts_per_week: 0.01}}",
            "machine a: setting alarm.false_alerts_per_week: must be at least 0.1",
        ),
        (
            "{id: a, section: 0, source: {kind: pushed}}",
            "machine a: setting section: must be text; put it in quotes",
        ),
        (
            "{id: a, source: {kind: microphone}, sensor: {snapshots: true}}",
            "machine a: a source of kind microphone gives no snapshots; those of kind folder, "
            "mqtt, pushed, replay do",
        ),
        (
            "{id: a, source: {kind: mqtt, topic: plant/a}}",
            "machine a: a source of kind mqtt gives snapshots only: set snapshots: true of its "
            "sensor",
        ),
        (
            "{id: a, model: x, source: {kind: pushed}, sensor: {snapshots: true}}",
            "machine a: snapshots are judged without a model: remove model, the machine learns "
            "its own baseline",
        ),
        (
            "{id: a, source: {kind: pushed}, sensor: {axes: [x, x]}}",
            "machine a: setting sensor: two axes have the same name",
        ),
        (
            "{id: a, source: {kind: pushed}, sensor: {sample_rate: 96000}}",
            "machine a: setting sensor.sample_rate: must be at most 51200",
        ),
        (
            "{id: a, source: {kind: mqtt, topic: plant/+}, sensor: {snapshots: true}}",
            "machine a: setting source.topic: does not fit; of this machine's snapshots alone, "
            "without + and #",
        ),
    ],
)
def test_a_mistake_names_the_machine(error_of, machine, sentence):
    assert error_of(f"machines:\n  - {machine}\n") == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nmae: Works", "there is no setting 'nmae'; did you mean 'name'?"),
        ("retention: {pre_roll: 500}", "setting retention.pre_roll: must be at most 120"),
        ("retention: {keep_audio: maybe}", "setting retention.keep_audio: must be true or false"),
        ("machines: {id: a}", "setting machines: must be a list, with - before each part"),
        ("- id: a", "must be lines of `name: value`"),
        (
            "outputs: [{kind: webhook, url: example.org}]",
            "output number 1: setting url: does not fit; an address that begins with http:// or "
            "https://",
        ),
        (
            "outputs: [{kind: mail, host: a, sender: b, to: [c], tls: ssl}]",
            "output number 1: setting kind: 'mail' is not valid; choose heartbeat, mqtt, notify, "
            "webhook",
        ),
        (
            "machines: [{id: a, source: {kind: pushed}}, {id: a, source: {kind: pushed}}]",
            "two machines have the id a",
        ),
    ],
)
def test_a_mistake_outside_of_machines_is_reported(error_of, text, sentence):
    assert error_of(text) == sentence


def test_all_mistakes_are_reported_at_once(error_of):
    message = error_of(
        """
speed: fast
machines:
  - {id: pump-1, sight: Hall A, source: {kind: pushed}}
  - {id: pump-2, alarm: {false_alerts_per_week: 0}, source: {kind: dir}}
"""
    )
    for number, part in enumerate(
        (
            "machine pump-1: there is no setting 'sight'",
            "machine pump-2: setting source.kind",
            "machine pump-2: setting alarm.false_alerts_per_week",
            "setting speed: must be a number",
        ),
        1,
    ):
        assert f"({number}) {part}" in message
    message = error_of("{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1}")
    assert message.count("there is no setting") == 5
    assert message.endswith("; and 2 more")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "name: Works\nmachines:\n  - id: a\n   source: {kind: pushed}\n",
            "line 4: does not line up with what is above it; look at the indentation",
        ),
        ("name: Works\nmachines:\n\t- id: a\n", "line 3: a tab; indent with spaces"),
        (
            "name: Works: II",
            "line 1: a second `:`; look at the indentation, or put the value in quotes",
        ),
        ("timezone: UTC\nname\n", "line 2: a `:` is missing; look at the indentation"),
        ("timezone: UTC\nname: 'Works\nspeed: 1\n", "line 2: a quote is not closed"),
        ("timezone: UTC\nmachines: [\n", "line 2: a bracket is not closed"),
        ("name: 2026-13-45", "a date or number that there is not; put it in quotes"),
    ],
)
def test_what_is_no_yaml_is_reported_by_its_line(error_of, text, sentence):
    assert error_of(text) == f"not valid YAML: {sentence}"


def test_a_file_that_is_no_text_is_reported(tmp_path):
    (tmp_path / "monitor.yaml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(SsdptError, match="not a text file; the configuration is YAML"):
        read_monitor_config(tmp_path / "monitor.yaml")
    with pytest.raises(SsdptError, match="cannot be read: Is a directory"):
        read_monitor_config(tmp_path)


def test_playback_has_the_speed_of_the_service(error_of, tmp_path):
    replayed = "{id: uav, source: {kind: replay, path: x, speed: 10}}"
    assert error_of(f"machines: [{replayed}]") == (
        "machine uav plays at 10 times real time, but the service's clock runs at 1: set both to "
        "the same speed"
    )
    simulated = "{id: fan, source: {kind: simulated}}"
    assert error_of(f"speed: 2.5\nmachines: [{simulated}, {replayed}]").count("same speed") == 2
    pushed = MachineSettings.model_validate({"id": "c", "source": {"kind": "pushed"}})
    machines = (
        MachineSettings(id="a", source=ReplaySettings(path=tmp_path, speed=10)),
        MachineSettings(id="b", source=SimulatedSettings(speed=10)),
        pushed,
    )
    assert MonitorConfig(machines=machines, speed=10).machines == machines


def test_timezones_are_checked(error_of):
    assert error_of("timezone: Mars") == (
        "setting timezone: 'Mars' is not a time zone; an example is Europe/Berlin"
    )


def test_machines_survive_json_with_all_settings_of_their_source(tmp_path):
    machine = MachineSettings(id="a", source=FolderSettings(path=tmp_path, channel=3))
    content = machine.model_dump(mode="json")
    assert content["source"] == {
        "kind": "folder",
        "path": str(tmp_path),
        "channel": 3,
        "max_silence": None,
    }
    assert MachineSettings.model_validate(content) == machine
    assert MachineSettings.model_validate_json(machine.model_dump_json()) == machine


def test_the_schema_describes_a_source_by_its_kind():
    schema = MachineSettings.model_json_schema()
    source = schema["$defs"]["SourceSettings"]
    assert source["required"] == ["kind"]
    assert source["additionalProperties"] is True
    assert "folder" in source["properties"]["kind"]["examples"]
    assert set(FolderSettings.model_json_schema()["properties"]) == {
        *("kind", "path", "channel", "max_silence"),
    }


def test_relative_paths_count_from_the_folder_of_the_file(tmp_path):
    text = """
machines: [{id: a, source: {kind: folder, path: incoming}}]
outputs: [{kind: webhook, url: "https://example.org", secret_file: key}]
"""
    (tmp_path / "monitor.yaml").write_text(text)
    config = read_monitor_config(tmp_path / "monitor.yaml")
    assert config.machines[0].source == FolderSettings(path=tmp_path / "incoming")
    assert config.outputs[0].secret_file == tmp_path / "key"


@pytest.mark.parametrize(
    ("settings", "silence", "in_files", "reads_files", "speed"),
    [
        (MicrophoneSettings(), 5.0, False, False, None),
        (NetworkSettings(url="rtsp://camera/x"), 5.0, False, False, None),
        (NetworkSettings(url="https://camera/x"), 5.0, False, False, None),
        (NetworkSettings(url="file:///etc/passwd"), 5.0, False, True, None),
        (NetworkSettings(url="/etc/passwd"), 5.0, False, True, None),
        (NetworkSettings(url="concat:a|b"), 5.0, False, True, None),
        (FolderSettings(path="x"), None, True, True, None),
        (FolderSettings(path="x", max_silence=60), 60.0, True, True, None),
        (PushedSettings(), None, True, False, None),
        (MqttSourceSettings(topic="a"), None, True, False, None),
        (MqttSourceSettings(topic="a", ca_file="x"), None, True, True, None),
        (ReplaySettings(path="x", speed=3), 5.0, False, True, 3.0),
        (SimulatedSettings(speed=2), 5.0, False, False, 2.0),
    ],
)
def test_sources_say_how_they_are_treated(settings, silence, in_files, reads_files, speed):
    assert settings.max_silence == silence
    assert settings.arrives_in_files == in_files
    assert settings.reads_local_files == reads_files
    assert settings.playback_speed == speed
    faster = settings.at_speed(8.0)
    assert faster.playback_speed == (None if speed is None else 8.0)
    assert (faster == settings) == (speed is None)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("{kind: modbus}", "setting operating_data.kind: 'modbus' is not valid; choose mqtt, "),
        (
            "{kind: opcua, endpoint: 'opc.tcp://x', speed: {node: 'i=3'}}",
            "there is no setting 'operating_data.speed'; did you mean 'operating_data.speed_rpm'?",
        ),
        (
            "{kind: mqtt, running: {topic: 'a/#'}}",
            "setting operating_data.running.topic: does not fit; of the messages, without + and #",
        ),
        ("{kind: opcua}", "setting operating_data.endpoint: is missing"),
        ("{kind: mqtt}", "setting operating_data: names no value: give the topic of running"),
    ],
)
def test_mistakes_in_operating_data_are_named(error_of, settings, sentence):
    machine = f"{{id: a, source: {{kind: pushed}}, operating_data: {settings}}}"
    assert f"machine a: {sentence}" in error_of(f"machines: [{machine}]")
