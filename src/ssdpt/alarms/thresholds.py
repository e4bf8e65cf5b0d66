"""Scores at which alert and alarm begin and end, from the acceptable number of false alerts."""

from __future__ import annotations

import math

from pydantic import ConfigDict, Field

from ssdpt.alarms.block_maxima import BLOCK_SECONDS, BlockMaxima
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.config.settings import ALARM_RATIO
from ssdpt.scoring.calibrate import Tail
from ssdpt.sentences import Sentence
from ssdpt.sentences.coded_sentence import Text, WithSentence

_WEEK = 7 * 24 * 3600.0  # seconds
_LARGEST_BLOCK_RATE = 0.2  # share of blocks above a threshold; beyond it, single clips say more
_SHIFTED = ("alert", "alarm", "alert_exit", "alarm_exit", "usual_score")


class Thresholds(WithSentence):
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
    message: Text = Field(description="What the thresholds rest on, in a sentence.")

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
    basis = Sentence("thresholds.fromDays", alerts=_alerts(requested), count=round(blocks.days, 1))
    if rate < tail.smallest_observed_rate:
        times = round(tail.smallest_observed_rate / rate, 1)
        return Sentence("thresholds.tooRare", basis=basis, times=times)
    if rate * ALARM_RATIO < tail.smallest_observed_rate:
        return Sentence("thresholds.alarmExtrapolated", basis=basis)
    return basis


def _clip_message(requested: float, tail: Tail, rate: float, *, improves: bool) -> str:
    if rate >= tail.smallest_observed_rate:
        return Sentence("thresholds.fromClips", alerts=_alerts(requested), clips=tail.clips)
    if improves:
        return Sentence("thresholds.provisionalYet", alerts=_alerts(requested), clips=tail.clips)
    return Sentence("thresholds.provisional", alerts=_alerts(requested), clips=tail.clips)


def _alerts(count: float) -> Sentence:
    return Sentence("thresholds.alerts", count=count)
