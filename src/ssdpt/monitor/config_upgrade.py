"""Configuration files of earlier releases: old settings are read as the present ones.

Each change of a setting's name or form is one small function in `CONFIG_UPGRADES`. The file itself
stays as it is until someone runs `ssdpt upgrade-config`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ssdpt.common.files import atomic_path, writing
from ssdpt.monitor.mail_upgrade import mail_to_notify
from ssdpt.sentences import Sentence

Mapping = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConfigUpgrade:
    """One change of the configuration file between two releases."""

    describe: str  # what was changed, as a sentence for whoever wrote the file
    # Changes the content of a file in place; True where there was something to change. The content
    # is not checked yet: anything may be missing, or of another type.
    apply: Callable[[Mapping], bool]


def upgrade_content(content: Any) -> tuple[str, ...]:
    """Bring the content of a configuration file up to date, in place; what was changed."""
    if not isinstance(content, dict):
        return ()
    return tuple(upgrade.describe for upgrade in CONFIG_UPGRADES if upgrade.apply(content))


def rewrite_config(path: Path, content: Mapping) -> Path:
    """Write upgraded content in place of a configuration file; the file that was is kept.

    Gives the path of the latter. Whatever happens, one of the two is complete under `path`.
    """
    path = path.resolve()  # a link stays a link
    kept = keep_copy(path)
    with writing(path), atomic_path(path, private=True) as temporary:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
        temporary.write_text(text, "utf-8")
        shutil.copymode(path, temporary)
    return kept


def keep_copy(path: Path) -> Path:
    """Copy a file of settings before it is replaced, as `NAME.bak`; gives the path of the copy.

    A copy that is there already stays, and the new one is `NAME.bak2`, and so on.
    """
    path = path.resolve()
    kept = next(name for name in _backup_names(path) if not name.exists())
    # It may hold secrets that only its owner can read: never readable by more than it was.
    with writing(kept), atomic_path(kept, private=True) as temporary:
        shutil.copyfile(path, temporary)
        shutil.copymode(path, temporary)
    return kept


def _backup_names(path: Path) -> Iterator[Path]:
    yield path.with_name(f"{path.name}.bak")
    number = 1
    while True:
        number += 1
        yield path.with_name(f"{path.name}.bak{number}")


def members(content: Mapping, name: str) -> list[Mapping]:
    """The mappings in the list called `name`, such as machines or outputs."""
    items = content.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def member(content: Mapping, name: str) -> list[Mapping]:
    """The mapping called `name`, as a list of one or none."""
    item = content.get(name)
    return [item] if isinstance(item, dict) else []


def rename(content: Mapping, old: str, new: str) -> bool:
    """Rename one setting and keep its place; a file that has both is left to its author."""
    if old not in content or new in content:
        return False
    items = [(new if name == old else name, value) for name, value in content.items()]
    content.clear()
    content.update(items)
    return True


def _renamed(
    old: str, new: str, where: Callable[[Mapping], list[Mapping]], of: str = ""
) -> ConfigUpgrade:
    """The setting `old` is called `new`, in every mapping that `where` finds; `of`: whose it is."""

    def apply(content: Mapping) -> bool:
        changed = [rename(holder, old, new) for holder in where(content)]
        return any(changed)

    if of:
        return ConfigUpgrade(Sentence("config.renamedOf", old=old, new=new, of=of), apply)
    return ConfigUpgrade(Sentence("config.renamed", old=old, new=new), apply)


def _top(content: Mapping) -> list[Mapping]:
    return [content]


def _alarms(content: Mapping) -> list[Mapping]:
    return [alarm for one in members(content, "machines") for alarm in member(one, "alarm")]


def _live_sources(content: Mapping) -> list[Mapping]:
    """All but replays, which have a setting `every` today: the time between two snapshots."""
    sources = [source for one in members(content, "machines") for source in member(one, "source")]
    return [source for source in sources if source.get("kind") != "replay"]


def _mails(content: Mapping) -> list[Mapping]:
    return [one for one in members(content, "outputs") if one.get("kind") == "mail"]


def _retention(content: Mapping) -> list[Mapping]:
    return member(content, "retention")


def _mails_to_notify(content: Mapping) -> bool:
    changed = [mail_to_notify(mail) for mail in _mails(content)]
    return any(changed)


# Oldest first: a setting may have changed twice.
CONFIG_UPGRADES: tuple[ConfigUpgrade, ...] = (
    _renamed("zone", "timezone", _top),
    _renamed("per_week", "false_alerts_per_week", _alarms, Sentence("config.ofAlarm")),
    _renamed("shortest", "min_duration", _alarms, Sentence("config.ofAlarm")),
    _renamed("settle", "clear_after", _alarms, Sentence("config.ofAlarm")),
    _renamed("every", "max_silence", _live_sources, Sentence("config.ofSource")),
    _renamed("most_an_hour", "max_per_hour", _mails, Sentence("config.ofMail")),
    _renamed("least_free_mb", "min_free_mb", _retention, Sentence("config.ofRetention")),
    ConfigUpgrade(
        Sentence("config.mailIsNotify"),
        _mails_to_notify,
    ),
)
