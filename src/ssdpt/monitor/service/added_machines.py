"""Machines that were added on the page, beside those of the configuration file."""

from __future__ import annotations

import json
from pathlib import Path

from ssdpt.common.files import write_json
from ssdpt.detection.storage import DAMAGE
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.config_upgrade import keep_copy, upgrade_content
from ssdpt.sentences import Sentence


class AddedMachines:
    """A list in the data folder. A machine of the configuration file wins over one added here."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Whether an earlier release wrote the list: it could not read what this one writes.
        self.machines, self._old = _read(path)

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
        if self._old:
            keep_copy(self.path)
            self._old = False
        content = [machine.model_dump(mode="json") for machine in machines]
        write_json(self.path, content, private=True)  # addresses of cameras hold passwords
        self.machines = machines


def _read(path: Path) -> tuple[list[MachineSettings], bool]:
    """The machines of the list, and whether it has settings of an earlier release."""
    if not path.exists():
        return [], False
    try:
        path.chmod(0o600)  # an earlier release wrote it for everyone
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, list):
            raise TypeError("not a list")
        upgrades = upgrade_content({"machines": content})
        return [MachineSettings.model_validate(machine) for machine in content], bool(upgrades)
    except (OSError, *DAMAGE) as error:
        raise SsdptError(Sentence("config.addedUnreadable", path=path)) from error
