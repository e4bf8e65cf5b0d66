"""What a machine that is added by HTTP may use: no files of the service's computer."""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.sources.network_source import STREAM_SCHEMES, NetworkSettings


def check_addition(machine: MachineSettings) -> None:
    """SsdptError if the machine must be in the configuration file."""
    if machine.model is not None:
        raise SsdptError(
            f"machine {machine.id}: a model is a folder of the service's computer; "
            "name it in the configuration file"
        )
    if not machine.source.reads_local_files:
        return
    if isinstance(machine.source, NetworkSettings):
        raise SsdptError(
            f"machine {machine.id}: the address of a stream starts with one of "
            f"{', '.join(STREAM_SCHEMES)} and ://; for a file, name it in the configuration file"
        )
    raise SsdptError(
        f"machine {machine.id}: a {machine.source.kind} source reads files of the service's "
        "computer; name it in the configuration file"
    )
