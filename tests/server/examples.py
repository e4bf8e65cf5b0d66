"""Examples of what the service sends, built with its models.

The fake service answers with them, and the mock of the page starts from them:
`python tests/server/examples.py > web/mock/fixtures.json`.
"""

from __future__ import annotations

import json

from ssdpt.alarms.thresholds import Thresholds
from ssdpt.monitor.messages import (
    DriftStatus,
    Event,
    EventSpectrogram,
    LearningProgress,
    MachineStatus,
    ModelInfo,
    OperatingPointStatus,
    Reading,
    ServiceStatus,
    SourceState,
    Spectrogram,
    Spectrum,
)
from ssdpt.server.schemas import MachineSound, SessionInfo, StatusReply, TrendReply, UserInfo

TIME = 1.79e9
EVENT = "0123456789abcdef0123456789abcdef"
HZ = (100.0, 200.0, 400.0, 800.0)


def thresholds(**changes):
    fields = {
        "alert": 2.0,
        "alarm": 3.0,
        "alert_exit": 1.8,
        "alarm_exit": 2.7,
        "usual_score": 1.0,
        "false_alerts_per_week": 1.0,
        "provisional": False,
        "message": "about 1 false alert per week, from 7.0 days of normal running",
    }
    return Thresholds(**fields | changes)


def operating_point(number, **changes):
    fields = {"name": "", "share": 0.75, "level_dbfs": -30.0, "usual_score": 1.0}
    return OperatingPointStatus(number=number, **fields | changes)


def source(**changes):
    fields = {
        "kind": "pushed",
        "connected": True,
        "message": "sound arrives",
        "drift_ppm": 1.5,
        "gaps": 0,
        "reconnects": 0,
    }
    return SourceState(**fields | changes)


def machine(id="fan-1", **changes):
    fields = {
        "name": id,
        "site": "",
        "model": "texture",
        "state": "normal",
        "state_since": TIME - 3600,
        "muted_until": None,
        "smoothed": 1.0,
        "p_value": 0.5,
        "level_dbfs": -30.0,
        "last_sound": TIME,
        "thresholds": thresholds(),
        "operating_point": 1,
        "operating_points": (operating_point(1), operating_point(2, share=0.25)),
        "added_on_page": False,
        "drift": None,
        "source": source(),
        "learning": None,
        "ongoing_events": 0,
        "last_event": None,
        "recent_scores": ((TIME - 1, 1.0),),
    }
    return MachineStatus(id=id, **fields | changes)


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


def reading(machine="fan-1", time=TIME, **changes):
    fields = {
        "state": "normal",
        "level_dbfs": -30.0,
        "score": 1.0,
        "smoothed": 1.0,
        "p_value": 0.5,
    }
    return Reading(machine=machine, time=time, **fields | changes)


def service_status(**changes):
    fields = {
        "now": TIME,
        "name": "Mill",
        "timezone": "Europe/Berlin",
        "version": "0.1.0",
        "demo": False,
        "keeps_audio": True,
        "speed": 1.0,
        "notes": (),
        "problems": (),
    }
    return ServiceStatus(**fields | changes)


def spectrum():
    """Where there is no upper bound yet: not a number, which JSON sends as null."""
    nan = float("nan")
    levels = (-60.0, -55.0, -50.0, -45.0)
    return Spectrum(hz=HZ, now=levels, low=levels, mean=levels, high=(nan,) * len(HZ))


def spectrogram(seconds=3.0, **changes):
    fields = {
        "hz": HZ,
        "begin": TIME - seconds,
        "seconds_per_column": 1.0,
        "columns": ((0, 80, 160, 255),) * int(seconds),
        "low_db": -100.0,
        "high_db": 0.0,
    }
    return Spectrogram(**fields | changes)


def event_spectrogram():
    shown = spectrogram()
    anomaly_map = ((0, 1, 2, 255),) * len(shown.columns)
    return EventSpectrogram(**dict(shown), anomaly_map=anomaly_map)


def model(machine="fan-1"):
    return ModelInfo(
        machine=machine,
        system="texture",
        card_markdown="# fan",
        sections=("00",),
        recordings=100,
        version="0.1.0",
    )


def trend():
    return TrendReply(
        seconds_per_point=1.0,
        time=(TIME - 2, TIME - 1),
        low=(0.9, float("nan")),
        mean=(1.0, float("nan")),
        high=(1.1, float("nan")),
        state=("normal", "off"),
    )


def fixtures():
    """One example of every model that the page reads, by its name."""
    user = UserInfo(name="local", role="admin")
    examples = [
        machine(),
        event(),
        reading(),
        service_status(),
        StatusReply(**dict(service_status()), machines=(), user=user),
        spectrum(),
        spectrogram(),
        event_spectrogram(),
        MachineSound(spectrum=spectrum(), spectrogram=spectrogram()),
        model(),
        trend(),
        thresholds(),
        operating_point(1),
        source(),
        DriftStatus(message="The normal sound has changed slowly.", since=TIME - 9 * 86400),
        LearningProgress(seconds=420.0, target_seconds=900.0),
        user,
        SessionInfo(name="admin", role="admin", csrf="token"),
    ]
    return {type(one).__name__: json.loads(one.model_dump_json()) for one in examples}


if __name__ == "__main__":
    print(json.dumps(fixtures(), indent=1, ensure_ascii=False))
