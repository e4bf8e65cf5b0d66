"""Plugins found by name: classes of a package of ours, and those that other packages offer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module, metadata, util
from pkgutil import iter_modules
from typing import Any

from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence


@dataclass(frozen=True, slots=True)
class _Offer:
    """One class that can be loaded under a name."""

    module: str
    attribute: str
    package: str  # the distribution that offers it

    def load(self) -> Any:
        value: Any = import_module(self.module)
        for part in self.attribute.split("."):
            value = getattr(value, part)
        return value


class PluginRegistry:
    """Names of plugins without importing them, and the plugins themselves when they are used.

    A built-in plugin is a module of `package`. The file `folder_source.py` offers the class
    `FolderSource` under the name `folder`, where `suffix` is `_source`. A plugin of another package
    is an entry point of `group`:

        [project.entry-points."ssdpt.sources"]
        folder = "my_package.my_module:FolderSource"
    """

    def __init__(self, noun: str, *, package: str, suffix: str, group: str) -> None:
        """`noun` is what a plugin is called in messages, for example `source`."""
        self.noun = noun
        self._package = package
        self._suffix = suffix
        self._group = group
        self._found: list[tuple[str, _Offer]] | None = None

    def names(self) -> list[str]:
        """All names in alphabetical order; nothing is imported."""
        return sorted({name for name, _ in self._offers})

    def load(self, name: str) -> Any:
        """The class called `name`; SsdptError where there is none, or where it cannot be used."""
        offers = [offer for offered, offer in self._offers if offered == name]
        if not offers:
            raise SsdptError(Sentence("settings.notValid", value=name, choices=self.names()))
        if len(offers) > 1:
            packages = " and ".join(sorted({offer.package for offer in offers}))
            raise SsdptError(
                Sentence("settings.twoKinds", noun=self.noun, name=name, packages=packages)
            )
        (offer,) = offers
        try:
            return offer.load()
        except Exception as error:  # a foreign package may fail in any way
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise SsdptError(
                Sentence(
                    "settings.notImported",
                    noun=self.noun,
                    name=name,
                    package=offer.package,
                    reason=reason,
                )
            ) from error

    def refresh(self) -> None:
        """Look again when next asked: a package was installed or removed while we run."""
        self._found = None

    @property
    def _offers(self) -> list[tuple[str, _Offer]]:
        if self._found is None:
            self._found = [*self._built_in(), *self._of_other_packages()]
        return self._found

    def _built_in(self) -> Iterator[tuple[str, _Offer]]:
        spec = util.find_spec(self._package)  # imports only the packages above it
        assert spec is not None
        for module in iter_modules(spec.submodule_search_locations):
            if module.name.endswith(self._suffix):
                attribute = "".join(part.capitalize() for part in module.name.split("_"))
                offer = _Offer(f"{self._package}.{module.name}", attribute, "ssdpt")
                yield module.name.removesuffix(self._suffix).replace("_", "-"), offer

    def _of_other_packages(self) -> Iterator[tuple[str, _Offer]]:
        for point in metadata.entry_points(group=self._group):
            package = point.dist.name if point.dist else point.module.partition(".")[0]
            yield point.name, _Offer(point.module, point.attr, package)
