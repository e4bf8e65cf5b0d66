"""Diagnosis: lines of machines, fine spectra and envelope spectra, and the bearings by name."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException

from ssdpt.diagnosis.analysis import SoundAnalysis
from ssdpt.diagnosis.lines import LineSet
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Event
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.sentences import said
from ssdpt.server.auth import Viewer
from ssdpt.server.context import AppContext, Context
from ssdpt.server.ids import EventId, MachineId
from ssdpt.server.problems import NO_EVENT
from ssdpt.server.schemas import Bearing

router = APIRouter(prefix="/v1", tags=["diagnosis"])

Seconds = Annotated[float, Query(ge=1, le=60, description="Of sound, which ends now.")]
MaxHz = Annotated[float, Query(gt=0, le=100_000, description="Highest frequency of the spectrum.")]
BandHz = Annotated[
    float | None,
    Query(
        gt=0,
        le=100_000,
        description="A frequency in the octave whose envelope is wanted; without it the one with "
        "the sharpest knocks.",
    ),
]


@router.get("/bearings")
def bearings(user: Viewer, context: Context) -> list[Bearing]:
    """The bearings that machine data can name, and their fault frequencies per turn."""
    entries = context.service.diagnosis.bearings().entries
    return [Bearing.of(name, entry) for name, entry in entries.items()]


@router.get("/machines/{machine}/lines")
def machine_lines(user: Viewer, machine: MachineId, context: Context) -> LineSet:
    """The diagnosis lines of a machine at its present speed."""
    return context.service.diagnosis.lines(machine)


@router.get("/machines/{machine}/analysis")
def machine_analysis(
    user: Viewer,
    machine: MachineId,
    context: Context,
    seconds: Seconds = 10.0,
    max_hz: MaxHz = 1000.0,
    band_hz: BandHz = None,
) -> SoundAnalysis | None:
    """Fine spectrum and envelope spectrum of the last seconds, beside the normal sound.

    Null where no sound has arrived.
    """
    return context.service.diagnosis.of_machine(machine, seconds, max_hz, band_hz)


@router.get("/events/{event}/lines")
def event_lines(user: Viewer, event: EventId, context: Context) -> LineSet:
    """The diagnosis lines of the machine at its speed during an event."""
    return context.service.diagnosis.event_lines(_event(context, event))


@router.get("/events/{event}/analysis")
def event_analysis(
    user: Viewer, event: EventId, context: Context, max_hz: MaxHz = 1000.0, band_hz: BandHz = None
) -> SoundAnalysis:
    """Fine spectrum and envelope spectrum of an event's recording, beside the normal sound."""
    stored = _event(context, event)
    try:
        return context.service.diagnosis.of_event(stored, max_hz, band_hz)
    except StoreUnavailable:
        raise
    except SsdptError as error:
        raise HTTPException(404, said(error)) from error


def _event(context: AppContext, id: str) -> Event:
    stored = context.store.event(id)
    if stored is None:
        raise HTTPException(404, NO_EVENT)
    return stored
