"""Machines as the service shows them, and what belongs to their status."""

from __future__ import annotations

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
    MachineStatus,
    OperatingData,
    OperatingDataSourceState,
    OperatingPointStatus,
    Reading,
    SensorStatus,
    SourceState,
)
from ssdpt.sentences import Sentence

TIME = 1.79e9
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
        "message": Sentence(
            "thresholds.fromDays", alerts=Sentence("thresholds.alerts", count=1), count=7
        ),
    }
    return Thresholds(**fields | changes)


def operating_point(number, **changes):
    fields = {"name": "", "share": 0.75, "level_dbfs": -30.0, "usual_score": 1.0}
    return OperatingPointStatus(number=number, **fields | changes)


def operating_data(**changes):
    fields = {"at": TIME - 2, "running": True, "speed_rpm": 1480.0, "load_percent": 61.5}
    return OperatingData(**fields | changes)


def operating_data_source(**changes):
    fields = {
        "kind": "opcua",
        "connected": True,
        "message": Sentence(
            "operating.reading", name="opcua plc-7:4840", nodes=["ns=2;s=Pump1.Running"]
        ),
        "max_age": 60.0,
    }
    return OperatingDataSourceState(**fields | changes)


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
        "thresholds": thresholds(
            provisional=True,
            message=Sentence(
                "thresholds.provisionalYet", alerts=Sentence("thresholds.alerts", count=1), clips=30
            ),
        ),
        "baseline": baseline(),
        "question": question(),
        "severity": severity(),
        "outlook": outlook(),
        "operating_data": operating_data(),
        "operating_data_source": operating_data_source(),
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
        "data_age": 0.4,
        "stale_after": 8.0,
        "listening": "possible",
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


def reading(machine="fan-1", time=TIME, **changes):
    fields = {
        "state": "normal",
        "level_dbfs": -30.0,
        "score": 1.0,
        "smoothed": 1.0,
        "p_value": 0.5,
    }
    return Reading(machine=machine, time=time, **fields | changes)
