"""Where live sound comes from: sound cards, networks, folders, files, other programs.

One file `<kind>_source.py` is one kind of source, with its settings and its class. Sources of other
packages are entry points of the group `ssdpt.sources`. `base` has the contract.
"""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings, SourceSettings
from ssdpt.monitor.sources.base import Source
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.snapshot import SnapshotSource
from ssdpt.sentences import Sentence


def open_source(settings: SourceSettings, rate: int, clock: Clock = SYSTEM) -> Source:
    """The source that `settings` describe, giving chunks at `rate` Hz."""
    source: Source = SourceSettings.registry.load(settings.kind)(settings, rate, clock)
    return source


def open_snapshots(
    settings: SourceSettings, sensor: SensorSettings, clock: Clock = SYSTEM
) -> SnapshotSource:
    """The source of snapshots that `settings` describe."""
    plugin = SourceSettings.registry.load(settings.kind)
    snapshot_class = plugin if issubclass(plugin, SnapshotSource) else plugin.snapshot_class
    if snapshot_class is None:
        raise SsdptError(Sentence("sources.noSnapshots", kind=settings.kind))
    source: SnapshotSource = snapshot_class(settings, sensor, clock)
    return source
