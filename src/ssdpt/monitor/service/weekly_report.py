"""Makes the weekly report from what the store holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ssdpt.alarms.outlook import Outlook
from ssdpt.alarms.severity import Severity
from ssdpt.monitor.language import LanguageCode
from ssdpt.monitor.messages import Event, MachineStatus, MachineWeek, WeeklyReport, Worsening
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.summaries import Summary
from ssdpt.monitor.week import Week

WEEKS_BEFORE = 4  # that a week is compared with
_FEWEST_WEEKS = 2  # of them with sound: with one it is not known how much weeks differ anyway
_FEWEST_READINGS = 20  # scored, for a week to count
_SPREADS = 3.0  # standard deviations of the weeks before, that a score must have risen by
_LEAST_RISE = 0.1  # of the score before; weeks that hardly differ must not make a small rise big
_LEAST_DB = 3.0  # that level or a band must have risen by
_LEAST_ALERT_HOURS = 0.1
_MOST_EVENTS = 500


@dataclass(frozen=True, slots=True)
class ReportedMachine:
    """What the store does not know of a machine."""

    id: str
    name: str
    site: str = ""
    snapshots: bool = False  # short measurements, not seconds of sound
    has_pauses: bool = False  # recordings arrive now and then: no sound is nothing lost
    band_edges_hz: tuple[float, ...] = ()
    outlook: Outlook | None = None

    @classmethod
    def of(cls, status: MachineStatus, *, snapshots: bool) -> ReportedMachine:
        """Of a machine that is monitored."""
        bands = status.bands
        return cls(
            id=status.id,
            name=status.name,
            site=status.site,
            snapshots=snapshots,
            has_pauses=status.sensor is not None and status.sensor.at_intervals,
            band_edges_hz=(*(each.low_hz for each in bands), *(one.high_hz for one in bands[-1:])),
            outlook=status.outlook,
        )


def weekly_report(
    store: Store,
    week: Week,
    machines: Sequence[ReportedMachine],
    *,
    plant: str,
    timezone: str,
    language: LanguageCode,
    now: float,
) -> WeeklyReport:
    """Of all machines, and of those that had events and are gone; `now` in seconds since 1970."""
    begin, end = week.begin(timezone), week.end(timezone)
    until = min(max(now, begin), end)
    events = _events(store, begin, end)
    gone = sorted({event.machine for event in events} - {machine.id for machine in machines})
    by_machine: dict[str, list[Event]] = {}
    for event in events:
        by_machine.setdefault(event.machine, []).append(event)
    return WeeklyReport(
        plant=plant,
        week=str(week),
        begin=begin,
        end=end,
        until=until,
        timezone=timezone,
        language=language,
        machines=tuple(
            _machine_week(
                store, machine, week, timezone, until, by_machine.get(machine.id, ()), now
            )
            for machine in (*machines, *(ReportedMachine(id, id) for id in gone))
        ),
        events=tuple(events[:_MOST_EVENTS]),
        events_left_out=max(len(events) - _MOST_EVENTS, 0),
        notes=tuple(store.notes(begin=begin, end=end)),
    )


def _events(store: Store, begin: float, end: float) -> list[Event]:
    """Those that began in the week, the oldest first."""
    found: dict[str, Event] = {}
    before: float | None = end
    while True:
        page = store.events(begin=begin, before=before, limit=1000)
        new = [event for event in page if event.id not in found and event.began >= begin]
        found |= {event.id: event for event in new}
        if len(page) < 1000 or not new:
            return sorted(found.values(), key=lambda event: event.began)
        before = math.nextafter(page[-1].began, math.inf)


def _machine_week(
    store: Store,
    machine: ReportedMachine,
    week: Week,
    timezone: str,
    until: float,
    events: Sequence[Event],
    now: float,
) -> MachineWeek:
    begin, end = week.begin(timezone), week.end(timezone)
    summary = store.summary(machine.id, begin, end)
    before = [
        earlier
        for number in range(1, WEEKS_BEFORE + 1)
        if (earlier := _week_before(store, machine.id, week.shifted(-number), timezone)).scored
        >= _FEWEST_READINGS
    ]
    first = store.first_reading(machine.id)
    known_from = until if first is None else max(begin, first)
    listened = summary.readings / 3600
    lost = max((until - known_from) / 3600 - listened, 0.0)
    enough = len(before) >= _FEWEST_WEEKS and summary.scored >= _FEWEST_READINGS
    return MachineWeek(
        machine=machine.id,
        name=machine.name,
        site=machine.site,
        events=len(events),
        alarms=sum(event.level == "alarm" for event in events),
        unacknowledged=sum(event.acknowledged is None for event in events),
        false_alerts=sum(event.label == "normal" for event in events),
        listened_hours=None if machine.snapshots else round(listened, 2),
        lost_hours=None if machine.snapshots or machine.has_pauses else round(lost, 2),
        measurements=summary.readings if machine.snapshots else None,
        worse=tuple(worsenings(summary, before, machine.band_edges_hz)) if enough else (),
        enough_history=enough,
        severity=_worst(events),
        # It is known for the present only.
        outlook=machine.outlook if end > now - (end - begin) else None,
    )


def _week_before(store: Store, machine: str, week: Week, timezone: str) -> Summary:
    return store.summary(machine, week.begin(timezone), week.end(timezone))


def worsenings(
    week: Summary, before: Sequence[Summary], band_edges_hz: Sequence[float] = ()
) -> Iterator[Worsening]:
    """What got worse in a week, against some weeks before."""
    scores = [one.score for one in before if one.score is not None]
    if week.score is not None and len(scores) >= _FEWEST_WEEKS:
        mean, spread = float(np.mean(scores)), float(np.std(scores, ddof=1))
        if week.score - mean > max(_SPREADS * spread, _LEAST_RISE * abs(mean)):
            yield Worsening(code="score", before=round(mean, 3), now=round(week.score, 3))
    hours, most = _alert_hours(week), [_alert_hours(one) for one in before]
    if hours >= _LEAST_ALERT_HOURS and hours > 2 * max(most, default=0.0):
        yield Worsening(code="alerts", before=round(float(np.mean(most)), 2), now=round(hours, 2))
    levels = [one.level_db for one in before if one.level_db is not None]
    if week.level_db is not None and levels and week.level_db - max(levels) >= _LEAST_DB:
        yield _decibels("level", float(np.mean(levels)), week.level_db)
    for number, (low, high) in enumerate(pairwise(band_edges_hz)):
        now, usual = week.bands_db[number], [one.bands_db[number] for one in before]
        if now - np.max(usual) >= _LEAST_DB:  # false where a level is not known
            band = _decibels("band", float(np.mean(usual)), now)
            yield band.model_copy(update={"low_hz": low, "high_hz": high})


def _decibels(code: str, before: float, now: float) -> Worsening:
    values: Mapping[str, object] = {"before": round(before, 1), "now": round(now, 1)}
    return Worsening.model_validate({"code": code, **values})


def _alert_hours(summary: Summary) -> float:
    return (summary.alert_seconds + summary.alarm_seconds) / 3600


def _worst(events: Sequence[Event]) -> Severity | None:
    known = [event.severity for event in events if event.severity is not None]
    return max(known, key=lambda severity: severity.ratio, default=None)
