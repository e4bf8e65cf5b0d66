"""A store with the history of some weeks: readings by the hour, events, notes and pictures."""

from __future__ import annotations

import numpy as np
from sqlalchemy import insert

from ssdpt.alarms.findings import Finding
from ssdpt.monitor.capture.spectrum import spectrogram
from ssdpt.monitor.events.picture import EventPicture
from ssdpt.monitor.messages import (
    Acknowledgement,
    Comment,
    Event,
    EventSpectrogram,
    LooksLike,
)
from ssdpt.monitor.store.rollup import HOUR
from ssdpt.monitor.store.rollup_progress import set_progress
from ssdpt.monitor.store.tables import STATE_CODES, hours
from ssdpt.monitor.week import Week

ZONE = "Europe/Berlin"
DAY = 86400.0
TONE = Finding(code="tone", db=21.0, hz=2600.0, new=True)
KNOCKS = Finding(code="knocks", per_second=24.8, low_hz=2000.0, high_hz=4000.0, new=True)


def fill_hours(store, machine, begin, end, *, score=1.0, level=-40.0, band=None, alarm_seconds=0):
    """A reading of every second, as whole hours; times in seconds since 1970."""
    number = store._get_or_add_number(machine)
    rows = [
        {
            **{"machine": number, "time": time, "readings": 3600, "scored": 3600},
            **{"low": score - 0.1, "mean": score, "high": score + 0.2, "level": level},
            **{"state": STATE_CODES["normal"], "alert_seconds": 0, "alarm_seconds": alarm_seconds},
            **({} if band is None else {"band_0": round(band * 100)}),
        }
        for time in range(round(begin * 1000), round(end * 1000), HOUR)
    ]
    with store.database.write() as connection:
        connection.execute(insert(hours), rows)
        for name in ("hours", "minutes"):
            set_progress(connection, name, round(end * 1000))


def fill_plant(store, now):
    """Six weeks of a fan that gets worse and of a pump that was not listened to for a day."""
    this_week = Week.of(now, ZONE)
    last_hour = now - now % 3600
    before = this_week.shifted(-6).begin(ZONE)
    week = this_week.shifted(-1).begin(ZONE)
    rng = np.random.default_rng(0)
    for number in range(5):
        first, last = (this_week.shifted(number - 6 + n).begin(ZONE) for n in (0, 1))
        for machine in ("fan-1", "pump-1"):
            fill_hours(store, machine, first, last, score=1.0 + 0.03 * rng.uniform())
    fill_hours(store, "fan-1", week, last_hour, score=1.6, level=-36.0, alarm_seconds=60)
    fill_hours(store, "pump-1", week, week + 3 * DAY)
    fill_hours(store, "pump-1", week + 4 * DAY, last_hour)
    for number in range(3):
        store.save_event(event(number, before + number * 7 * DAY, fault="loose belt"))
        store.save_signature(event_id(number), SIGNATURE)
    alike = LooksLike(fault="loose belt", earlier_events=3, similarity=0.91)
    store.save_event(event(3, week + DAY, looks_like=alike, audio_begin=week + DAY, ended=None))
    store.attach(event_id(3), "spectrogram", picture(week + DAY), ".npz")
    store.save_event(
        event(
            4,
            week + 2 * DAY,
            machine="pump-1",
            level="alarm",
            message="Unusual sound: new knocks, 24.8 per second",
            findings=(KNOCKS,),
            acknowledged=Acknowledgement(who="ann", at=week + 2 * DAY + 60),
            cause="dry bearing",
            work_order="WO-4711",
            audio_begin=week + 2 * DAY,
            comments=(Comment(who="ann", at=week + 2 * DAY + 60, text="greased the bearing"),),
        )
    )
    store.attach(event_id(4), "spectrogram", picture(week + 2 * DAY), ".npz")
    store.save_event(event(5, week + 5 * DAY, machine="pump-1", kind="signal", label="normal"))
    store.add_note("pump-1", week + 3 * DAY, "repair", "bearing changed", who="ann", now=now)


SIGNATURE = (0.6, 0.8, 0.0)


def event_id(number):
    return f"{number:032x}"


def event(number, began, **changes):
    values = {
        "id": event_id(number),
        "machine": "fan-1",
        "kind": "anomaly",
        "level": "alert",
        "began": began,
        "ended": began + 600,
        "message": "Unusual sound: new tone at 2.6 kHz, 21 dB above normal",
        "findings": (TONE,),
        "peak": 2.4,
        "threshold": 2.0,
    }
    return Event(**values | changes)


def picture(begin):
    """A tone that comes, in the noise of a machine."""
    frames = -60.0 + 3.0 * np.random.default_rng(1).standard_normal((200, 64))
    frames[80:, 40:43] += 25.0
    hz = np.geomspace(50.0, 8000.0, 64)
    shown = spectrogram(frames.astype(np.float32), begin, hz, 0.1)
    return EventPicture(EventSpectrogram(**shown.model_dump(), anomaly_map=()), ()).to_bytes()
