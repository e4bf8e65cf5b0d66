"""Events, what was noted about them, and the report of a week."""

from __future__ import annotations

from examples.machines import TIME, baseline, outlook, severity, tone
from examples.sound import named_line
from ssdpt.alarms.findings import Finding
from ssdpt.monitor.messages import (
    Episode,
    Event,
    EventGroup,
    LooksLike,
    MachineWeek,
    Note,
    WeeklyReport,
    Worsening,
)
from ssdpt.monitor.week import Week

EVENT = "0123456789abcdef0123456789abcdef"


def episodes():
    """Of an event that comes and goes, 130 s in all; the last one goes on."""
    return (
        Episode(began=TIME - 600, ended=TIME - 540, level="alert", peak=2.4),
        Episode(began=TIME - 400, ended=TIME - 390, level="alert", peak=2.2),
        Episode(began=TIME - 60, level="alarm", peak=3.5),
    )


def findings():
    """One of each code."""
    return (
        tone(),
        Finding(
            code="knocks",
            per_second=24.8,
            low_hz=2000.0,
            high_hz=4000.0,
            new=True,
            lines=(named_line(),),
        ),
        Finding(code="modulation", per_second=6.0, low_hz=800.0, high_hz=1500.0),
        Finding(code="band", db=9.0, low_hz=150.0, high_hz=800.0),
        Finding(code="level", db=-4.0),
    )


def event_with_everything(id=EVENT, **changes):
    """One that comes and goes, with all that has changed."""
    fields = {
        "findings": findings(),
        "episodes": episodes(),
        "baseline_learned_at": baseline().learned_at,
        "severity": severity(),
    }
    return event(id, **fields | changes)


def event(id=EVENT, **changes):
    fields = {
        "machine": "fan-1",
        "kind": "anomaly",
        "level": "alarm",
        "began": TIME - 60,
        "message": "fan-1: unusual sound",
        "peak": 3.5,
        "threshold": 3.0,
    }
    return Event(id=id, **fields | changes)


def note(**changes):
    fields = {
        "id": 1,
        "machine": "fan-1",
        "at": TIME - 3600,
        "kind": "repair",
        "text": "bearing changed",
        "who": "ann",
        "written_at": TIME,
    }
    return Note(**fields | changes)


def looks_like():
    return LooksLike(fault="loose belt", earlier_events=3, similarity=0.91)


def event_group(**changes):
    fields = {
        "machine": "fan-1",
        "kind": "anomaly",
        "fault": "loose belt",
        "events": 3,
        "confirmed": 2,
        "first_began": TIME - 9 * 86400,
        "last_began": TIME - 60,
        "level": "alarm",
        "unacknowledged": 1,
    }
    return EventGroup(**fields | changes)


def weekly_report(**changes):
    """The week before TIME."""
    worse = (
        Worsening(code="score", before=1.0, now=1.4),
        Worsening(code="alerts", before=0.2, now=3.5),
        Worsening(code="level", before=-40.0, now=-35.5),
        Worsening(code="band", before=-48.0, now=-41.0, low_hz=30.0, high_hz=150.0),
    )
    fan = MachineWeek(
        machine="fan-1",
        name="fan-1",
        site="Hall A",
        events=1,
        alarms=1,
        unacknowledged=1,
        false_alerts=0,
        listened_hours=160.0,
        lost_hours=8.0,
        measurements=None,
        worse=worse,
        enough_history=True,
        severity=severity(),
        outlook=outlook(),
    )
    pump = fan.model_copy(
        update={
            **{"machine": "pump_2", "name": "pump_2", "site": "", "events": 0, "alarms": 0},
            **{"unacknowledged": 0, "listened_hours": None, "lost_hours": None, "severity": None},
            **{"measurements": 168, "worse": (), "outlook": None},
        }
    )
    week = Week.of(TIME, "Europe/Berlin").shifted(-1)
    begin, end = week.begin("Europe/Berlin"), week.end("Europe/Berlin")
    fields = {
        "plant": "Mill",
        "week": str(week),
        "begin": begin,
        "end": end,
        "until": end,
        "timezone": "Europe/Berlin",
        "language": "en",
        "machines": (fan, pump),
        "events": (event_with_everything(began=end - 7200, cause="dry bearing"),),
        "events_left_out": 0,
        "notes": (note(at=end - 3600),),
    }
    return WeeklyReport(**fields | changes)
