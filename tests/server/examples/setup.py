"""Setting up machines: definitions, sources on trial, microphones."""

from __future__ import annotations

from examples.sound import spectrogram
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.setup_messages import MachineDefinition, Microphone, Microphones, TrialStatus

TRIAL = "3f2a"


def definition(id="fan-1", **changes):
    settings = MachineSettings(id=id, name="Fan 1", source={"kind": "pushed"})
    fields = {"defined_in": "page", "file": "monitor.yaml", "also_on_page": False}
    return MachineDefinition(settings=settings, **fields | changes)


def trial(**changes):
    fields = {
        "connected": True,
        "message": "sound arrives",
        "level_dbfs": -31.0,
        "sample_rate": 16000,
        "listening": "possible",
    }
    return TrialStatus(id=TRIAL, spectrogram=spectrogram(), **fields | changes)


def microphones():
    microphone = Microphone(
        device="USB Audio", name="USB Audio", channels=2, sample_rate=48000, is_default=True
    )
    return Microphones(microphones=(microphone,), problem="")
