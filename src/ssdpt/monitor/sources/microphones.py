"""The microphones of this computer, for people to choose from."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ssdpt.data.portaudio import sounddevice
from ssdpt.monitor.setup_messages import Microphone
from ssdpt.monitor.sources.microphone_source import search_again


def microphones() -> tuple[Microphone, ...]:
    """All devices that can record; SsdptError where that cannot be known."""
    audio = sounddevice()
    search_again(audio)
    devices = [
        (number, device)
        for number, device in enumerate(audio.query_devices())
        if device["max_input_channels"] > 0
    ]
    names = Counter(device["name"] for _, device in devices)
    default = _default(audio)
    return tuple(
        Microphone(
            # A name outlives a restart of the computer, a number may not.
            device=device["name"] if names[device["name"]] == 1 else str(number),
            name=device["name"],
            channels=device["max_input_channels"],
            sample_rate=int(device["default_samplerate"]),
            is_default=number == default,
        )
        for number, device in devices
    )


def _default(audio: Any) -> int | None:
    """Number of the device that is used where none is named."""
    try:
        return int(audio.query_devices(None, "input")["index"])
    except (audio.PortAudioError, ValueError):
        return None
