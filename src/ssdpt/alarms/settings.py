"""What a user can set of the way from scores to alert and alarm."""

from __future__ import annotations

from pydantic import Field

from ssdpt.config.settings import Settings

# Of every place where false alerts per week are set: the configuration file and the API.
FEWEST_FALSE_ALERTS, MOST_FALSE_ALERTS = 0.1, 10080.0


class AlarmSettings(Settings):
    """From scores to alert and alarm."""

    false_alerts_per_week: float = Field(
        1.0,
        ge=FEWEST_FALSE_ALERTS,
        le=MOST_FALSE_ALERTS,
        description="false alerts per machine and week that are acceptable",
    )
    smoothing: float = Field(10.0, ge=0, description="seconds over which scores are averaged")
    exit_share: float = Field(
        0.8,
        gt=0,
        le=1,
        description="a level ends below this part of the way from the usual score to its threshold",
    )
    min_duration: float = Field(
        3.0, ge=0, description="seconds above a threshold before the level begins"
    )
    clear_after: float = Field(
        10.0, ge=0, description="seconds below the exit threshold before the level ends"
    )
    rejoin_within: float = Field(
        600.0,
        ge=0,
        description="seconds of running after an event in which a further anomaly is the same "
        "event; 0 = always another one",
    )
    off_below_dbfs: float | None = Field(
        None, le=0, description="a quieter machine is switched off; empty = learned"
    )
