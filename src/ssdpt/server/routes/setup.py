"""Setting up machines without a file: microphones, sources on trial, settings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.messages import MachineStatus
from ssdpt.monitor.setup_messages import (
    BaselineChoice,
    ChangeEffect,
    MachineDefinition,
    Microphones,
    TrialStatus,
)
from ssdpt.sentences import Sentence
from ssdpt.server.auth import Admin
from ssdpt.server.context import Context
from ssdpt.server.ids import MachineId
from ssdpt.server.machine_policy import check_addition

router = APIRouter(prefix="/v1", tags=["set up"])

Baseline = Annotated[
    BaselineChoice | None,
    Query(
        description="What becomes of the baseline where source or sensor change: keep where the "
        "sound stays the same, new otherwise."
    ),
]
Seconds = Annotated[float, Query(ge=0, le=60, description="Of the spectrogram, which ends now.")]


@router.get("/microphones")
def microphones(user: Admin, context: Context) -> Microphones:
    """The microphones of the computer that the service runs on."""
    return context.service.microphones()


@router.post("/trials", status_code=201)
def open_trial(user: Admin, settings: MachineSettings, context: Context) -> TrialStatus:
    """Open the source of a machine that need not exist, to see whether the right sound arrives.

    Nothing that arrives is kept. The trial ends when it has not been asked for in ten seconds.
    """
    check_addition(settings)
    trial = context.service.open_trial(settings)
    context.log(user, "tried a source", settings.id)
    return trial


@router.get("/trials/{trial}")
def trial(user: Admin, trial: str, context: Context, seconds: Seconds = 5.0) -> TrialStatus:
    """A source on trial: its level, and a spectrogram of the last seconds."""
    return context.service.trial(trial, seconds)


@router.delete("/trials/{trial}", status_code=204, response_class=Response)
def close_trial(user: Admin, trial: str, context: Context) -> Response:
    """End a trial."""
    context.service.close_trial(trial)
    return Response(status_code=204)


@router.get("/machines/{machine}/settings")
def settings(user: Admin, machine: MachineId, context: Context) -> MachineDefinition:
    """The settings of a machine, and where they can be changed."""
    return context.service.definition(machine)


@router.put("/machines/{machine}")
def change_machine(
    user: Admin,
    machine: MachineId,
    settings: MachineSettings,
    context: Context,
    baseline: Baseline = None,
) -> MachineStatus:
    """Change the settings of a machine that was added on the page; its history stays."""
    _check(machine, settings)
    context.service.change_machine(settings, baseline)
    context.log(user, "changed the settings", machine)
    return context.service.machine_status(machine)


@router.post("/machines/{machine}/settings/effect")
def change_effect(
    user: Admin, machine: MachineId, settings: MachineSettings, context: Context
) -> ChangeEffect:
    """What new settings would mean for what a machine has learned; changes nothing."""
    _check(machine, settings)
    return context.service.change_effect(settings)


@router.delete("/machines/{machine}/settings", status_code=204, response_class=Response)
def remove_ignored_definition(user: Admin, machine: MachineId, context: Context) -> Response:
    """Remove the page's definition of a machine that the configuration file defines as well."""
    context.service.remove_ignored_definition(machine)
    context.log(user, "removed the page's definition", machine)
    return Response(status_code=204)


def _check(machine: str, settings: MachineSettings) -> None:
    if settings.id != machine:
        raise HTTPException(409, Sentence("machines.idStays", id=machine))
    check_addition(settings)
