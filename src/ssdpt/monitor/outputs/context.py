"""What outputs know of the plant; the service gives it, and again when it has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from ssdpt.monitor.language import LanguageCode


@dataclass(frozen=True, slots=True)
class MachineLabel:
    """What people call a machine."""

    name: str
    site: str = ""
    group: str = ""  # who looks after it


@dataclass(frozen=True, slots=True)
class OutputContext:
    """The machines, the language of people, and where they find the page."""

    machines: Mapping[str, MachineLabel] = field(default_factory=dict)  # by id
    plant: str = "Plant"
    language: LanguageCode = "en"
    timezone: str = "UTC"
    public_url: str = ""  # of the page; empty: unknown, so that there are no links
    has_pictures: bool = False  # whether events get one, some seconds after they began
    picture: Callable[[str], bytes | None] = lambda event: None  # of an event, as PNG
    problem: Callable[[], str] = lambda: ""  # why the service does not monitor; empty: it does

    def label(self, machine: str) -> MachineLabel:
        """Of a machine; one that is not known is called by its id."""
        return self.machines.get(machine) or MachineLabel(machine)

    def link(self, event: str) -> str:
        """The page of an event; empty where the address of the page is not known."""
        return f"{self.public_url.rstrip('/')}/#/event/{event}" if self.public_url else ""

    def with_link(self, public_url: str) -> Self:
        """With another address of the page."""
        return replace(self, public_url=public_url)

    def keeping(self, before: Self) -> Self:
        """With removed machines, too: messages about them may still wait."""
        return replace(self, machines={**before.machines, **self.machines})
