"""Scores at which a level begins and ends, from how often a false alarm is put up with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from ssdpt.alarms.block_maxima import BLOCK_SECONDS, BlockMaxima
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.scoring.calibrate import Tail

_WEEK = 7 * 24 * 3600.0
_ALARM_RATIO = 0.1  # an alarm is so much rarer than an alert
_OFTENEST = 0.2  # of the marks may pass a limit that they set; more often, clips tell it better


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A level begins above the first score of its kind and ends below the second."""

    alert: float
    alarm: float
    alert_exit: float
    alarm_exit: float
    usual: float  # what half of all normal clips score below
    per_week: float  # false alerts asked for
    extrapolated: bool  # whether that is rarer than what was heard can show
    words: str

    def shifted(self, by: float) -> Thresholds:
        """All of them moved, after a new baseline."""
        moved = ("alert", "alarm", "alert_exit", "alarm_exit", "usual")
        return replace(self, **{name: getattr(self, name) + by for name in moved})

    def to_json(self) -> dict[str, Any]:
        """As the API tells it."""
        return {
            "alert": self.alert,
            "alarm": self.alarm,
            "alert_exit": self.alert_exit,
            "alarm_exit": self.alarm_exit,
            "usual": self.usual,
            "per_week": self.per_week,
            "extrapolated": self.extrapolated,
            "words": self.words,
        }


def thresholds_for(
    tail: Tail, marks: BlockMaxima, settings: AlarmSettings, *, clip_seconds: float
) -> Thresholds:
    """Thresholds of a machine whose normal clips of `clip_seconds` score like `tail`.

    Once it has run for a day, its own `marks` say it better. Before that a machine that runs all
    week is taken to be judged once a clip's length, as if one clip above the limit were an alert.
    That is a guess: smoothing and the shortest time make alerts rarer, and a few clips do not show
    how the tail of their scores goes on.
    """
    own = marks.tail()
    rate = settings.per_week * BLOCK_SECONDS / _WEEK
    highest = math.inf
    if own is not None and rate <= _OFTENEST:
        known, usual = own
        words = _own_words(marks, settings.per_week, known, rate)
    else:
        known, usual = tail, tail.threshold(0.5)
        rate = min(settings.per_week * clip_seconds / _WEEK, 0.5)
        words = _clip_words(settings.per_week, known, rate)
        if own is not None:
            # More alerts are never asked for by a higher limit.
            highest, usual = own[0].threshold(_OFTENEST), own[1]
    alert = max(min(known.threshold(rate), highest), usual)
    alarm = max(known.threshold(rate * _ALARM_RATIO), alert)
    share = settings.exit_share
    return Thresholds(
        alert=alert,
        alarm=alarm,
        alert_exit=usual + share * (alert - usual),
        alarm_exit=usual + share * (alarm - usual),
        usual=usual,
        per_week=settings.per_week,
        extrapolated=rate < known.smallest_observed_rate,
        words=words,
    )


def _own_words(marks: BlockMaxima, per_week: float, tail: Tail, rate: float) -> str:
    asked = f"about {_alerts(per_week)} a week, by {marks.days:.1f} days of its own normal running"
    if rate < tail.smallest_observed_rate:
        times = tail.smallest_observed_rate / rate
        return f"{asked}; that is {times:,.1f} times rarer than so many days can show"
    if rate * _ALARM_RATIO < tail.smallest_observed_rate:
        return f"{asked}; an alarm is ten times rarer, which is an extrapolation"
    return asked


def _clip_words(per_week: float, tail: Tail, rate: float) -> str:
    asked = f"meant for {_alerts(per_week)} a week"
    clips = tail.clips
    if rate >= tail.smallest_observed_rate:
        return f"{asked}, by {clips} normal clips"
    times = tail.smallest_observed_rate / rate
    return (
        f"{asked}, but {clips} normal clips show one in {clips}, and this is {times:,.0f} times "
        "rarer: a guess; after a day of normal running the machine's own scores set the limit, and "
        "within four weeks it is right"
    )


def _alerts(count: float) -> str:
    return f"{count:g} false alert{'' if count == 1 else 's'}"
