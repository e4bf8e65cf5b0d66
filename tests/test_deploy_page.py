"""The pages on live monitoring name every setting, state, address, metric and command."""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Iterator
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.cli import app
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    OutputSettings,
    RetentionSettings,
    SensorSettings,
    SourceSettings,
)
from ssdpt.monitor.messages import STATES, Comment, Event, EventChanged
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.outputs.webhook_output import WebhookOutput, WebhookSettings
from ssdpt.monitor.store import Store
from ssdpt.server.access_rules import access_rules
from ssdpt.server.app import create_api
from ssdpt.server.live_messages import LIVE_EVENTS

ROOT = Path(__file__).parents[1]
HOW_TO, REFERENCE = ROOT / "docs" / "how-to", ROOT / "docs" / "reference"
SETTINGS = (REFERENCE / "monitor-settings.md").read_text("utf-8")
EVENTS = (REFERENCE / "states-and-events.md").read_text("utf-8")
API = (REFERENCE / "http-api.md").read_text("utf-8")
NOTIFICATIONS = (HOW_TO / "notifications.md").read_text("utf-8")
WEBHOOKS = (HOW_TO / "webhooks.md").read_text("utf-8")
PROMETHEUS = (HOW_TO / "prometheus.md").read_text("utf-8")
BACKUP = (HOW_TO / "backup.md").read_text("utf-8")
# Outputs that have a page of their own: the heading above their settings.
ON_THEIR_PAGE = {
    "Output: notify": "Messages to people",
    "Output: heartbeat": "When the service itself stops",
}

SECTIONS: dict[str, type[BaseModel]] = {
    "The whole file": MonitorConfig,
    "A machine": MachineSettings,
    "Sensor": SensorSettings,
    "Alarm": AlarmSettings,
    "Retention": RetentionSettings,
    **{
        f"{title}: {kind}": base.class_for(kind)
        for title, base in (("Source", SourceSettings), ("Output", OutputSettings))
        for kind in base.registry.names()
    },
}


def _part(page: str, title: str) -> str:
    """What stands below a heading of a page."""
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_page_has_every_setting_with_its_default() -> None:
    for title, model in SECTIONS.items():
        if title in ON_THEIR_PAGE:
            part = _part(NOTIFICATIONS, ON_THEIR_PAGE[title]).partition("\n### ")[0]
        else:
            part = _part(SETTINGS, title)
        rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", part, re.MULTILINE)
        fields = {name: f.default for name, f in model.model_fields.items() if name != "kind"}
        assert dict(rows) == {name: _shown(value) for name, value in fields.items()}, title


def _shown(value: Any) -> str:
    if value is PydanticUndefined:
        return "required"
    if value in (None, "", ()):
        return "empty"
    if isinstance(value, BaseModel):
        return "as below"
    return json.dumps(value) if isinstance(value, bool) else f"{value}".removesuffix(".0")


def test_page_has_every_state() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", _part(EVENTS, "States"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(STATES)


def test_page_has_every_address_with_its_role() -> None:
    rows = re.findall(r"^\| (`[A-Z]+ /.+?) \| (\w+) \|", API, re.MULTILINE)
    documented = [
        (address, role) for cell, role in rows for address in re.findall(r"`([A-Z]+ /\S*?)`", cell)
    ]
    assert len(documented) == len(dict(documented))
    assert dict(documented) == {
        f"{rule.method} {rule.path}": rule.role or "anyone" for rule in access_rules(create_api())
    }


def test_page_shows_every_field_of_an_event() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", _part(EVENTS, "An event"), re.DOTALL)
    shown = json.loads(text)
    fields = {name: shown[name] for name in Event.model_fields}
    # What is computed is shown, but not given.
    fields["comments"] = [
        {name: comment[name] for name in Comment.model_fields} for comment in shown["comments"]
    ]
    event = Event(**fields)
    assert json.loads(event.model_dump_json()) == shown


def test_page_has_every_event_of_the_live_stream() -> None:
    names = re.findall(r"^\| `(\w+)` \|", _part(API, "The live stream"), re.MULTILINE)
    assert sorted(names) == sorted(LIVE_EVENTS)


def test_page_has_every_metric() -> None:
    sent = set(re.findall(r"^# TYPE (\w+) ", Metrics().text().decode(), re.MULTILINE))
    documented = set(re.findall(r"`(ssdpt_\w+)`", PROMETHEUS))
    assert documented == {name for name in sent if not name.endswith("_created")}


def _commands() -> Iterator[str]:
    """Everything in what is deployed that begins with `ssdpt` and a command."""
    unit = (ROOT / "deploy" / "ssdpt.service").read_text("utf-8")
    example = (ROOT / "deploy" / "monitor.yaml").read_text("utf-8")
    for text in (unit, example):
        for code in re.findall(r"`([^`\n]+)`|^ {4}(.+)$|^ExecStart=(.+)$", text, re.MULTILINE):
            yield from re.findall(r"(?:^|[\s/])ssdpt ([a-z]+\b[^'|;]*)", "".join(code))
    started = re.findall(r"^CMD (.+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    yield shlex.join(json.loads(started[0]))
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    yield shlex.join(compose["services"]["ssdpt"]["command"])


def test_commands_and_options_that_are_named_exist() -> None:
    commands = sorted(set(_commands()))
    assert len(commands) >= 3
    for text in commands:
        here: Any = typer.main.get_command(app)
        arguments = shlex.split(text)
        while hasattr(here, "commands"):
            assert arguments[0] in here.commands, text
            here = here.commands[arguments.pop(0)]
        options = {option for parameter in here.params for option in parameter.opts}
        assert {argument for argument in arguments if argument.startswith("-")} <= options, text


def _event(number: int = 0) -> Event:
    return Event(
        id=f"{number:032x}",
        machine="press-1",
        kind="anomaly",
        level="alarm",
        began=1.79e9,
        message="unusual sound",
    )


def test_webhook_snippet_takes_our_messages_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("webhook_key").write_text("right key\n", "utf-8")
    Path("wrong_key").write_text("wrong key\n", "utf-8")
    names: dict[str, Any] = {"__name__": "receiver"}
    (code,) = re.findall(r"```python .*?\n(.*?)```", WEBHOOKS, re.DOTALL)
    exec(compile(code, "webhooks.md", "exec"), names)
    server = HTTPServer(("127.0.0.1", 0), names["Receiver"])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for key, sent, failed in (("webhook_key", 2, 0), ("wrong_key", 0, 1)):
            settings = WebhookSettings(
                url=f"http://127.0.0.1:{server.server_port}/", secret_file=Path(key)
            )
            output = WebhookOutput(settings)
            output.start()
            change = EventChanged(event=_event())
            for message in [change] * (sent or failed):  # a repeated delivery is printed once
                output.publish(message)
            output.close()
            assert (output.status.sent, output.status.failed) == (sent, failed)
    finally:
        server.shutdown()
        server.server_close()
    assert capsys.readouterr().out == "press-1 alarm active unusual sound\n"


def test_backup_commands_bring_everything_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("sqlite:///ssdpt-data/ssdpt.db", Path("ssdpt-data")) as store:
        store.save_event(_event())
        store.attach(_event().id, "audio", b"sound", ".flac")
    commands = re.findall(r"^ssdpt (history .+)$", BACKUP, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert cli(*shlex.split(command)).code == 0
    with Store.open("sqlite:///ssdpt-restored/ssdpt.db", Path("ssdpt-restored")) as store:
        assert store.event(_event().id) == _event()
        kept = store.attachment(_event().id, "audio")
        assert kept is not None
        assert kept.read_bytes() == b"sound"
