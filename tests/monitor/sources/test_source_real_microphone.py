"""A microphone through PortAudio: the monitor of a PulseAudio sink that plays a tone."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hand_clock import tone

from sounds import write_clip
from waiting import wait_until

pytestmark = pytest.mark.needs_sound

# In a process of its own: PortAudio finds its devices once, when it starts.
LISTEN = """
import json, sys, threading
from hand_clock import Listener, amplitude, ends_meet, joined, loudest_hz
from ssdpt.monitor.sources.microphone_source import MicrophoneSettings
from ssdpt.monitor.sources import open_source

source = open_source(MicrophoneSettings(device="pulse", channel=1), 16000)
with Listener(source) as listener:
    for line in sys.stdin:
        last = listener.chunks[-8:]
        if len(last) == 8:
            samples = joined(last)
            answer = {"hz": loudest_hz(samples, 16000), "level": amplitude(samples, 1000, 16000)}
        else:
            answer = {}
        answer |= {
            "connected": source.status.connected,
            "message": source.status.message,
            "reconnects": source.status.reconnects,
            "channels_in": source.status.channels_in,
            "seconds": listener.seconds,
            "gap": max([chunk.gap for chunk in listener.chunks], default=0.0),
            "end": listener.chunks[-1].time + 0.25 if listener.chunks else 0.0,
            "error": str(listener.error or ""),
        }
        print(json.dumps(answer), flush=True)
"""


class SoundServer:
    """A PulseAudio of our own with one silent sink."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = os.environ | {
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "PULSE_RUNTIME_PATH": str(folder),
            "PULSE_SERVER": f"unix:{folder}/native",
            "PULSE_SOURCE": "hall.monitor",
            "PULSE_SINK": "hall",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        self.processes = []

    def start(self):
        server = self.run(
            "pulseaudio",
            "-n",
            "--daemonize=no",
            "--use-pid-file=no",
            "--exit-idle-time=-1",
            "--disable-shm=yes",
            f"--load=module-native-protocol-unix socket={self.folder}/native auth-anonymous=1",
            "--load=module-null-sink sink_name=hall rate=48000",
        )
        wait_until(lambda: self.call("pactl", "info") == 0)
        return server

    def run(self, *command, **pipes):
        defaults = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        process = subprocess.Popen(command, env=self.environment, **{**defaults, **pipes})
        self.processes.append(process)
        return process

    def call(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True).returncode

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.communicate()


@pytest.fixture
def server(tmp_path):
    server = SoundServer(tmp_path)
    yield server
    server.close()


def test_a_tone_is_received_and_received_again_after_the_server_was_gone(server, tmp_path):
    frames = [[0.0, sample] for sample in tone(1000, 60, 48_000)]
    path = write_clip(tmp_path / "tone.wav", frames, rate=48_000)
    sound = server.start()
    server.run("paplay", str(path))
    pipe = subprocess.PIPE
    listener = server.run(sys.executable, "-c", LISTEN, stdin=pipe, stdout=pipe, text=True)

    def ask():
        listener.stdin.write("\n")
        listener.stdin.flush()
        return json.loads(listener.stdout.readline())

    def tone_arrives():
        now = ask()
        assert not now["error"]
        return now["connected"] and abs(now.get("level", 0) - 0.25) < 0.01

    wait_until(tone_arrives)
    now = ask()
    assert now["hz"] == pytest.approx(1000, abs=1)
    assert now["channels_in"] >= 2
    assert now["gap"] == 0

    sound.kill()
    sound.wait()
    wait_until(lambda: not ask()["connected"])
    assert "retrying" in ask()["message"]

    server.start()
    server.run("paplay", str(path))
    wait_until(lambda: ask()["gap"] > 1 and tone_arrives())
    assert ask()["reconnects"] == 1


def test_the_microphones_to_choose_from_can_be_recorded(server):
    server.start()
    program = (
        "import json\n"
        "from ssdpt.monitor.sources.microphones import microphones\n"
        "print(json.dumps([each.model_dump() for each in microphones()]))"
    )
    listing = subprocess.run(
        [sys.executable, "-c", program],
        env=server.environment,
        capture_output=True,
        check=True,
        text=True,
    )
    listed = {each["device"]: each for each in json.loads(listing.stdout)}
    assert listed["pulse"]["channels"] >= 2
    assert sum(each["is_default"] for each in listed.values()) == 1
