"""Where live sound comes from: sound cards, networks, folders, files, other programs.

One file `<kind>_source.py` is one kind of source, with its settings and its class. Sources of other
packages are entry points of the group `ssdpt.sources`. `base` has the contract.
"""

from __future__ import annotations

from ssdpt.monitor.config import SourceSettings
from ssdpt.monitor.sources.base import Source
from ssdpt.monitor.sources.clock import SYSTEM, Clock


def open_source(settings: SourceSettings, rate: int, clock: Clock = SYSTEM) -> Source:
    """The source that `settings` describe, giving chunks at `rate` Hz."""
    source: Source = SourceSettings.registry.load(settings.kind)(settings, rate, clock)
    return source
