"""Thresholds by number, for tests of what is made of them."""

from __future__ import annotations

from ssdpt.alarms.thresholds import Thresholds


def fixed_thresholds(
    *, alert: float, alarm: float, alert_exit: float, alarm_exit: float
) -> Thresholds:
    """Thresholds of a machine whose usual score is 0."""
    return Thresholds(
        alert=alert,
        alarm=alarm,
        alert_exit=alert_exit,
        alarm_exit=alarm_exit,
        usual_score=0.0,
        false_alerts_per_week=1.0,
        provisional=True,
        message="",
    )
