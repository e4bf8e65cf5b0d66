"""Scores at which a level begins and ends, from how often a false alarm is put up with."""

from __future__ import annotations

from dataclasses import dataclass

from ssdpt.monitor.plant import AlarmSettings
from ssdpt.scoring.calibrate import Tail

_WEEK = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Limits:
    """A level begins above the first score of its kind and ends below the second."""

    alert: float
    alarm: float
    alert_exit: float
    alarm_exit: float
    usual: float  # what half of all normal clips score below
    per_week: float  # false alerts asked for
    extrapolated: bool  # whether that is rarer than the normal clips can show
    words: str


def limits_of(
    tail: Tail, settings: AlarmSettings, *, clip_seconds: float, alarm_ratio: float, shift: float
) -> Limits:
    """Limits of a machine whose normal clips of `clip_seconds` score like `tail`.

    A machine that runs all week is judged once a clip's length: clips that overlap say the same.
    `alarm_ratio` is how much rarer than an alert an alarm is; `shift` is added to all, after a
    new baseline.
    """
    clips_a_week = _WEEK / clip_seconds
    rate = min(settings.per_week / clips_a_week, 0.5)
    usual = tail.threshold(0.5) + shift
    alert = tail.threshold(rate) + shift
    alarm = max(tail.threshold(rate * alarm_ratio) + shift, alert)
    share = settings.exit_share
    extrapolated = rate < tail.smallest_observed_rate
    return Limits(
        alert=alert,
        alarm=alarm,
        alert_exit=usual + share * (alert - usual),
        alarm_exit=usual + share * (alarm - usual),
        usual=usual,
        per_week=settings.per_week,
        extrapolated=extrapolated,
        words=_words(tail.clips, rate, settings.per_week, extrapolated),
    )


def _words(clips: int, rate: float, per_week: float, extrapolated: bool) -> str:
    asked = f"{per_week:g} false alert{'' if per_week == 1 else 's'} a week"
    if not extrapolated:
        return f"{asked}, as seen on {clips} normal clips"
    times = 1 / (rate * (clips + 1))
    return (
        f"{asked}: {clips} normal clips show one in {clips}, and this is {times:,.0f} times rarer; "
        "the limit is an extrapolation, so expect it to be off until the machine has been "
        "listened to for weeks"
    )
