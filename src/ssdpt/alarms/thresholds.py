"""Scores at which alert and alarm begin and end, from the acceptable number of false alerts."""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict, Field

from ssdpt.alarms.block_maxima import BLOCK_SECONDS, BlockMaxima
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.config.settings import ALARM_RATIO
from ssdpt.scoring.calibrate import Tail

_WEEK = 7 * 24 * 3600.0  # seconds
_LARGEST_BLOCK_RATE = 0.2  # share of blocks above a threshold; beyond it, single clips say more
_SHIFTED = ("alert", "alarm", "alert_exit", "alarm_exit", "usual_score")


class Thresholds(BaseModel):
    """A level begins above its threshold and ends below its exit threshold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alert: float
    alarm: float
    alert_exit: float
    alarm_exit: float
    usual_score: float = Field(description="Half of all normal clips score below this.")
    false_alerts_per_week: float = Field(description="As requested.")
    provisional: bool = Field(
        description="Whether too little was learned to know so rare a score: an extrapolation."
    )
    message: str = Field(description="What the thresholds rest on, in a sentence.")

    def shifted(self, by: float) -> Thresholds:
        """All scores moved by this much, after a new baseline."""
        return self.model_copy(update={name: getattr(self, name) + by for name in _SHIFTED})


def thresholds_for(
    clips: Tail, blocks: BlockMaxima, settings: AlarmSettings, *, clip_seconds: float
) -> Thresholds:
    """Thresholds of a machine whose normal clips of `clip_seconds` score like `clips`.

    After a day of running the machine's own `blocks` of ten minutes set them. Before that, a
    machine that runs all week is taken to be judged once per clip, as if one clip above the
    threshold were an alert. That is a guess: smoothing and the minimum duration make alerts rarer,
    and a few clips do not show how the tail of their scores continues.
    """
    own = blocks.tail()
    requested = settings.false_alerts_per_week
    rate = requested * BLOCK_SECONDS / _WEEK
    highest_alert = highest_alarm = math.inf
    if own is not None and rate <= _LARGEST_BLOCK_RATE:
        tail, usual = own
        message = _block_message(blocks, requested, tail, rate)
    else:
        tail, usual = clips, clips.threshold(0.5)
        rate = min(requested * clip_seconds / _WEEK, 0.5)
        message = _clip_message(requested, tail, rate, improves=own is None)
        if own is not None:
            # Accepting more alerts must never raise a threshold.
            highest_alert, highest_alarm = own[0].alert_and_alarm(_LARGEST_BLOCK_RATE, ALARM_RATIO)
            usual = own[1]
    alert, alarm = tail.alert_and_alarm(rate, ALARM_RATIO)
    alert = max(min(alert, highest_alert), usual)
    alarm = max(min(alarm, highest_alarm), alert)
    share = settings.exit_share
    return Thresholds(
        alert=alert,
        alarm=alarm,
        alert_exit=usual + share * (alert - usual),
        alarm_exit=usual + share * (alarm - usual),
        usual_score=usual,
        false_alerts_per_week=requested,
        provisional=rate < tail.smallest_observed_rate,
        message=message,
    )


def _block_message(blocks: BlockMaxima, requested: float, tail: Tail, rate: float) -> str:
    basis = f"about {_alerts(requested)} per week, from {blocks.days:.1f} days of normal running"
    if rate < tail.smallest_observed_rate:
        times = tail.smallest_observed_rate / rate
        return f"{basis}; this is {times:,.1f} times rarer than so few days can show"
    if rate * ALARM_RATIO < tail.smallest_observed_rate:
        return f"{basis}; the alarm threshold is ten times rarer, which is an extrapolation"
    return basis


def _clip_message(requested: float, tail: Tail, rate: float, *, improves: bool) -> str:
    if rate >= tail.smallest_observed_rate:
        return f"about {_alerts(requested)} per week, from {tail.clips} normal clips"
    message = (
        f"Provisional threshold for {_alerts(requested)} per week: only {tail.clips} normal clips "
        "learned."
    )
    return f"{message} It improves after a day of normal running." if improves else message


def _alerts(count: float) -> str:
    return f"{count:g} false alert{'' if count == 1 else 's'}"
