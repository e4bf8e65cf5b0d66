"""Machines: their state, their sound, and their settings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from ssdpt.alarms.settings import FEWEST_FALSE_ALERTS, MOST_FALSE_ALERTS
from ssdpt.alarms.thresholds import Thresholds
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.messages import MachineStatus, Spectrogram, Spectrum
from ssdpt.sentences import said
from ssdpt.server.auth import Admin, Operator, Viewer
from ssdpt.server.context import Context
from ssdpt.server.ids import MachineId
from ssdpt.server.machine_policy import check_addition
from ssdpt.server.schemas import (
    BandTrendReply,
    CommissioningRequest,
    FalseAlertsRequest,
    LearningRequest,
    MachineSound,
    MuteRequest,
    OperatingPointRequest,
    TrendReply,
)
from ssdpt.server.time_range import TimeRangeQuery

router = APIRouter(prefix="/v1/machines", tags=["machines"])

SpectrogramSeconds = Annotated[
    float, Query(gt=0, le=120, description="The length of the sound that is shown, which ends now.")
]
Points = Annotated[int, Query(ge=1, le=5000)]


@router.get("")
def machines(user: Viewer, context: Context) -> list[MachineStatus]:
    """All machines as they are now."""
    return context.service.machine_statuses()


@router.post("", status_code=201)
def add_machine(user: Admin, settings: MachineSettings, context: Context) -> MachineStatus:
    """Monitor one more machine. Files of the service's computer need the configuration file."""
    check_addition(settings)
    machine = context.service.add_machine(settings)
    context.log(user, "added the machine", machine)
    return context.service.machine_status(machine)


@router.get("/{machine}")
def machine(user: Viewer, machine: MachineId, context: Context) -> MachineStatus:
    """One machine as it is now."""
    return context.service.machine_status(machine)


@router.delete("/{machine}", status_code=204, response_class=Response)
def remove_machine(user: Admin, machine: MachineId, context: Context) -> Response:
    """Stop monitoring a machine that was added here; its history stays."""
    context.service.remove_machine(machine)
    context.log(user, "removed the machine", machine)
    return Response(status_code=204)


@router.get("/{machine}/trend")
def trend(
    user: Viewer,
    machine: MachineId,
    time_range: TimeRangeQuery,
    context: Context,
    points: Points = 600,
) -> TrendReply:
    """The scores of a machine over a time range, by default the last hour."""
    return TrendReply.of(context.store.trend(machine, time_range.begin, time_range.end, points))


@router.get("/{machine}/bands")
def band_trend(
    user: Viewer,
    machine: MachineId,
    time_range: TimeRangeQuery,
    context: Context,
    points: Points = 600,
) -> BandTrendReply:
    """The level, and that of each frequency band, over a time range, by default the last hour."""
    bands = context.service.machine_status(machine).bands
    trend = context.store.band_trend(machine, time_range.begin, time_range.end, points)
    return BandTrendReply(
        seconds_per_point=trend.seconds_per_point,
        edges_hz=(*(band.low_hz for band in bands), *(band.high_hz for band in bands[-1:])),
        time=trend.time.tolist(),
        level_dbfs=trend.level_db.tolist(),
        levels=trend.levels_db.tolist(),
    )


@router.get("/{machine}/spectrum")
def spectrum(user: Viewer, machine: MachineId, context: Context) -> Spectrum:
    """The sound of a machine now against its normal sound, in dB by mel bin."""
    return context.service.spectrum(machine)


@router.get("/{machine}/spectrogram")
def spectrogram(
    user: Viewer, machine: MachineId, context: Context, seconds: SpectrogramSeconds = 60.0
) -> Spectrogram:
    """A spectrogram of the last seconds; 0 to 255 stand for low_db to high_db."""
    return context.service.spectrogram(machine, seconds)


@router.get("/{machine}/sound")
def sound(
    user: Viewer, machine: MachineId, context: Context, seconds: SpectrogramSeconds = 5.0
) -> MachineSound:
    """Spectrum and spectrogram in one answer, for pages that draw both every second."""
    return MachineSound(
        spectrum=context.service.spectrum(machine),
        spectrogram=context.service.spectrogram(machine, seconds),
    )


@router.get(
    "/{machine}/normal.flac",
    response_class=Response,
    responses={200: {"content": {"audio/flac": {}}, "description": "A recording."}},
)
def normal_sample(user: Viewer, machine: MachineId, context: Context) -> Response:
    """A sample of the normal sound of a machine, to compare with."""
    try:
        sample = context.service.normal_sample(machine)
    except SsdptError as error:
        raise HTTPException(404, said(error)) from error
    return Response(sample, media_type="audio/flac")


@router.post("/{machine}/mute")
def mute(user: Operator, machine: MachineId, body: MuteRequest, context: Context) -> MachineStatus:
    """Begin no new events for some minutes, for planned work."""
    # By the clock of the service, which is ahead of this computer's in a fast simulation.
    context.service.mute(machine, context.service.status().now + 60 * body.minutes)
    context.log(user, f"muted for {body.minutes:g} min", machine)
    return context.service.machine_status(machine)


@router.delete("/{machine}/mute")
def unmute(user: Operator, machine: MachineId, context: Context) -> MachineStatus:
    """End the mute: new events may begin again."""
    context.service.mute(machine, None)
    context.log(user, "unmuted", machine)
    return context.service.machine_status(machine)


@router.post("/{machine}/commission")
def commission(
    user: Operator, machine: MachineId, body: CommissioningRequest, context: Context
) -> MachineStatus:
    """Answer the question whether a machine that sounds different since the start is healthy."""
    context.service.commission(machine, healthy=body.healthy)
    context.log(user, f"said that it is {'healthy' if body.healthy else 'not healthy'}", machine)
    return context.service.machine_status(machine)


@router.post("/{machine}/accept-drift")
def accept_drift(user: Admin, machine: MachineId, context: Context) -> MachineStatus:
    """Accept the drift: the recent sound of the machine is normal from now on."""
    context.service.accept_drift(machine)
    context.log(user, "accepted the drift", machine)
    return context.service.machine_status(machine)


@router.post("/{machine}/learn")
def learn(
    user: Admin, machine: MachineId, body: LearningRequest, context: Context
) -> MachineStatus:
    """Learn a new baseline from the next minutes of sound."""
    context.service.start_learning(machine, body.minutes)
    context.log(user, f"started learning for {body.minutes:g} min", machine)
    return context.service.machine_status(machine)


@router.delete("/{machine}/learn")
def stop_learning(user: Admin, machine: MachineId, context: Context) -> MachineStatus:
    """Discard the collected sound, and keep the previous baseline."""
    context.service.stop_learning(machine)
    context.log(user, "stopped learning", machine)
    return context.service.machine_status(machine)


@router.put("/{machine}/operating-points/{number}")
def name_operating_point(
    user: Admin, machine: MachineId, number: int, body: OperatingPointRequest, context: Context
) -> MachineStatus:
    """Name an operating point of a machine."""
    context.service.name_operating_point(machine, number, body.name)
    context.log(user, f"named operating point {number} '{body.name.strip()}'", machine)
    return context.service.machine_status(machine)


@router.get("/{machine}/thresholds")
def preview_thresholds(
    user: Viewer,
    machine: MachineId,
    context: Context,
    false_alerts_per_week: Annotated[float, Query(ge=FEWEST_FALSE_ALERTS, le=MOST_FALSE_ALERTS)],
) -> Thresholds:
    """The thresholds that a machine would have with this many false alerts per week."""
    return context.service.thresholds(machine, false_alerts_per_week)


@router.put("/{machine}/thresholds")
def set_thresholds(
    user: Admin, machine: MachineId, body: FalseAlertsRequest, context: Context
) -> Thresholds:
    """Accept this many false alerts per week from now on."""
    thresholds = context.service.set_false_alerts(machine, body.false_alerts_per_week)
    context.log(user, f"set false alerts per week to {body.false_alerts_per_week:g}", machine)
    return thresholds
