"""What a user can set of the way from scores to alert and alarm."""

from __future__ import annotations

from pydantic import Field

from ssdpt.config.settings import Settings


class AlarmSettings(Settings):
    """From scores to alert and alarm."""

    per_week: float = Field(
        1.0, ge=0.1, le=10080, description="false alarms a machine and week that are put up with"
    )
    smoothing: float = Field(10.0, ge=0, description="seconds that scores are averaged over")
    exit_share: float = Field(
        0.8, gt=0, le=1, description="a level is left at this part of the way from normal to it"
    )
    shortest: float = Field(3.0, ge=0, description="seconds above a limit until it counts")
    settle: float = Field(10.0, ge=0, description="seconds below a limit until it is over")
    off_below_dbfs: float | None = Field(
        None, le=0, description="quieter than this is switched off; empty = learnt"
    )
