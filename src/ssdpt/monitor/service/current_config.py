"""The configuration in use: the file's, with the machines that were added on the page."""

from __future__ import annotations

from pathlib import Path

from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, MonitorConfig, read_monitor_config
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.service.added_machines import AddedMachines
from ssdpt.monitor.setup_messages import DefinedIn, MachineDefinition
from ssdpt.sentences import Sentence


class CurrentConfig:
    """Changes when the file is read again, or a machine is added, changed or removed."""

    def __init__(self, config: MonitorConfig, added: AddedMachines, path: Path | None) -> None:
        """`path` of the configuration file; None for the demo."""
        self._added, self._path = added, path
        self._configured = {machine.id for machine in config.machines}  # by the file itself
        self.config = added.joined(config)

    @property
    def bearings(self) -> BearingCatalogue:
        """Bearings by name: those shipped, and those of a file beside the configuration file."""
        return BearingCatalogue.beside(self._path)

    def is_added(self, id: str) -> bool:
        """Whether a machine was added on the page and is not in the file."""
        return id in self._added and id not in self._configured

    def is_on_both(self, id: str) -> bool:
        """Whether the file and the page define a machine; the file's definition is used."""
        return id in self._added and id in self._configured

    def definition(self, id: str) -> MachineDefinition:
        """The settings of a machine without secrets, and where they can be changed."""
        place: DefinedIn = "page" if self.is_added(id) else "file" if self._path else "demo"
        settings = self.settings(id)
        return MachineDefinition(
            settings=settings.model_copy(update={"source": settings.source.masked()}),
            defined_in=place,
            file="" if self._path is None else self._path.name,
            also_on_page=self.is_on_both(id),
        )

    def settings(self, id: str) -> MachineSettings:
        """The settings that are used; UnknownMachine where there is no such machine."""
        for machine in self.config.machines:
            if machine.id == id:
                return machine
        raise UnknownMachine(id)

    def at_speed(self, settings: MachineSettings) -> MachineSettings:
        """A machine that plays recordings plays them at the speed of the service."""
        return self._added.at_speed(settings, self.config.speed)

    def add(self, settings: MachineSettings) -> None:
        """Keep a machine that was added on the page."""
        self._added.add(settings)
        self._set_machines((*self.config.machines, settings))

    def check_changeable(self, id: str) -> None:
        """SsdptError for a machine that the page did not add."""
        if self.is_added(id):
            return
        if self._path is None:
            raise SsdptError(Sentence("machines.ofDemo", id=id))
        raise SsdptError(Sentence("machines.ofFile", id=id, file=self._path.name))

    def change(self, settings: MachineSettings) -> None:
        """Keep the new settings of a machine that was added on the page."""
        self._added.add(settings)
        self._set_machines(
            tuple(settings if one.id == settings.id else one for one in self.config.machines)
        )

    def remove_ignored(self, id: str) -> None:
        """Remove the page's definition of a machine that the file defines as well."""
        if not self.is_on_both(id):
            raise SsdptError(Sentence("machines.notTwice", id=id))
        self._added.remove(id)

    def remove(self, id: str) -> None:
        """Remove a machine that was added on the page."""
        if not self.is_added(id):
            raise SsdptError(Sentence("machines.removeInFile", id=id))
        self._added.remove(id)
        self._set_machines(tuple(one for one in self.config.machines if one.id != id))

    def read_again(self) -> tuple[MonitorConfig, MonitorConfig]:
        """The file as it is now, alone and with the added machines; nothing is changed yet."""
        if self._path is None:
            raise SsdptError(Sentence("config.noFileToRead"))
        written = read_monitor_config(self._path)
        joined = self._added.joined(written)
        if not joined.machines and self.config.machines:
            raise SsdptError(Sentence("config.noMachines", path=self._path))
        return written, joined

    def use(self, written: MonitorConfig, joined: MonitorConfig) -> None:
        """Take what `read_again` gave."""
        self._configured = {machine.id for machine in written.machines}
        self.config = joined

    def _set_machines(self, machines: tuple[MachineSettings, ...]) -> None:
        self.config = self.config.model_copy(update={"machines": machines})
