"""The detectors, by name. The class of each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from ssdpt.config.registry import SystemEntry, entry_of, register_entry, system_entries
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.systems.base import System

SystemType = TypeVar("SystemType", bound="type[System]")

_registered: dict[str, type[System]] = {}  # of a script or a notebook, by name


def system_names() -> list[str]:
    """Every system that can be fitted."""
    return list(system_entries())


def system_class(name: str) -> type[System]:
    """The class of the system `name`."""
    entry = entry_of(name)
    if name in _registered:
        return _registered[name]
    module, _, attribute = entry.location.partition(":")
    try:
        system: type[System] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        if module.startswith(f"{__name__}."):
            raise  # ours: a library is missing, and the command line names it
        raise SsdptError(f"system {name} cannot be loaded: {error}") from error
    return system


def register_system(system: SystemType) -> SystemType:
    """Make a system of a script or a notebook usable by its `name`, as `system: NAME`.

    A decorator of its class. It has the settings of the system that it is derived from. Running a
    changed cell again replaces it. A model of it can be loaded where it is registered.
    """
    settings = {entry.location: entry.settings for entry in system_entries().values()}
    bases = [f"{base.__module__}:{base.__qualname__}" for base in system.__mro__[1:]]
    inherited = next((settings[base] for base in bases if base in settings), ())
    location = f"{system.__module__}:{system.__qualname__}"
    register_entry(SystemEntry(system.name, location, inherited))
    _registered[system.name] = system
    return system


def systems_that(ability: str) -> str:
    """The systems whose class says yes to `ability`, such as "exports", as a list to read."""
    names = [name for name in system_names() if getattr(system_class(name), ability)]
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)
