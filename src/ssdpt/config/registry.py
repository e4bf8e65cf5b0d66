"""Which systems there are: those of the package `ssdpt.systems`, and those of other packages.

A system of ours is a module or a package directly under `ssdpt.systems` with a tuple `SYSTEMS` of
`SystemEntry`. A system of another package is an entry point of the group `ssdpt.systems` that
names a `SystemEntry`. A script or a notebook registers its own. Systems stand above settings: they
are found by name when settings are read, and their classes, which may need torch, are imported only
when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata
from pkgutil import iter_modules

from ssdpt.config.settings import CommonSettings, SystemSettings
from ssdpt.errors import SsdptError, warn

GROUP = "ssdpt.systems"  # of entry points; also the package with the systems of ssdpt
_NO_SYSTEMS = frozenset({"base", "parts"})  # modules of that package that hold no system
_registered: dict[str, SystemEntry] = {}  # of this process, by name


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """What is needed of a system before its class is imported."""

    name: str  # as in `system: NAME`
    location: str  # of its class: "package.module:Class"
    # What it can be set to: its own settings first, then those it shares with other systems.
    settings: tuple[type[SystemSettings], ...] = ()
    oldest_format: int = 1  # of the model folders that it can read


@dataclass(frozen=True, slots=True)
class _Systems:
    """All systems by name, and why others cannot be used."""

    entries: dict[str, SystemEntry] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def system_entries() -> Mapping[str, SystemEntry]:
    """Every system that can be used, by name."""
    return _systems().entries


def system_problems() -> Mapping[str, str]:
    """Systems of other packages that cannot be used: the reason, by the entry point's name."""
    return _systems().problems


def entry_of(name: str) -> SystemEntry:
    """The system `name`; SsdptError where there is none, or where it cannot be used."""
    systems = _systems()
    if name in systems.entries:
        return systems.entries[name]
    if name in systems.problems:
        raise SsdptError(systems.problems[name])
    raise SsdptError(f"no system is called '{name}'; there are {', '.join(systems.entries)}")


def settings_types() -> dict[str, type[SystemSettings]]:
    """The settings of all systems, by their name in the tree."""
    return {
        settings.key: settings for entry in system_entries().values() for settings in entry.settings
    }


def register_entry(entry: SystemEntry) -> None:
    """Add a system for this process; one that was registered under its name is replaced."""
    others = {name: known for name, known in system_entries().items() if name not in _registered}
    try:
        _add(entry, entry.name, others)
    except ValueError as error:
        raise SsdptError(f"system {entry.name} cannot be used: {error}") from error
    _registered[entry.name] = entry
    forget_systems()


def forget_systems() -> None:
    """Look for systems again when they are next asked for: a package was installed or removed."""
    _systems.cache_clear()


@cache
def _systems() -> _Systems:
    systems = _Systems()
    for entry in _package_entries():
        systems.entries[entry.name] = entry
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        try:
            _add(point.load(), point.name, systems.entries)
        except Exception as error:  # a foreign package may fail in any way; the others stay usable
            package = f" of package {point.dist.name}" if point.dist else ""
            reason = str(error) or type(error).__name__
            systems.problems[point.name] = f"system {point.name}{package} cannot be used: {reason}"
    systems.entries.update(_registered)
    for problem in systems.problems.values():
        warn(problem)
    return systems


def _package_entries() -> Iterator[SystemEntry]:
    package = import_module(GROUP)
    for module in iter_modules(package.__path__):
        if module.name not in _NO_SYSTEMS:
            yield from import_module(f"{GROUP}.{module.name}").SYSTEMS


def _add(entry: object, name: str, entries: dict[str, SystemEntry]) -> None:
    """Add the entry that an entry point names; ValueError where it does not fit in."""
    if not isinstance(entry, SystemEntry):
        raise ValueError(f"its entry point names {entry!r}, which is no SystemEntry")
    if entry.name != name:
        raise ValueError(f"it calls itself '{entry.name}'; both names must be the same")
    if name in entries:
        raise ValueError("another system has this name already; it needs a name of its own")
    taken = {kind.key: kind for other in entries.values() for kind in other.settings}
    for kind in entry.settings:
        if taken.get(kind.key, kind) is not kind or kind.key in CommonSettings.model_fields:
            raise ValueError(f"its settings are called '{kind.key}', a name that is taken")
    entries[name] = entry
