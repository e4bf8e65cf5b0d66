"""The sound cards of this computer: the package sounddevice over PortAudio, or why they are not."""

from __future__ import annotations

import importlib
from typing import Any

from ssdpt.errors import SsdptError


def sounddevice() -> Any:
    """The package, where it and the library under it are installed."""
    try:
        return importlib.import_module("sounddevice")
    except ImportError as error:
        raise SsdptError(
            "a microphone needs the package sounddevice; install it with: pip install 'ssdpt[live]'"
        ) from error
    except OSError as error:
        raise SsdptError(
            "a microphone needs the PortAudio library; install it (Debian, Ubuntu: "
            "sudo apt install libportaudio2; macOS: brew install portaudio)"
        ) from error
