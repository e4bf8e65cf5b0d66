"""The sound cards of this computer: the package sounddevice over PortAudio, or why they are not."""

from __future__ import annotations

import importlib
from typing import Any

from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence


def sounddevice() -> Any:
    """The package, where it and the library under it are installed."""
    try:
        return importlib.import_module("sounddevice")
    except ImportError as error:
        raise SsdptError(Sentence("sources.needsSounddevice")) from error
    except OSError as error:
        raise SsdptError(Sentence("sources.needsPortaudio")) from error
