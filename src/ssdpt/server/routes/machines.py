"""Machines: how they are, how they sounded, and what people set."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.server.auth import Admin, Operator
from ssdpt.server.context import Context
from ssdpt.server.ids import MachineId
from ssdpt.server.json_response import Json
from ssdpt.server.machine_policy import check_addition
from ssdpt.server.schemas import (
    FalseAlarms,
    LearningTime,
    LimitWords,
    MachineWords,
    Muting,
    PointName,
    SpectrumWords,
    TrendWords,
    WaterfallWords,
)
from ssdpt.server.time_range import Span

router = APIRouter(prefix="/v1/machines", tags=["machines"])


@router.get("", response_model=list[MachineWords])
def machines(room: Context) -> Json:
    """All machines as they are now."""
    return Json(room.plant.snapshots())


@router.post("", response_model=MachineWords, status_code=201)
def add_machine(who: Admin, settings: MachineSettings, room: Context) -> Json:
    """Listen to one more machine; what names files of this computer is for the plant file."""
    check_addition(settings)
    id = room.plant.add_machine(settings.model_dump())
    room.log(who, "added the machine", id)
    return Json(room.plant.snapshot(id), 201)


@router.get("/{machine}", response_model=MachineWords)
def machine(machine: MachineId, room: Context) -> Json:
    """One machine as it is now."""
    return Json(room.plant.snapshot(machine))


@router.delete("/{machine}", status_code=204, response_class=Response)
def remove_machine(who: Admin, machine: MachineId, room: Context) -> Response:
    """No longer listen to a machine that was added here; its history stays."""
    room.plant.remove_machine(machine)
    room.log(who, "removed the machine", machine)
    return Response(status_code=204)


@router.get("/{machine}/scores", response_model=TrendWords)
def scores(
    machine: MachineId,
    span: Span,
    room: Context,
    points: Annotated[int, Query(ge=1, le=5000)] = 600,
) -> Json:
    """Its scores over a span of time, the last hour where none is given."""
    trend = room.store.trend(machine, span.begin, span.end, points)
    return Json(
        {
            "seconds_per_point": trend.seconds_per_point,
            "time": trend.time,
            "low": trend.low,
            "mean": trend.mean,
            "high": trend.high,
            "state": trend.state,
        }
    )


@router.get("/{machine}/spectrum", response_model=SpectrumWords)
def spectrum(machine: MachineId, room: Context) -> Json:
    """Its sound now against its usual one, in dB by mel bin."""
    return Json(room.plant.spectrum(machine))


@router.get("/{machine}/waterfall", response_model=WaterfallWords)
def waterfall(
    machine: MachineId, room: Context, seconds: Annotated[float, Query(gt=0, le=120)] = 60.0
) -> Json:
    """A spectrogram of the last seconds; 0 to 255 stand for low_db to high_db."""
    return Json(room.plant.waterfall(machine, seconds))


@router.get(
    "/{machine}/normal.flac",
    response_class=Response,
    responses={200: {"content": {"audio/flac": {}}, "description": "A recording."}},
)
def normal_sample(machine: MachineId, room: Context) -> Response:
    """What it sounds like when all is well, to compare with."""
    try:
        sample = room.plant.normal_sample(machine)
    except SsdptError as error:
        raise HTTPException(404, str(error)) from error
    return Response(sample, media_type="audio/flac")


@router.post("/{machine}/mute", response_model=MachineWords)
def mute(who: Operator, machine: MachineId, muting: Muting, room: Context) -> Json:
    """No new events of it for some minutes: planned work."""
    room.plant.mute(machine, time.time() + 60 * muting.minutes)
    room.log(who, f"muted for {muting.minutes:g} min", machine)
    return Json(room.plant.snapshot(machine))


@router.delete("/{machine}/mute", response_model=MachineWords)
def unmute(who: Operator, machine: MachineId, room: Context) -> Json:
    """Events are told again."""
    room.plant.mute(machine, None)
    room.log(who, "unmuted", machine)
    return Json(room.plant.snapshot(machine))


@router.post("/{machine}/rebaseline", response_model=MachineWords)
def rebaseline(who: Admin, machine: MachineId, room: Context) -> Json:
    """What it has sounded like lately is normal from now on."""
    room.plant.rebaseline(machine)
    room.log(who, "took a new baseline", machine)
    return Json(room.plant.snapshot(machine))


@router.post("/{machine}/learn", response_model=MachineWords)
def learn(who: Admin, machine: MachineId, learning: LearningTime, room: Context) -> Json:
    """Listen for some minutes and learn that as its normal sound."""
    room.plant.start_learning(machine, learning.minutes)
    room.log(who, f"started learning for {learning.minutes:g} min", machine)
    return Json(room.plant.snapshot(machine))


@router.delete("/{machine}/learn", response_model=MachineWords)
def stop_learning(who: Admin, machine: MachineId, room: Context) -> Json:
    """Throw away what was collected, and judge it as before."""
    room.plant.stop_learning(machine)
    room.log(who, "stopped learning", machine)
    return Json(room.plant.snapshot(machine))


@router.put("/{machine}/operating-points/{number}", response_model=MachineWords)
def name_point(
    who: Admin, machine: MachineId, number: int, naming: PointName, room: Context
) -> Json:
    """Give one of its operating points a name."""
    room.plant.name_point(machine, number, naming.name)
    room.log(who, f"called operating point {number} '{naming.name.strip()}'", machine)
    return Json(room.plant.snapshot(machine))


@router.get("/{machine}/thresholds", response_model=LimitWords)
def preview_thresholds(
    machine: MachineId, room: Context, per_week: Annotated[float, Query(ge=0.1, le=10080)]
) -> Json:
    """What its limits would be with so many false alerts a week."""
    return Json(room.plant.thresholds(machine, per_week))


@router.put("/{machine}/thresholds", response_model=LimitWords)
def set_thresholds(who: Admin, machine: MachineId, wanted: FalseAlarms, room: Context) -> Json:
    """Put up with so many false alerts a week from now on."""
    limits = room.plant.set_thresholds(machine, wanted.per_week)
    room.log(who, f"set false alarms a week to {wanted.per_week:g}", machine)
    return Json(limits)
