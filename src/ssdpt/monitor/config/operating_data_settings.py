"""What all kinds of sources of operating data share; each has its settings beside its class."""

from __future__ import annotations

from pydantic import Field

from ssdpt.common.plugins import PluginRegistry
from ssdpt.config.kinds import KindSettings


class OperatingDataSettings(KindSettings):
    """Where a control system reports how a machine runs. `kind` decides which other settings."""

    registry = PluginRegistry(
        "source of operating data",
        package="ssdpt.monitor.operating",
        suffix="_operating_data",
        group="ssdpt.operating_data",
    )

    max_age: float | None = Field(
        60.0,
        gt=0,
        description="seconds after which a value that was not reported again is unknown; empty = "
        "known as long as the connection lasts, for systems that report only changes",
    )
    settle_seconds: float = Field(
        10.0,
        ge=0,
        le=3600,
        description="seconds after a start in which the sound is not judged",
    )
    running_above_rpm: float | None = Field(
        None,
        ge=0,
        description="at a higher speed the machine runs, where its run state is not reported",
    )
    max_speed_rpm: float = Field(
        100_000, gt=0, description="a higher speed is not plausible and is left out"
    )
    max_load_percent: float = Field(
        200, gt=0, description="a higher load is not plausible and is left out"
    )

    @property
    def reads_local_files(self) -> bool:
        """Whether it reads files of this computer. Then it cannot be set by HTTP."""
        return False
