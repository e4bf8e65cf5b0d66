"""Operating data that a control system sends."""

from __future__ import annotations

from fastapi import APIRouter

from ssdpt.monitor.messages import MachineStatus
from ssdpt.server.auth import Operator
from ssdpt.server.context import Context
from ssdpt.server.ids import MachineId
from ssdpt.server.schemas import OperatingDataRequest

router = APIRouter(prefix="/v1/machines", tags=["machines"])


@router.put("/{machine}/operating-data")
@router.post("/{machine}/operating-data")
def push_operating_data(
    user: Operator, machine: MachineId, body: OperatingDataRequest, context: Context
) -> MachineStatus:
    """Run state, speed and load of a machine as they are now; PUT and POST do the same."""
    context.service.push_operating_data(
        machine,
        running=body.running,
        speed_rpm=body.speed_rpm,
        load_percent=body.load_percent,
    )
    context.log_hourly(user, "sent operating data", machine)
    return context.service.machine_status(machine)
