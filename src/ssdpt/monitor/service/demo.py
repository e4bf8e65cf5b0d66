"""A demo: simulated machines that run live, one of which fails within a minute."""

from __future__ import annotations

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.sources.simulated_source import SimulatedSettings

NORMAL_CLIPS = 30  # of which each machine learns its baseline: five minutes
_SEED = 7

# Name, simulated machine type, section, site, what happens to it.
_MACHINES: tuple[tuple[str, str, int, str, dict[str, float]], ...] = (
    ("Coolant pump 1", "pump", 0, "Hall A", {"fault_after": 30.0}),
    ("Coolant pump 2", "pump", 1, "Hall A", {}),
    ("Extraction fan", "fan", 0, "Hall A", {"change_every": 60.0}),
    ("Conveyor gearbox", "gearbox", 1, "Hall B", {}),
    ("Inlet valve", "valve", 0, "Hall B", {}),
    ("Door slide rail", "slider", 0, "Hall B", {"off_after": 60.0}),
)


def demo_config(speed: float = 1.0) -> MonitorConfig:
    """Six machines.

    A fault grows in the first after some seconds, the last is switched off, and the fan goes from
    one operating point to the other.
    """
    machines = tuple(
        MachineSettings(
            id=name.lower().replace(" ", "-"),
            name=name,
            site=site,
            source=SimulatedSettings(
                machine=kind, section=section, seed=_SEED, speed=speed, **happens
            ),
            alarm=AlarmSettings(),
        )
        for name, kind, section, site, happens in _MACHINES
    )
    return MonitorConfig(name="Demo plant", machines=machines, speed=speed)
