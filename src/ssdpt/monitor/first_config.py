"""The first configuration file and the first machine, from the answers to three questions."""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from ssdpt.config.validation import checked
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.service.added_machines import AddedMachines

_ZONES = Path("/usr/share/zoneinfo")
_LOCALTIME, _TIMEZONE = Path("/etc/localtime"), Path("/etc/timezone")
_HEADER = """\
# The plant, and who is notified. Machines are added and changed on the page; those that are written
# here are changed here alone. The service reads this file again whenever it changes. All settings:
# docs/reference/monitor-settings.md. To check it: ssdpt serve --check --config {name}
"""


def first_config(plant: str, timezone: str, name: str) -> str:
    """The text of a file `name` without machines; SsdptError where an answer is not valid."""
    content = {"name": plant, "timezone": timezone}
    checked(MonitorConfig, content, name)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return _HEADER.format(name=name) + text


def add_first_machine(machines: Path, source: dict[str, Any]) -> None:
    """Add it to the list of those added on the page: so it is changed there, its name first of all.

    `machines` is the file of the list. One that is there already keeps its place and its history.
    """
    added = AddedMachines(machines)
    number = next(n for n in itertools.count(1) if f"machine-{n}" not in added)
    content = {"id": f"machine-{number}", "name": f"Machine {number}", "source": source}
    added.add(checked(MachineSettings, content, machines.name))


def local_timezone() -> str:
    """The time zone of this computer by name; UTC where it does not say."""
    candidates = [os.environ.get("TZ", "").removeprefix(":")]
    with contextlib.suppress(OSError, ValueError):  # a copy of a file has no name
        candidates.append(str(_LOCALTIME.resolve(strict=True).relative_to(_ZONES)))
    with contextlib.suppress(OSError, UnicodeDecodeError):
        candidates.append(_TIMEZONE.read_text("utf-8").strip())
    return next((name for name in candidates if name and is_timezone(name)), "UTC")


def is_timezone(name: str) -> bool:
    """Whether there is such a time zone."""
    try:
        ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        return False
    return True
