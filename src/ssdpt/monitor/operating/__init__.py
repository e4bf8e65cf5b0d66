"""Operating data: run state, speed and load of a machine, as its control system reports them.

One file `<kind>_operating_data.py` is one way that they come, with its settings and its class.
Those of other packages are entry points of the group `ssdpt.operating_data`. `base` has the
contract.
"""

from __future__ import annotations

from ssdpt.monitor.config import OperatingDataSettings
from ssdpt.monitor.operating.base import OperatingDataSource
from ssdpt.monitor.sources.clock import SYSTEM, Clock


def open_operating_data(
    settings: OperatingDataSettings, clock: Clock = SYSTEM
) -> OperatingDataSource:
    """The source of operating data that `settings` describe; it is not started."""
    plugin = OperatingDataSettings.registry.load(settings.kind)
    source: OperatingDataSource = plugin(settings, clock)
    return source
