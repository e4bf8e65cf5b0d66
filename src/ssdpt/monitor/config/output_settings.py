"""What all kinds of outputs share; each kind has its settings beside its class."""

from __future__ import annotations

from ssdpt.common.plugins import PluginRegistry
from ssdpt.config.kinds import KindSettings


class OutputSettings(KindSettings):
    """Who is notified, and how. `kind` decides which other settings there are."""

    registry = PluginRegistry(
        "output", package="ssdpt.monitor.outputs", suffix="_output", group="ssdpt.outputs"
    )
