"""The contract of a fuzz target: one reader of foreign input, fed with any bytes."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).with_name("corpus")
Seeds = Iterator[tuple[str, bytes]]  # names and content

# What tests share, and those of the server.
sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "server")]


class FuzzTarget(ABC):
    """Reads input as the product does. What may happen is in `fuzz_oracle`.

    The module `fuzz_targets/NAME.py` has one class called `Target`; its seeds are in `corpus/NAME`.
    """

    share: ClassVar[int]  # of the runs of a campaign, relative to the other targets
    longest: ClassVar[int] = 4096  # bytes of an input
    words: ClassVar[tuple[bytes, ...]] = ()  # that mutation puts into inputs
    document: ClassVar[bool] = False  # inputs are JSON or YAML, and mutation keeps them readable
    cpu_seconds: ClassVar[float] = 2.0  # that one input may take
    memory_mb: ClassVar[int] = 256  # that one input may take

    def __init__(self, folder: Path) -> None:
        """`folder` is empty, and the only one that may be written to."""
        self.folder = folder
        self._written = 0

    @abstractmethod
    def run(self, data: bytes) -> None:
        """Read `data`. SsdptError says that it cannot be used; nothing else may be raised."""

    def write(self, name: str, data: bytes) -> Path:
        """A file in the folder of the target; its time differs from that of all before it.

        Readers keep what they have read by the time of a file.
        """
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self._written += 1
        os.utime(path, ns=(self._written * 10**9, self._written * 10**9))
        return path

    def empty(self, name: str) -> Path:
        """An empty folder of this name in the folder of the target."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path


def target_names() -> list[str]:
    """The names of all targets."""
    package = importlib.import_module("fuzz_targets")
    return sorted(item.name for item in pkgutil.iter_modules(package.__path__))


def target_class(name: str) -> type[FuzzTarget]:
    """The target of a name; imports what it reads with."""
    found: type[FuzzTarget] = importlib.import_module(f"fuzz_targets.{name}").Target
    return found


def seeds(name: str) -> list[Path]:
    """The committed inputs of a target, in order."""
    return sorted((CORPUS / name).iterdir())
