"""Machines that were added on the page, beside those of the configuration file."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from ssdpt.common.files import write_json
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig


class AddedMachines:
    """A list in the data folder. A machine of the configuration file wins over one added here."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.machines = _read(path)

    def add(self, machine: MachineSettings) -> None:
        self._save([*(one for one in self.machines if one.id != machine.id), machine])

    def __contains__(self, id: object) -> bool:
        return any(one.id == id for one in self.machines)

    def remove(self, id: str) -> None:
        self._save([one for one in self.machines if one.id != id])

    @staticmethod
    def at_speed(machine: MachineSettings, speed: float) -> MachineSettings:
        """Its source plays at the speed of the service's clock, if it plays recordings."""
        return machine.model_copy(update={"source": machine.source.at_speed(speed)})

    def joined(self, config: MonitorConfig) -> MonitorConfig:
        """The configuration with these machines as well."""
        configured = {machine.id for machine in config.machines}
        added = tuple(
            self.at_speed(machine, config.speed)
            for machine in self.machines
            if machine.id not in configured
        )
        return config.model_copy(update={"machines": (*config.machines, *added)})

    def _save(self, machines: list[MachineSettings]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path, [machine.model_dump(mode="json") for machine in machines])
        self.machines = machines


def _read(path: Path) -> list[MachineSettings]:
    if not path.exists():
        return []
    try:
        content = json.loads(path.read_text("utf-8"))
        return [MachineSettings.model_validate(machine) for machine in content]
    except (OSError, ValueError, TypeError, ValidationError) as error:
        raise SsdptError(
            f"{path}: the machines added on the page cannot be read; repair the file or remove it"
        ) from error
