"""The detectors, by name. The class of each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ssdpt.config.registry import entry_of, system_entries
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.systems.base import System


def system_names() -> list[str]:
    """Every system that can be fitted."""
    return list(system_entries())


def system_class(name: str) -> type[System]:
    """The class of the system `name`."""
    entry = entry_of(name)
    module, _, attribute = entry.location.partition(":")
    try:
        system: type[System] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        if module.startswith(f"{__name__}."):
            raise  # ours: a library is missing, and the command line names it
        raise SsdptError(f"system {name} cannot be loaded: {error}") from error
    return system


def systems_that(ability: str) -> str:
    """The systems whose class says yes to `ability`, such as "exports", as a list to read."""
    names = [name for name in system_names() if getattr(system_class(name), ability)]
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)
