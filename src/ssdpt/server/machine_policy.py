"""What a machine that is added by HTTP may use: no files of the service's computer."""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.sentences import Sentence


def check_addition(machine: MachineSettings) -> None:
    """SsdptError if the machine must be in the configuration file."""
    if machine.model is not None:
        raise SsdptError(Sentence("machines.modelIsLocal", id=machine.id))
    if machine.source.reads_local_files:
        kind = machine.source.kind
        raise SsdptError(Sentence("machines.sourceIsLocal", id=machine.id, kind=kind))
    if machine.operating_data is not None and machine.operating_data.reads_local_files:
        raise SsdptError(Sentence("machines.operatingDataIsLocal", id=machine.id))
