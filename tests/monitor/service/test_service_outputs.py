"""Outputs of the running service: people hear of a fault, and of the service itself."""

from __future__ import annotations

import base64
import json
import socket
import time
from datetime import UTC, datetime

import pytest
import yaml
from monitors import SPEED, learn, pump

from free_ports import free_port
from receivers import WebReceiver, an_event
from ssdpt.monitor.config import MachineSettings, MonitorConfig, read_monitor_config
from ssdpt.monitor.messages import EventChanged
from ssdpt.monitor.outputs.heartbeat_output import HeartbeatOutput, HeartbeatSettings
from ssdpt.monitor.outputs.notify_output import NotifySettings
from ssdpt.monitor.outputs.webhook_output import WebhookSettings
from ssdpt.monitor.service.outputs import UnknownOutput
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.week import WEEKDAYS
from waiting import wait_until

PUSHED = MachineSettings(id="mixer", name="Mixer", source=PushedSettings())


def notify(receiver, **more):
    address = f"json://{receiver.url.removeprefix('http://')}/token"
    return NotifySettings(urls=(address,), **{"group_within": 0.0, **more})


def titles(receiver):
    return [content["title"] for content in receiver.taken]


def test_a_fault_is_told_with_its_picture_and_a_link(opened):
    with WebReceiver() as people:
        config = MonitorConfig(
            machines=(pump(fault_after=20.0),),
            speed=SPEED,
            outputs=(notify(people, level="alert"),),
            public_url="https://monitor.example/",
        )
        monitor = opened(config)
        learn(monitor)
        message = wait_until(lambda: people.taken)[0]
        event = monitor.store.events(kind="anomaly")[0]
        assert message["title"].split(": ")[:2] in (["Alert", "Pump 1"], ["Alarm", "Pump 1"])
        assert message["message"].splitlines()[-1] == f"https://monitor.example/#/event/{event.id}"
        (picture,) = message["attachments"]
        assert picture["filename"] == "pump-1.png"
        assert base64.b64decode(picture["base64"]).startswith(b"\x89PNG")
        opened.close()


def test_people_hear_when_monitoring_stops_and_how_long_it_was_away(opened, tmp_path):
    with WebReceiver() as people:
        config = MonitorConfig(name="Works", machines=(PUSHED,), outputs=(notify(people),))
        opened(config)
        opened.close()
        assert titles(people) == ["Monitoring stopped: Works"]  # nothing ran before the first start
        opened(config)
        wait_until(lambda: len(people.taken) == 2)
        assert "The service had been stopped." in people.taken[1]["message"]
        opened.close()
        last = tmp_path / "data" / "last_run.json"
        record = json.loads(last.read_text())
        last.write_text(json.dumps({"last_alive": record["last_alive"] - 1800, "stopped": False}))
        opened(config)
        wait_until(lambda: len(people.taken) == 4)
        assert titles(people)[3] == "Monitoring restarted: Works: 30 minutes without monitoring"
        assert "a crash or a power cut" in people.taken[3]["message"]
        opened.close()
        last.write_text("{")  # a power cut at a bad moment, on a bad disk
        opened(config)
        opened.close()
        assert titles(people)[4:] == ["Monitoring stopped: Works"] * 2


def test_a_sign_of_life_ends_with_the_service(opened):
    with WebReceiver() as switch:
        beat = HeartbeatSettings(url=f"{switch.url}/ping", every=5)
        monitor = opened(MonitorConfig(machines=(PUSHED,), outputs=(beat,)))
        wait_until(lambda: monitor.api.outputs()[0].sent == 1)
        monitor.loop.stop()  # it hangs
        assert monitor._outputs._outputs[0].beat() is False
        assert monitor.api.outputs()[0].message == (
            "no sign of life is sent: the monitoring loop does not run"
        )
        assert len(switch.posts) == 1


def test_a_start_is_no_failure_of_the_sign_of_life(opened, monkeypatch):
    """Where it begins before the loop, a false failure is shown and logged at every start."""
    problems = []
    monkeypatch.setattr(
        HeartbeatOutput, "start", lambda output: problems.append(output._context.problem())
    )
    beat = HeartbeatSettings(url="http://127.0.0.1:9/ping")
    opened(MonitorConfig(machines=(PUSHED,), outputs=(beat,)))
    assert problems == [""]


def test_the_page_learns_whom_an_output_is_for_and_that_it_is_quiet(opened):
    today = WEEKDAYS[datetime.now(UTC).weekday()]
    yesterday = WEEKDAYS[datetime.now(UTC).weekday() - 1]  # the test may run at midnight
    with WebReceiver() as people:
        shift = notify(people, groups=("mechanics",))
        night = notify(
            people, quiet_hours=[{"days": [yesterday, today], "from": "00:00", "to": "00:00"}]
        )
        infos = opened(MonitorConfig(machines=(PUSHED,), outputs=(shift, night))).api.outputs()
        assert [info.groups for info in infos] == [("mechanics",), ()]
        assert infos[0].quiet_until is None
        assert infos[1].quiet_until > time.time()
        opened.close()


def test_every_output_is_tested_and_one_that_hangs_gives_a_sentence(opened):
    with WebReceiver() as people, socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        config = MonitorConfig(
            machines=(PUSHED,),
            outputs=(
                notify(people),
                WebhookSettings(url=f"http://127.0.0.1:{port}/token"),
            ),
        )
        monitor = opened(config)
        result = monitor._outputs.test(1, 10.0)
        assert (result.ok, result.message) == (True, "accepted")
        assert titles(people) == ["Test: Plant"]
        hanging = monitor._outputs.test(2, 0.2)
        assert (hanging.ok, hanging.message) == (False, "cannot be reached (timed out)")
        infos = monitor.api.outputs()
        assert [(info.number, info.kind) for info in infos] == [(1, "notify"), (2, "webhook")]
        assert "token" not in json.dumps([info.model_dump() for info in infos])
        for number in (0, 3):
            with pytest.raises(UnknownOutput):
                monitor.api.test_output(number)
        opened.close()


def test_a_changed_file_replaces_outputs_and_an_old_one_is_upgraded(opened, tmp_path):
    path = tmp_path / "monitor.yaml"
    mail = {"kind": "mail", "host": "127.0.0.1", "sender": "a@example.org", "to": ["b@c.org"]}
    content = {"machines": [{"id": "mixer", "source": {"kind": "pushed"}}], "outputs": [mail]}
    path.write_text(yaml.safe_dump(content))
    monitor = opened(read_monitor_config(path), path)
    assert any("kind 'mail' is one of kind 'notify' now" in x for x in monitor.log.notes)
    assert [info.kind for info in monitor.api.outputs()] == ["notify"]
    with WebReceiver() as hook:
        content["outputs"] = [{"kind": "webhook", "url": hook.url}]
        path.write_text(yaml.safe_dump(content))
        assert monitor.reload() == ["outputs updated"]
        assert monitor.api.test_output(1).message == "answers 200"


def test_outputs_whose_settings_stay_keep_what_waits_for_their_receiver(opened, tmp_path):
    """A receiver that is away must not lose an alarm because another output was edited."""
    path, port = tmp_path / "monitor.yaml", free_port()
    away = {"kind": "webhook", "url": f"http://127.0.0.1:{port}/"}
    edited = {"kind": "heartbeat", "url": "http://127.0.0.1:9/ping", "every": 60}
    content = {"machines": [{"id": "mixer", "source": {"kind": "pushed"}}]}

    def write(*outputs):
        path.write_text(yaml.safe_dump(content | {"outputs": list(outputs)}))

    write(edited, away)
    monitor = opened(read_monitor_config(path), path)
    event = an_event("mixer")
    monitor._outputs.publish(EventChanged(event=event))
    write(away, edited | {"every": 30}, away)  # the same twice: each is an output of its own
    assert monitor.reload() == ["outputs updated"]
    infos = monitor.api.outputs()
    assert [info.kind for info in infos] == ["webhook", "heartbeat", "webhook"]
    assert [info.queued for info in infos] == [1, 0, 0]
    with WebReceiver(port=port) as receiver:
        wait_until(lambda: receiver.taken, "the alarm arrives once its receiver is back")
        wait_until(lambda: monitor.api.outputs()[0].queued == 0)
    assert [taken["id"] for taken in receiver.taken] == [event.id]
