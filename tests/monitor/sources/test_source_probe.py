"""Checking a configuration: all sources and outputs are opened for a moment."""

from __future__ import annotations

import socket
import threading

import numpy as np
import pytest
from hand_clock import tone

from free_ports import free_port
from sounds import write_clip
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.outputs.notify_output import NotifySettings
from ssdpt.monitor.outputs.webhook_output import WebhookSettings
from ssdpt.monitor.service import check
from ssdpt.monitor.service.check import CheckResult, check_connections
from ssdpt.monitor.sources.folder_source import FolderSettings
from ssdpt.monitor.sources.network_source import NetworkSettings
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.sources.replay_source import ReplaySettings
from ssdpt.monitor.sources.simulated_source import SimulatedSettings


def config_of(*sources, outputs=()):
    machines = [MachineSettings(id=f"m{n}", source=source) for n, source in enumerate(sources)]
    return MonitorConfig(machines=machines, outputs=outputs)


def result_of(source, limit=60.0):
    (result,) = check_connections(config_of(source), limit=limit)
    assert result.name == "m0"
    return result


def test_a_recording_is_received_with_its_rate_and_level(tmp_path):
    frames = np.stack([tone(300, 2, 44_100, 0.01), np.zeros(88_200, np.float32)], axis=1)
    path = write_clip(tmp_path / "a.wav", frames, rate=44_100)
    result = result_of(ReplaySettings(path=path))
    assert result == CheckResult("m0", "playing a.wav, 44100 Hz, sound arrives at -40 dBFS", True)
    result = result_of(ReplaySettings(path=path, channel=1))
    assert result == CheckResult("m0", "playing a.wav, 44100 Hz, but only silence arrives", True)
    result = result_of(ReplaySettings(path=path, channel=2))
    assert not result.ok
    assert "there is no channel 2" in result.message


def test_a_recording_that_is_shorter_than_a_second_is_received(tmp_path):
    path = write_clip(tmp_path / "a.wav", tone(300, 0.3, 16_000, 0.01))
    assert "sound arrives at -40 dBFS" in result_of(ReplaySettings(path=path)).message


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [(ReplaySettings, "there is no such file or folder"), (FolderSettings, "cannot be listed")],
)
def test_what_is_not_there_is_reported(tmp_path, kind, sentence):
    result = result_of(kind(path=tmp_path / "none"))
    assert not result.ok
    assert result.message.startswith(f"{tmp_path / 'none'}: {sentence}")


def test_a_folder_need_not_hold_sound_and_nobody_need_send(tmp_path):
    assert result_of(FolderSettings(path=tmp_path)) == CheckResult(
        "m0", f"watching {tmp_path}", True
    )
    assert result_of(PushedSettings()) == CheckResult("m0", "waiting for the first sound", True)
    path = write_clip(tmp_path / "a.wav", tone(300, 1, 16_000))
    assert "is a file" in result_of(FolderSettings(path=path)).message


def test_a_simulated_machine_is_received():
    result = result_of(SimulatedSettings(machine="fan"), limit=60.0)
    assert result.ok
    assert result.message.startswith("simulated fan 00")


def test_a_camera_that_is_not_there_is_reported_without_its_password():
    result = result_of(NetworkSettings(url=f"rtsp://me:secret@127.0.0.1:{free_port()}/x"))
    assert not result.ok
    assert "connection refused" in result.message
    assert "…@127.0.0.1" in result.message
    assert "secret" not in result.message


def test_a_camera_that_says_nothing_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"rtsp://127.0.0.1:{silent.getsockname()[1]}/x"
        result = result_of(NetworkSettings(url=url, timeout=600), limit=0.5)
    assert result == CheckResult("m0", "no answer within 0.5 s", False)


def test_all_are_opened_at_once_and_reported_in_the_order_of_the_file(monkeypatch):
    together = threading.Barrier(3, timeout=30)

    class Waiting:
        status = None

        def __init__(self, *_):
            pass

        def chunks_once(self, stop):
            together.wait()
            raise ValueError("a text that might hold a password")

    monkeypatch.setattr(check, "open_source", Waiting)
    results = list(check_connections(config_of(*[PushedSettings()] * 3), limit=60.0))
    assert results == [
        CheckResult(f"m{n}", "cannot be opened (ValueError)", False) for n in range(3)
    ]


def test_outputs_are_named_by_their_place_and_hold_no_secret(tmp_path):
    hook = WebhookSettings(url=f"http://127.0.0.1:{free_port()}/secret")
    mail = NotifySettings(
        urls=("mailto://ann:{password}@mail.example",), password_file=tmp_path / "none"
    )
    reached, unread = check_connections(config_of(outputs=(hook, mail)))
    assert reached.name == hook.url.removesuffix("/secret").replace("http", "webhook http")
    assert not reached.ok
    assert "refused" in reached.message
    assert (unread.name, unread.ok) == ("notify", False)
    assert "the secret cannot be read" in unread.message
