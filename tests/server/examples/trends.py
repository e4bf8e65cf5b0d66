"""Scores and levels over time."""

from __future__ import annotations

from examples.machines import EDGES, TIME
from ssdpt.server.schemas import BandTrendReply, TrendReply


def trend():
    return TrendReply(
        seconds_per_point=1.0,
        time=(TIME - 2, TIME - 1),
        low=(0.9, float("nan")),
        mean=(1.0, float("nan")),
        high=(1.1, float("nan")),
        state=("normal", "off"),
        alert_seconds=(0.0, 0.0),
        alarm_seconds=(0.0, 0.0),
    )


def band_trend():
    nan = float("nan")
    return BandTrendReply(
        seconds_per_point=1.0,
        edges_hz=EDGES,
        time=(TIME - 2, TIME - 1),
        level_dbfs=(-38.0, -36.5),
        levels=((-48.0, -50.0, -52.0), (-41.0, nan, -52.0)),
    )
