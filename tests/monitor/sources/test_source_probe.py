"""Opening the sources and outputs of a plant for a moment."""

from __future__ import annotations

import socket
import threading

import numpy as np
import pytest
from hand_clock import tone

from receivers import free_port
from sounds import write_clip
from ssdpt.monitor.config import (
    FolderSettings,
    MachineSettings,
    MailSettings,
    MonitorConfig,
    NetworkSettings,
    PushedSettings,
    ReplaySettings,
    SimulatedSettings,
    WebhookSettings,
)
from ssdpt.monitor.service import check as probe
from ssdpt.monitor.service.check import Found, probe_config


def plant_of(*sources, outputs=()):
    machines = [MachineSettings(id=f"m{n}", source=source) for n, source in enumerate(sources)]
    return MonitorConfig(machines=machines, outputs=outputs)


def found_of(source, **limit):
    (found,) = probe_config(plant_of(source), **limit)
    assert found.name == "m0"
    return found


def test_a_recording_is_heard_with_its_rate_and_level(tmp_path):
    frames = np.stack([tone(300, 2, 44_100, 0.01), np.zeros(88_200, np.float32)], axis=1)
    path = write_clip(tmp_path / "a.wav", frames, rate=44_100)
    found = found_of(ReplaySettings(path=path))
    assert found == Found("m0", "playing a.wav, 44100 Hz, sound arrives at -40 dBFS", True)
    found = found_of(ReplaySettings(path=path, channel=1))
    assert found == Found("m0", "playing a.wav, 44100 Hz, but only silence arrives", True)
    found = found_of(ReplaySettings(path=path, channel=2))
    assert not found.well
    assert "there is no channel 2" in found.words


def test_a_recording_that_is_shorter_than_a_second_is_heard(tmp_path):
    path = write_clip(tmp_path / "a.wav", tone(300, 0.3, 16_000, 0.01))
    assert "sound arrives at -40 dBFS" in found_of(ReplaySettings(path=path)).words


@pytest.mark.parametrize(
    ("kind", "words"),
    [(ReplaySettings, "there is no such file or folder"), (FolderSettings, "cannot be listed")],
)
def test_what_is_not_there_is_told(tmp_path, kind, words):
    found = found_of(kind(path=tmp_path / "none"))
    assert not found.well
    assert found.words.startswith(f"{tmp_path / 'none'}: {words}")


def test_a_folder_need_not_hold_sound_and_nobody_need_send(tmp_path):
    assert found_of(FolderSettings(path=tmp_path)) == Found("m0", f"watching {tmp_path}", True)
    assert found_of(PushedSettings()) == Found("m0", "waiting for the first sound", True)
    path = write_clip(tmp_path / "a.wav", tone(300, 1, 16_000))
    assert "is a file" in found_of(FolderSettings(path=path)).words


def test_a_simulated_machine_is_heard():
    found = found_of(SimulatedSettings(machine="fan"), limit=60.0)
    assert found.well
    assert found.words.startswith("simulated fan 00")


def test_a_camera_that_is_not_there_is_told_without_its_password():
    found = found_of(NetworkSettings(url=f"rtsp://me:secret@127.0.0.1:{free_port()}/x"))
    assert not found.well
    assert "connection refused" in found.words
    assert "…@127.0.0.1" in found.words
    assert "secret" not in found.words


def test_a_camera_that_says_nothing_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"rtsp://127.0.0.1:{silent.getsockname()[1]}/x"
        found = found_of(NetworkSettings(url=url, timeout=600), limit=0.5)
    assert found == Found("m0", "nothing came within 0.5 s", False)


def test_all_are_opened_at_once_and_told_in_the_order_of_the_file(monkeypatch):
    together = threading.Barrier(3, timeout=30)

    class Waiting:
        status = None

        def __init__(self, *_):
            pass

        def once(self, stop):
            together.wait()
            raise ValueError("a text that might hold a password")

    monkeypatch.setattr(probe, "open_source", Waiting)
    found = list(probe_config(plant_of(*[PushedSettings()] * 3), limit=60.0))
    assert found == [Found(f"m{n}", "cannot be opened (ValueError)", False) for n in range(3)]


def test_outputs_are_named_by_their_place_and_hold_no_secret(tmp_path):
    hook = WebhookSettings(url=f"http://127.0.0.1:{free_port()}/secret")
    mail = MailSettings(
        **{"host": "mail.example", "sender": "a@b", "to": ("c@d",), "user": "ann"},
        password_file=tmp_path / "none",
    )
    reached, unread = probe_config(plant_of(outputs=(hook, mail)))
    assert reached.name == hook.url.removesuffix("/secret").replace("http", "webhook http")
    assert not reached.well
    assert "refused" in reached.words
    assert (unread.name, unread.well) == ("mail", False)
    assert "the secret in it cannot be read" in unread.words
