"""What a machine that is added by HTTP may use: no files of the service's computer."""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings


def check_addition(machine: MachineSettings) -> None:
    """SsdptError if the machine must be in the configuration file."""
    if machine.model is not None:
        raise SsdptError(
            f"machine {machine.id}: a model is a folder of the service's computer; "
            "name it in the configuration file"
        )
    if machine.source.reads_local_files:
        raise SsdptError(
            f"machine {machine.id}: this {machine.source.kind} source reads files of the "
            "service's computer; name it in the configuration file"
        )
