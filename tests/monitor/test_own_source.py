"""The package of docs/how-to/own-source.md: its source and output are opened by kind."""

from __future__ import annotations

import json
import re
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest
import yaml

from packages import install
from receivers import an_event
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import (
    MachineSettings,
    OutputSettings,
    SourceSettings,
    read_monitor_config,
)
from ssdpt.monitor.messages import EventChanged
from ssdpt.monitor.outputs import create_output, open_output
from ssdpt.monitor.sources import open_source
from waiting import wait_until

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "own-source.md").read_text("utf-8")


def snippets(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def _fresh_registries():
    for base in (SourceSettings, OutputSettings):
        base.registry.refresh()
    yield
    for base in (SourceSettings, OutputSettings):
        base.registry.refresh()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the package, found as an installed one, and a configuration file."""
    (project,) = map(tomllib.loads, snippets("toml"))
    groups = project["project"]["entry-points"]
    install(tmp_path, monkeypatch, "ssdpt_example", groups, "\n".join(snippets("python")))
    (tmp_path / "monitor.yaml").write_text(snippets("yaml")[0])
    return tmp_path


def test_a_source_of_another_package_gives_sound(folder):
    config = read_monitor_config(folder / "monitor.yaml")
    settings = config.machines[0].source
    assert settings.kind == "tone"
    assert not settings.reads_local_files
    assert settings.max_silence == 5.0
    stop = threading.Event()
    source = open_source(settings, 16_000)
    chunks = source.chunks(stop)
    first, second = next(chunks), next(chunks)
    assert source.status.message == "a tone of 440 Hz"
    assert first.samples.dtype == np.float32
    assert second.time == pytest.approx(first.time + 0.25)
    stop.set()
    assert list(chunks) == []
    machine = config.machines[0]
    assert MachineSettings.model_validate_json(machine.model_dump_json()) == machine


def test_an_output_of_another_package_sends_events(folder):
    settings = read_monitor_config(folder / "monitor.yaml").outputs[0]
    assert create_output(settings).probe(60.0) == "folder exists (nothing written)"
    output = open_output(settings, {"fan": "Fan"})
    message = EventChanged(event=an_event("fan"))
    output.publish(message)
    wait_until(lambda: output.status.sent == 1)
    output.close()
    (line,) = (folder / "events.log").read_text().splitlines()
    assert json.loads(line)["delivery"] == message.delivery


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ({"kind": "tone", "hz": 0}, "setting source.hz: must be more than 0"),
        (
            {"kind": "tone", "herz": 5},
            "there is no setting 'source.herz'; did you mean 'source.hz'",
        ),
        ({"kind": "ton"}, "source.kind: 'ton' is not valid; choose "),
    ],
)
def test_mistakes_are_reported_as_for_all_kinds(folder, source, sentence):
    content = {"machines": [{"id": "a", "source": source}]}
    (folder / "monitor.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(SsdptError, match=re.escape(sentence)):
        read_monitor_config(folder / "monitor.yaml")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("1 / 0", "of package ssdpt_example cannot be imported (ZeroDivisionError: division by"),
        ("raise OSError('{a}\\n{b}')", "cannot be imported (OSError: {a} {b}); reinstall or"),
        ("class ToneSource: pass", "its class has no settings_class that extends SourceSettings"),
        (
            "from ssdpt.monitor.sources.pushed_source import PushedSource as ToneSource",
            "the kind of its settings_class must be 'tone' as well",
        ),
    ],
)
def test_a_source_that_cannot_be_used_is_named(tmp_path, monkeypatch, code, sentence):
    groups = {"ssdpt.sources": {"tone": "ssdpt_example:ToneSource"}}
    install(tmp_path, monkeypatch, "ssdpt_example", groups, code)
    (tmp_path / "monitor.yaml").write_text("machines: [{id: a, source: {kind: tone}}]")
    with pytest.raises(SsdptError, match=re.escape(sentence)) as caught:
        read_monitor_config(tmp_path / "monitor.yaml")
    assert "machine a: setting source.kind: the source 'tone'" in str(caught.value)
