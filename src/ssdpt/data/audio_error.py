"""Why a recording cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence

Problem = Literal[
    "missing",
    "unreadable",
    "cut short",
    "empty",
    "not numbers",
    "silent",
    "wrong unit",
    "times out of order",
    "refused",
]


class AudioError(SsdptError):
    """A recording that cannot be used; `problem` is the kind of it, for those who count."""

    def __init__(self, path: Path, problem: Problem, sentence: str) -> None:
        super().__init__(Sentence("common.of", name=path, what=sentence))
        self.problem = problem
