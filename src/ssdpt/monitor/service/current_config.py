"""The configuration in use: the file's, with the machines that were added on the page."""

from __future__ import annotations

from pathlib import Path

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, read_monitor_config
from ssdpt.monitor.service.added_machines import AddedMachines


class CurrentConfig:
    """Changes when the file is read again, or a machine is added or removed."""

    def __init__(self, config: MonitorConfig, added: AddedMachines, path: Path | None) -> None:
        """`path` of the configuration file; None for the demo."""
        self._added, self._path = added, path
        self._configured = {machine.id for machine in config.machines}  # by the file itself
        self.config = added.joined(config)

    @property
    def titles(self) -> dict[str, str]:
        """Names for people by machine id."""
        return {machine.id: machine.title for machine in self.config.machines}

    def is_added(self, id: str) -> bool:
        """Whether a machine was added on the page and is not in the file."""
        return id in self._added and id not in self._configured

    def at_speed(self, settings: MachineSettings) -> MachineSettings:
        """A machine that plays recordings plays them at the speed of the service."""
        return self._added.at_speed(settings, self.config.speed)

    def add(self, settings: MachineSettings) -> None:
        """Keep a machine that was added on the page."""
        self._added.add(settings)
        self._set_machines((*self.config.machines, settings))

    def remove(self, id: str) -> None:
        """Remove a machine that was added on the page."""
        if not self.is_added(id):
            raise SsdptError(f"machine {id} is in the configuration file; remove it there")
        self._added.remove(id)
        self._set_machines(tuple(one for one in self.config.machines if one.id != id))

    def read_again(self) -> tuple[MonitorConfig, MonitorConfig]:
        """The file as it is now, alone and with the added machines; nothing is changed yet."""
        if self._path is None:
            raise SsdptError("there is no configuration file to read again")
        written = read_monitor_config(self._path)
        joined = self._added.joined(written)
        if not joined.machines and self.config.machines:
            raise SsdptError(
                f"{self._path}: has no machines any more; stop the service if this is intended"
            )
        return written, joined

    def use(self, written: MonitorConfig, joined: MonitorConfig) -> None:
        """Take what `read_again` gave."""
        self._configured = {machine.id for machine in written.machines}
        self.config = joined

    def _set_machines(self, machines: tuple[MachineSettings, ...]) -> None:
        self.config = self.config.model_copy(update={"machines": machines})
