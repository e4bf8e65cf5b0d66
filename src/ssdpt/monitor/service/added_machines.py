"""Machines that were added on the page, beside those of the plant file."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from ssdpt.common.files import write_json
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, ReplaySettings, SimulatedSettings


class AddedMachines:
    """A list in the data folder. A machine that the plant file has as well is the plant file's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.machines = _read(path)

    def add(self, machine: MachineSettings) -> None:
        """Keep it."""
        self._keep([*(one for one in self.machines if one.id != machine.id), machine])

    def __contains__(self, id: object) -> bool:
        return any(one.id == id for one in self.machines)

    def remove(self, id: str) -> None:
        """Forget it."""
        self._keep([one for one in self.machines if one.id != id])

    @staticmethod
    def at_speed(machine: MachineSettings, speed: float) -> MachineSettings:
        """It plays as fast as the plant's clock runs, where it plays at all."""
        if not isinstance(machine.source, ReplaySettings | SimulatedSettings):
            return machine
        source = machine.source.model_copy(update={"speed": speed})
        return machine.model_copy(update={"source": source})

    def beside(self, plant: MonitorConfig) -> MonitorConfig:
        """The plant with these machines as well."""
        known = {machine.id for machine in plant.machines}
        more = tuple(
            self.at_speed(machine, plant.speed)
            for machine in self.machines
            if machine.id not in known
        )
        return plant.model_copy(update={"machines": (*plant.machines, *more)})

    def _keep(self, machines: list[MachineSettings]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path, [one.model_dump(mode="json") for one in machines])
        self.machines = machines


def _read(path: Path) -> list[MachineSettings]:
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text("utf-8"))
        return [MachineSettings.model_validate(one) for one in found]
    except (OSError, ValueError, TypeError, ValidationError) as error:
        raise SsdptError(
            f"{path}: the machines added on the page cannot be read; repair the file or remove it"
        ) from error
