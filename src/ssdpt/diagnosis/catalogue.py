"""The catalogue of bearings: those shipped, and those of a file of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from ssdpt.config.validation import checked, read_yaml
from ssdpt.diagnosis.bearing import BearingGeometry
from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence

OWN_FILE = "bearings.yaml"  # beside the configuration file
_SHIPPED = Path(__file__).with_name("bearings.yaml")
_NEAREST = 3  # names in the message about an unknown one


class CatalogueEntry(BearingGeometry):
    """A bearing that is known by its name."""

    source: str = Field(
        min_length=1, description="where the dimensions come from: publication or data sheet, year"
    )


class BearingCatalogue:
    """Bearings by name; letter case, spaces and hyphens do not matter."""

    def __init__(self, entries: Mapping[str, CatalogueEntry]) -> None:
        self.entries = dict(entries)
        self._names = {_plain(name): name for name in entries}

    @classmethod
    def shipped(cls) -> Self:
        """Those that come with the package."""
        return cls(_shipped())

    @classmethod
    def beside(cls, config: Path | None) -> Self:
        """Those shipped, with those of a file beside the configuration file, if there is one."""
        entries = _shipped()
        own = None if config is None else config.parent / OWN_FILE
        if own is not None and own.exists():
            written = _read(own)
            replaced = {_plain(name) for name in written}
            kept = {name: it for name, it in entries.items() if _plain(name) not in replaced}
            entries = kept | written
        return cls(entries)

    def __getitem__(self, name: str) -> CatalogueEntry:
        """SsdptError for a name that is not in it names the nearest ones."""
        known = self._names.get(_plain(name))
        if known is not None:
            return self.entries[known]
        near = get_close_matches(_plain(name), self._names, _NEAREST, cutoff=0.4)
        if not near:
            raise SsdptError(Sentence("machines.unknownBearing", name=name, file=OWN_FILE))
        nearest = [self._names[one] for one in near]
        raise SsdptError(
            Sentence("machines.unknownBearingNear", name=name, nearest=nearest, file=OWN_FILE)
        )


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


@cache
def _shipped() -> dict[str, CatalogueEntry]:
    """Read once: each of hundreds of machines asks for it at the start. Not to be changed."""
    return _read(_SHIPPED)


def _read(path: Path) -> dict[str, CatalogueEntry]:
    try:
        content: Any = read_yaml(path.read_text("utf-8"), str(path)) or {}
    except OSError as error:
        raise SsdptError(Sentence("config.unreadable", path=path, reason=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise SsdptError(Sentence("machines.catalogueNotText", path=path)) from error
    if not isinstance(content, dict):
        raise SsdptError(Sentence("machines.catalogueForm", path=path))
    return {
        str(name): checked(CatalogueEntry, entry or {}, f"{path}: {name}")
        for name, entry in content.items()
    }
