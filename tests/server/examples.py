"""Examples of what the service sends, built with its models.

The fake service answers with them, and the mock of the page starts from them:
`python tests/server/examples.py > web/mock/fixtures.json`.
"""

from __future__ import annotations

import json
from itertools import pairwise

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.outlook import Outlook
from ssdpt.alarms.severity import Severity
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.monitor.messages import (
    BandStatus,
    BaselineStatus,
    ChangePoint,
    CommissioningQuestion,
    DriftStatus,
    Episode,
    Event,
    EventSpectrogram,
    LearningProgress,
    MachineStatus,
    ModelInfo,
    OperatingPointStatus,
    Reading,
    SensorStatus,
    ServiceStatus,
    SourceState,
    Spectrogram,
    Spectrum,
)
from ssdpt.server.schemas import (
    BandTrendReply,
    MachineSound,
    SessionInfo,
    StatusReply,
    TrendReply,
    UserInfo,
)

TIME = 1.79e9
EVENT = "0123456789abcdef0123456789abcdef"
HZ = (100.0, 200.0, 400.0, 800.0)
EDGES = (30.0, 150.0, 800.0, 4000.0)  # Hz, of three bands


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


def baseline(**changes):
    fields = {"learned_at": TIME - 30 * 86400, "recordings": 12, "commissioned_at": None}
    return BaselineStatus(**fields | changes)


def question():
    return CommissioningQuestion(
        message="Sounds different from the recordings it learned from, steadily since the start: "
        "is it healthy?",
        since=TIME - 1800,
    )


def tone():
    return Finding(code="tone", db=30.0, hz=130.0, new=True)


def change_point(**changes):
    return ChangePoint(**{"time": TIME - 300, "level": "alert", "findings": (tone(),)} | changes)


def severity(**changes):
    fields = {"grade": "severe", "ratio": 1.8, "above_history": 0.97, "rank": 1, "siblings": 5}
    return Severity(**fields | changes)


def outlook():
    return Outlook(earliest=TIME + 3 * 86400, latest=TIME + 9 * 86400)


def accelerometer(**changes):
    fields = {
        "unit": "g",
        "full_scale": 50.0,
        "sample_rate": 25600,
        "axes": ("x", "y"),
        "at_intervals": True,
    }
    return SensorStatus(**fields | changes)


def band(low_hz=30.0, high_hz=150.0, **changes):
    fields = {"now_db": -41.0, "usual_db": -48.0, "alert_db": -42.0, "alarm_db": -36.0}
    return BandStatus(low_hz=low_hz, high_hz=high_hz, **fields | changes)


def bands():
    first, *others = pairwise(EDGES)
    return (band(*first), *(band(*edges, now_db=-48.0) for edges in others))


def machine_with_everything(id="fan-1", **changes):
    """An accelerometer on a machine that asks a question, has changed, and goes on changing."""
    fields = {
        "thresholds": thresholds(provisional=True, message="Provisional threshold."),
        "baseline": baseline(),
        "question": question(),
        "severity": severity(),
        "outlook": outlook(),
        "sensor": accelerometer(),
        "bands": bands(),
        "change_points": (change_point(),),
    }
    return machine(id, **fields | changes)


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
        Finding(code="knocks", per_second=24.8, low_hz=2000.0, high_hz=4000.0, new=True),
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
        alert_seconds=(0.0, 0.0),
        alarm_seconds=(0.0, 0.0),
    )


def band_trend():
    nan = float("nan")
    return BandTrendReply(
        seconds_per_point=1.0,
        edges_hz=EDGES,
        time=(TIME - 2, TIME - 1),
        levels=((-48.0, -50.0, -52.0), (-41.0, nan, -52.0)),
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
        band_trend(),
        baseline(),
        question(),
        severity(),
        outlook(),
        accelerometer(),
        band(),
        change_point(),
        tone(),
        episodes()[0],
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
