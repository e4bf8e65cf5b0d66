"""docs/monitoring.md names every setting, state, address, metric and command; its code works."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import threading
from collections.abc import Iterator
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
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
from ssdpt.monitor.messages import STATES, Event, EventChanged
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.outputs.webhook_output import WebhookOutput, WebhookSettings
from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.store import Store
from ssdpt.server import routes
from ssdpt.server.app import create_app
from ssdpt.server.live_messages import LIVE_EVENTS
from ssdpt.server.run import listening, new_server
from ssdpt.server.settings import ServerSettings

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "monitoring.md").read_text("utf-8")

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


def _part(title: str, level: int = 3) -> str:
    """What stands below a heading of the page."""
    rest = PAGE.split(f"\n{'#' * level} {title}\n")[1]
    return re.split(rf"\n#{{2,{level}}} ", rest)[0]


def test_page_has_every_setting_with_its_default() -> None:
    for title, model in SECTIONS.items():
        rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", _part(title), re.MULTILINE)
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


def test_page_has_every_state_and_address() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", _part("States", 2), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(STATES)
    documented = re.findall(r"`((?:GET|POST|PUT|DELETE) /\S*?)`", _part("HTTP API", 2))
    modules = [module for module in vars(routes).values() if hasattr(module, "router")]
    served = {
        f"{method} {route.path}"
        for module in modules
        for route in module.router.routes
        for method in getattr(route, "methods", ())
        if method != "HEAD"
    }
    assert set(documented) == served


def test_page_shows_every_field_of_an_event() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", _part("An event"), re.DOTALL)
    shown = json.loads(text)
    event = Event(**{name: shown[name] for name in Event.model_fields})
    assert json.loads(event.model_dump_json()) == shown


def test_page_has_every_event_of_the_live_stream() -> None:
    names = re.findall(r"^\| `(\w+)` \|", _part("The live stream"), re.MULTILINE)
    assert sorted(names) == sorted(LIVE_EVENTS)


def test_page_has_every_metric() -> None:
    sent = set(re.findall(r"^# TYPE (\w+) ", Metrics().text().decode(), re.MULTILINE))
    documented = set(re.findall(r"`(ssdpt_\w+)`", _part("Prometheus and Grafana")))
    assert documented == {name for name in sent if not name.endswith("_created")}


def _commands() -> Iterator[str]:
    """Everything on the page and in what is deployed that begins with `ssdpt` and a command."""
    unit = (ROOT / "deploy" / "ssdpt.service").read_text("utf-8")
    example = (ROOT / "deploy" / "monitor.yaml").read_text("utf-8")
    for text in (PAGE, unit, example):
        for code in re.findall(r"`([^`\n]+)`|^ {4}(.+)$|^ExecStart=(.+)$", text, re.MULTILINE):
            yield from re.findall(r"(?:^|[\s/])ssdpt ([a-z]+\b[^'|;]*)", "".join(code))
    started = re.findall(r"^CMD (.+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    yield shlex.join(json.loads(started[0]))
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    yield shlex.join(compose["services"]["ssdpt"]["command"])


def test_commands_and_options_that_are_named_exist() -> None:
    commands = sorted(set(_commands()))
    assert len(commands) > 10
    for text in commands:
        here: Any = typer.main.get_command(app)
        arguments = shlex.split(text)
        while hasattr(here, "commands"):
            assert arguments[0] in here.commands, text
            here = here.commands[arguments.pop(0)]
        options = {option for parameter in here.params for option in parameter.opts}
        assert {argument for argument in arguments if argument.startswith("-")} <= options, text


def _snippet(word: str) -> str:
    (code,) = [code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if word in code]
    return code


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
    exec(compile(_snippet("X-Ssdpt-Signature"), "monitoring.md", "exec"), names)
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
    commands = re.findall(r"^ {4}ssdpt (history .+)$", PAGE, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert cli(*shlex.split(command)).code == 0
    with Store.open("sqlite:///ssdpt-restored/ssdpt.db", Path("ssdpt-restored")) as store:
        assert store.event(_event().id) == _event()
        kept = store.attachment(_event().id, "audio")
        assert kept is not None
        assert kept.read_bytes() == b"sound"


@pytest.mark.full
def test_curl_examples_are_answered(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", 0.1 * np.ones(16000, np.float32), 16000)
    wanted = MachineSettings(id="press-1", source=PushedSettings())
    settings = ServerSettings(port=0)
    with Store.open(f"sqlite:///{tmp_path}/s.db", tmp_path, writer=True) as store:
        store.add_user("anna", "admin", "correct horse")
        store.save_event(_event())
        monitor = MonitorService(MonitorConfig(machines=(wanted,)), store, tmp_path)
        monitor.start()
        with listening(settings) as listener:
            server = new_server(create_app(monitor.api, store, settings), settings)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            place = f"http://127.0.0.1:{listener.getsockname()[1]}"
            environment = {
                **os.environ,
                "TOKEN": store.new_token("anna", None),
                "EVENT": _event().id,
            }
            try:
                lines = [line for line in PAGE.splitlines() if line.startswith("curl ")]
                assert len(lines) > 5
                for line in lines:
                    asked = line.replace("curl ", "curl --silent --show-error --fail ", 1)
                    done = subprocess.run(
                        ["/bin/sh", "-c", asked.replace("http://127.0.0.1:8765", place)],
                        cwd=tmp_path,
                        env=environment,
                        capture_output=True,
                        text=True,
                        timeout=60,
                    )
                    # The live stream has no end but the time that curl was given.
                    assert done.returncode == (28 if "--max-time" in line else 0), done.stderr
            finally:
                server.should_exit = True
                thread.join(60)
                monitor.stop()
        event = store.event(_event().id)
        assert event is not None
        assert event.acknowledged is not None
        assert event.acknowledged.who == "anna"
    assert "press-1" in (tmp_path / "events.csv").read_text("utf-8")
