"""plant.yaml: what is wrong with it is told to a person, all at once."""

from __future__ import annotations

import pytest

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    ReplaySettings,
    SimulatedSettings,
    read_monitor_config,
)


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What is said of a plant file."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path.joinpath("plant.yaml").relative_to(tmp_path)

    def told(text):
        path.write_text(text)
        with pytest.raises(SsdptError) as caught:
            read_monitor_config(path)
        words = str(caught.value)
        assert words.startswith("plant.yaml: ")
        assert "\n" not in words
        return words.removeprefix("plant.yaml: ")

    return told


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        (
            "{id: a, sight: x, source: {kind: pushed}}",
            "machine a: there is no setting 'sight'; did you mean 'site'?",
        ),
        (
            "{id: a, per_week: 2, source: {kind: pushed}}",
            "machine a: there is no setting 'per_week'; did you mean 'alarm.per_week'?",
        ),
        (
            "{id: a, source: {kind: folder, path: x, speed: 2}}",
            "machine a: there is no setting 'source.speed'; there are kind, path, channel, every",
        ),
        (
            "{id: Pump 1, source: {kind: pushed}}",
            "machine Pump 1: setting id: does not fit; an id has small letters, digits, - and _, "
            "at most 64 of them",
        ),
        ("{source: {kind: pushed}}", "machine number 1: setting id: is missing"),
        ("{id: a}", "machine a: setting source: is missing"),
        ("{id: a, source: }", "machine a: setting source: is empty"),
        ("pump", "machine number 1: must be lines of `name: value`"),
        (
            "{id: a, source: {kind: dir, path: x}}",
            "machine a: setting source.kind: 'dir' is not valid; choose microphone, network, "
            "folder, replay, pushed, simulated",
        ),
        (
            "{id: a, source: {path: x}}",
            "machine a: setting source.kind: is missing; choose microphone, network, folder, "
            "replay, pushed, simulated",
        ),
        ("{id: a, source: {kind: folder}}", "machine a: setting source.path: is missing"),
        (
            "{id: a, source: {kind: pushed, every: 0}}",
            "machine a: setting source.every: must be more than 0",
        ),
        (
            "{id: a, source: {kind: pushed}, alarm: {per_week: 0.01}}",
            "machine a: setting alarm.per_week: must be at least 0.1",
        ),
        (
            "{id: a, section: 0, source: {kind: pushed}}",
            "machine a: setting section: must be text; put it in quotes",
        ),
    ],
)
def test_a_mistake_names_the_machine(told, machine, sentence):
    assert told(f"machines:\n  - {machine}\n") == sentence


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
            "output number 1: setting tls: 'ssl' is not valid; choose starttls, tls or none",
        ),
        (
            "machines: [{id: a, source: {kind: pushed}}, {id: a, source: {kind: pushed}}]",
            "two machines are called a",
        ),
    ],
)
def test_a_mistake_of_the_plant_is_told(told, text, sentence):
    assert told(text) == sentence


def test_all_mistakes_are_told_at_once(told):
    words = told(
        """
speed: fast
machines:
  - {id: pump-1, sight: Hall A, source: {kind: pushed}}
  - {id: pump-2, alarm: {per_week: 0}, source: {kind: dir}}
"""
    )
    for number, part in enumerate(
        (
            "machine pump-1: there is no setting 'sight'",
            "machine pump-2: setting source.kind",
            "machine pump-2: setting alarm.per_week",
            "setting speed: must be a number",
        ),
        1,
    ):
        assert f"({number}) {part}" in words
    words = told("{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1}")
    assert words.count("there is no setting") == 5
    assert words.endswith("; and 2 more")


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
        ("zone: UTC\nname\n", "line 2: a `:` is missing; look at the indentation"),
        ("zone: UTC\nname: 'Works\nspeed: 1\n", "line 2: a quote is not closed"),
        ("zone: UTC\nmachines: [\n", "line 2: a bracket is not closed"),
        ("name: 2026-13-45", "month must be in 1..12"),
    ],
)
def test_what_is_no_yaml_is_told_by_its_line(told, text, sentence):
    assert told(text) == f"not valid YAML: {sentence}"


def test_a_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / "plant.yaml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(SsdptError, match="not a text file; a plant file is YAML"):
        read_monitor_config(tmp_path / "plant.yaml")
    with pytest.raises(SsdptError, match="cannot be read: Is a directory"):
        read_monitor_config(tmp_path)


def test_what_is_played_keeps_to_the_clock_of_the_plant(told, tmp_path):
    replayed = "{id: uav, source: {kind: replay, path: x, speed: 10}}"
    assert told(f"machines: [{replayed}]") == (
        "machine uav plays at 10 times real time, but the plant's clock runs at 1: give both the "
        "same speed"
    )
    simulated = "{id: fan, source: {kind: simulated}}"
    assert told(f"speed: 2.5\nmachines: [{simulated}, {replayed}]").count("same speed") == 2
    pushed = MachineSettings.model_validate({"id": "c", "source": {"kind": "pushed"}})
    machines = (
        MachineSettings(id="a", source=ReplaySettings(path=tmp_path, speed=10)),
        MachineSettings(id="b", source=SimulatedSettings(speed=10)),
        pushed,
    )
    assert MonitorConfig(machines=machines, speed=10).machines == machines
