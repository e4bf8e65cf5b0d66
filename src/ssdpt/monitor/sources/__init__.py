"""Where live sound comes from: sound cards, networks, folders, files, other programs."""

from __future__ import annotations

from ssdpt.monitor.config import (
    FolderSettings,
    MicrophoneSettings,
    NetworkSettings,
    PushedSettings,
    ReplaySettings,
    SourceSettings,
)
from ssdpt.monitor.sources.base import Source, SourceStatus
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.folder import FolderSource
from ssdpt.monitor.sources.microphone import MicrophoneSource
from ssdpt.monitor.sources.network import NetworkSource
from ssdpt.monitor.sources.pushed import PushSource
from ssdpt.monitor.sources.replay import ReplaySource
from ssdpt.monitor.sources.simulated import SimulatedSource

__all__ = ["PushSource", "SimulatedSource", "Source", "SourceStatus", "open_source"]


def open_source(settings: SourceSettings, rate: int, clock: Clock = SYSTEM) -> Source:
    """The source that `settings` describe, giving chunks at `rate` Hz."""
    match settings:
        case MicrophoneSettings():
            return MicrophoneSource(settings, rate, clock)
        case NetworkSettings():
            return NetworkSource(settings, rate, clock)
        case FolderSettings():
            return FolderSource(settings, rate, clock)
        case ReplaySettings():
            return ReplaySource(settings, rate, clock)
        case PushedSettings():
            return PushSource(settings, rate, clock)
    return SimulatedSource(settings, rate, clock)
